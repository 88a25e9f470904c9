// Command benchrecord measures a build of Carillon, keeps the figures in a file, and names those that
// have become worse.
//
//	benchrecord [-carillon PROGRAM] [-benchtool PROGRAM] [-file FILE] [-rounds 3]
//
// It runs each bench of its list so many times, in turns, and takes the medians. The file has a line of
// JSON for each build that was measured. A figure is worse if it exceeds the median of the last five
// records of the same processor by more than 10 %. That is printed, and is no error: a busy machine
// makes figures worse, too.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/shirou/gopsutil/v4/cpu"
)

// bench is one measurement, and those of its results that are kept. The lower each of them the better.
type bench struct {
	tool bool // it is one of internal/benchtool
	args []string
	keep []string
}

var benches = []bench{
	{false, []string{"fire", "--jobs", "150000", "--for", "10s"}, []string{"cpu_us_each"}},
	{false, []string{"fire", "--jobs", "20000", "--rate", "1000", "--for", "10s"}, []string{"p99_ms"}},
	{true, []string{"herd"}, []string{"cpu_us_each", "max_ms"}},
	{false, []string{"run", "--jobs", "150000"}, []string{"cpu_us_each", "rss_mb"}},
	{false, []string{"run", "--jobs", "20000", "--instances", "100", "--route", "consistent_hash"}, []string{"cpu_us_each"}},
	{true, []string{"takeover", "--jobs", "100000"}, []string{"seconds", "rss_mb"}},
}

// record is a line of the file.
type record struct {
	At        time.Time          `json:"at"`
	Commit    string             `json:"commit"` // of the work tree that this runs in
	Processor string             `json:"processor"`
	Figures   map[string]float64 `json:"figures"` // medians, by bench and name
}

func main() {
	program := flag.String("carillon", "carillon", "the program to measure")
	tool := flag.String("benchtool", "benchtool", "the program of internal/benchtool, built from the same sources")
	file := flag.String("file", ".cache/bench.jsonl", "where the figures are kept")
	rounds := flag.Int("rounds", 3, "how often each bench is run")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM) //nolint:forbidigo // main makes the root
	err := run(ctx, *program, *tool, *file, *rounds)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "benchrecord:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, program, tool, file string, rounds int) error {
	if rounds < 1 {
		return fmt.Errorf("-rounds must be at least 1, not %d", rounds)
	}
	before, err := read(file)
	if err != nil {
		return err
	}
	now := record{At: time.Now().UTC()}
	if now.Processor, err = processor(ctx); err != nil {
		return err
	}
	commit, err := output(ctx, "git", "describe", "--always", "--dirty")
	if err != nil {
		return err
	}
	now.Commit = strings.TrimSpace(string(commit))
	all := map[string][]float64{}
	for range rounds {
		for _, b := range benches {
			command := []string{program, "bench"}
			if b.tool {
				command = []string{tool}
			}
			if err := measure(ctx, command, b, all); err != nil {
				return err
			}
		}
	}
	now.Figures = medians(all)
	if err := save(file, append(before, now)); err != nil {
		return err
	}
	report(os.Stdout, now, before)
	return nil
}

// processor names what the figures depend on most.
func processor(ctx context.Context) (string, error) {
	infos, err := cpu.InfoWithContext(ctx)
	if err != nil {
		return "", err
	}
	if len(infos) == 0 {
		return "", errors.New("the system names no processor")
	}
	cores, err := cpu.CountsWithContext(ctx, true)
	return fmt.Sprintf("%d × %s", cores, infos[0].ModelName), err
}

// measure runs a bench, and adds what is kept of it to the figures.
func measure(ctx context.Context, command []string, b bench, all map[string][]float64) error {
	text, err := output(ctx, command[0], slices.Concat(command[1:], b.args, []string{"-o", "json"})...)
	if err != nil {
		return err
	}
	var result map[string]any
	if err := json.Unmarshal(text, &result); err != nil {
		return fmt.Errorf("bench %s: %w", strings.Join(b.args, " "), err)
	}
	for _, name := range []string{"lost", "doubled"} {
		if n, ok := result[name].(float64); !ok || n != 0 {
			return fmt.Errorf("bench %s: %s is %v, and must be 0", strings.Join(b.args, " "), name, result[name])
		}
	}
	for _, name := range b.keep {
		v, ok := result[name].(float64)
		if !ok {
			return fmt.Errorf("bench %s: it has no figure %s", strings.Join(b.args, " "), name)
		}
		key := strings.Join(b.args, " ") + ": " + name
		all[key] = append(all[key], v)
	}
	return nil
}

func output(ctx context.Context, program string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, program, args...) //nolint:gosec // the program to measure
	cmd.Stderr = os.Stderr
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", program, strings.Join(args, " "), err)
	}
	return text, nil
}

func medians(all map[string][]float64) map[string]float64 {
	middle := map[string]float64{}
	for name, values := range all {
		middle[name] = median(values)
	}
	return middle
}

// median returns the middle one of some values, the lower one of two.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[(len(sorted)-1)/2]
}

// read returns the records of a file; none if it is not there yet.
func read(file string) ([]record, error) {
	data, err := os.ReadFile(file) //nolint:gosec // what the caller names
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []record
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, len(data)+1)
	for n := 1; lines.Scan(); n++ {
		var r record
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", file, n, err)
		}
		all = append(all, r)
	}
	return all, lines.Err()
}

// save replaces a file by one with these records.
func save(file string, all []record) error {
	var text bytes.Buffer
	for _, r := range all {
		line, err := json.Marshal(r)
		if err != nil {
			return err
		}
		text.Write(append(line, '\n'))
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
		return err
	}
	if err := os.WriteFile(file+".new", text.Bytes(), 0o600); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}

const (
	recent = 5   // how many earlier records a figure is compared with
	worse  = 1.1 // how many times their median is worse
)

// report prints each figure beside the earlier ones, and marks those that are worse.
func report(w io.Writer, now record, before []record) {
	names := make([]string, 0, len(now.Figures))
	for name := range now.Figures {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		v := now.Figures[name]
		was, known := earlier(before, now.Processor, name)
		switch {
		case !known:
			_, _ = fmt.Fprintf(w, "      %s %.1f, the first of this processor\n", name, v)
		case v > was*worse:
			_, _ = fmt.Fprintf(w, "WORSE %s %.1f, %.2f times %.1f\n", name, v, v/was, was)
		default:
			_, _ = fmt.Fprintf(w, "      %s %.1f, %.2f times %.1f\n", name, v, v/was, was)
		}
	}
}

// earlier returns the median of a figure in the last records of a processor.
func earlier(all []record, processor, name string) (float64, bool) {
	var values []float64
	for _, r := range slices.Backward(all) {
		if v, ok := r.Figures[name]; ok && r.Processor == processor && len(values) < recent {
			values = append(values, v)
		}
	}
	if len(values) == 0 {
		return 0, false
	}
	return median(values), true
}
