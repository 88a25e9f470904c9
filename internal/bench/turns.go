package bench

import "context"

// measurement is one of several that are taken in turns.
type measurement func(context.Context) (*benchResult, error)

// inTurns takes measurements so many times each, in turns: whatever else the machine does meets all of them. Which is
// the first changes with each turn. It returns the means of each.
func inTurns(ctx context.Context, turns int, all ...measurement) ([]*benchResult, error) {
	means := make([]*benchResult, len(all))
	for i := range means {
		means[i] = &benchResult{}
	}
	for turn := range turns {
		for k := range all {
			i := (turn + k) % len(all)
			r, err := all[i](ctx)
			if err != nil {
				return nil, err
			}
			means[i].add(r, turns)
		}
	}
	return means, nil
}

// add adds a result of so many turns to their means, and to the sums of what is counted.
func (r *benchResult) add(one *benchResult, turns int) {
	part := func(mean *float64, of float64) { *mean += of / float64(turns) }
	part(&r.Rate, one.Rate)
	part(&r.CPUMicros, one.CPUMicros)
	part(&r.P50, one.P50)
	part(&r.P99, one.P99)
	part(&r.Seconds, one.Seconds)
	part(&r.HeapMB, one.HeapMB)
	r.Max, r.Jobs = max(r.Max, one.Max), one.Jobs
	r.Count, r.Lost, r.Doubled = r.Count+one.Count, r.Lost+one.Lost, r.Doubled+one.Doubled
}

// beside sets what r is compared with, and how many times as much it is.
func (r *benchResult) beside(other *benchResult) *benchResult {
	r.RawRate, r.RawMicros, r.RawSeconds, r.RawHeapMB = other.Rate, other.CPUMicros, other.Seconds, other.HeapMB
	r.Times = map[string]float64{}
	r.times("cpu", r.CPUMicros, other.CPUMicros)
	r.times("seconds", r.Seconds, other.Seconds)
	r.times("heap", r.HeapMB, other.HeapMB)
	r.besideLateness(other)
	r.Lost, r.Doubled = r.Lost+other.Lost, r.Doubled+other.Doubled
	return r
}

// besideLateness is beside for lateness alone.
func (r *benchResult) besideLateness(other *benchResult) {
	r.RawP50, r.RawP99, r.RawMax = other.P50, other.P99, other.Max
	r.times("p50", r.P50, other.P50)
	r.times("p99", r.P99, other.P99)
}

func (r *benchResult) times(name string, own, other float64) {
	if own > 0 && other > 0 {
		r.Times[name] = own / other
	}
}
