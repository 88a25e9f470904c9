package shard

import "github.com/carillon-scheduler/carillon/job"

// newest returns the newest fire of a job's schedule that is due up to an instant, with the version it belongs to and
// why it was skipped, "" if it was not. ok is false if there is none among the versions that still matter.
func (fs *fires) newest(e *entry, upto int64) (fire job.Fire, version int32, excluded string, ok bool) {
	for i := len(e.plans) - 1; i >= 0; i-- {
		p := &e.plans[i]
		n := 1
		if p.Shift != "" {
			n = job.MaxShift * job.MaxShiftTimes // it lists instants at which it does not fire
		}
		list, _, _ := fs.find(nil, e.name.Group(), e.plans, i, p.From+p.Offset, upto, n)
		if len(list) > 0 {
			f := list[len(list)-1]
			return f.Fire, p.Version, f.excluded, true
		}
	}
	return job.Fire{}, 0, "", false
}
