package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"
)

// peer is a scheduler with its database.
type peer struct {
	name, settings string
	// measure starts what the peer needs in dir, does so many jobs, and stops everything.
	measure func(ctx context.Context, dir string, jobs int) (result, error)
}

// result is what doing the jobs took.
type result struct {
	jobs int
	took time.Duration
	cpu  time.Duration // of all processes, that of the database included
}

func (r result) rate() float64   { return float64(r.jobs) / r.took.Seconds() }
func (r result) micros() float64 { return r.cpu.Seconds() * 1e6 / float64(r.jobs) }

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

func run() error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	jobs := flag.Int("jobs", 20_000, "how many jobs")
	rounds := flag.Int("rounds", 3, "how many rounds; each scheduler runs once in each")
	carillon := flag.String("carillon", "carillon", "the program")
	conf := flag.String("nats-conf", "nats.conf", "Carillon's configuration of NATS")
	flag.Parse()
	return compare(ctx, peers(*carillon, *conf), *jobs, *rounds)
}

func peers(carillon, conf string) []peer {
	return []peer{
		{"Carillon, NATS in its process", "sync_interval 2m, the default", ofCarillon(carillon, conf, "")},
		{"the same", "sync_interval always", ofCarillon(carillon, conf, "always")},
		{"River on PostgreSQL", "synchronous_commit on, the default", ofRiver("on")},
		{"the same", "synchronous_commit off", ofRiver("off")},
		{"asynq on Redis", "appendfsync everysec", ofAsynq("everysec")},
		{"the same", "appendfsync always", ofAsynq("always")},
	}
}

// compare measures all peers in turns, and prints the median of each.
func compare(ctx context.Context, peers []peer, jobs, rounds int) error {
	if jobs < 1 || rounds < 1 {
		return errors.New("-jobs and -rounds must be at least 1")
	}
	results := make([][]result, len(peers))
	for round := range rounds {
		for i, p := range peers {
			r, err := measure(ctx, p, jobs)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", p.name, p.settings, err)
			}
			fmt.Fprintf(os.Stderr, "round %d: %s, %s: %.0f/s, %.0f us\n", round+1, p.name, p.settings, r.rate(), r.micros())
			results[i] = append(results[i], r)
		}
	}
	fmt.Println("| scheduler | durability | jobs per second | CPU per job, all processes |")
	fmt.Println("|---|---|---|---|")
	for i, p := range peers {
		rate, micros := median(results[i], result.rate), median(results[i], result.micros)
		fmt.Printf("| %s | %s | %.0f | %.0f us |\n", p.name, p.settings, rate, micros)
	}
	return nil
}

// measure measures a peer in a directory of its own.
func measure(ctx context.Context, p peer, jobs int) (_ result, err error) {
	dir, err := os.MkdirTemp("", "carillon-compare-")
	if err != nil {
		return result{}, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	return p.measure(ctx, dir, jobs)
}

func median(results []result, of func(result) float64) float64 {
	values := make([]float64, len(results))
	for i, r := range results {
		values[i] = of(r)
	}
	slices.Sort(values)
	return values[len(values)/2]
}
