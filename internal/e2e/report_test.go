//go:build unix

package e2e

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	natsserver "github.com/nats-io/nats-server/v2/server"

	"github.com/carillon-scheduler/carillon/internal/client"
)

// report is what others need to check the verdict of a test with faults by themselves: where it was run,
// what was done to the processes, every fire that was owed, every run, and what the ledger answered.
type report struct {
	Test     string    `json:"test"`
	Passed   bool      `json:"passed"`
	Begun    time.Time `json:"begun"`
	Faults   string    `json:"faults_for"`
	Seed     uint64    `json:"seed"`
	Versions struct {
		Carillon string `json:"carillon"`
		Go       string `json:"go"`
		NATS     string `json:"nats_server"`
	} `json:"versions"`
	Machine struct {
		System    string `json:"system"`
		Processor string `json:"processor"`
		Cores     int    `json:"cores"`
		Memory    string `json:"memory"`
		Load      string `json:"load"` // at the end, over 1, 5 and 15 minutes
	} `json:"machine"`
	Kinds  map[string]int      `json:"faults"`
	Owed   int                 `json:"fires_owed"`
	Runs   int                 `json:"runs"`
	Again  int                 `json:"runs_executed_again"`
	Ledger client.VerifiedPage `json:"-"`
}

// writeReport writes the report into the folder that CARILLON_CHAOS_REPORT names, or into one that goes with the test.
func (a *audit) writeReport(t *testing.T, x *chaos, begun time.Time, lasted time.Duration) {
	t.Helper()
	dir := os.Getenv("CARILLON_CHAOS_REPORT")
	if dir == "" {
		dir = t.TempDir()
	}
	dir = filepath.Join(dir, t.Name())
	r := &report{Test: t.Name(), Passed: !t.Failed(), Begun: begun.UTC(), Faults: lasted.String(), Seed: x.seed, Runs: len(a.runs), Ledger: a.ledger}
	r.describe()
	r.Kinds = map[string]int{}
	for _, f := range x.faults {
		target, _, _ := strings.Cut(f.target, "-")
		r.Kinds[f.kind+" "+target]++
	}
	for _, fires := range a.owed {
		r.Owed += len(fires)
	}
	for _, deliveries := range a.journal {
		if len(deliveries) > 1 {
			r.Again++
		}
	}
	err := os.MkdirAll(dir, 0o755)
	for _, write := range []func(string) error{
		func(dir string) error { return writeJSON(filepath.Join(dir, "report.json"), r) },
		func(dir string) error { return writeJSON(filepath.Join(dir, "ledger.json"), r.Ledger) },
		func(dir string) error { return os.WriteFile(filepath.Join(dir, "report.md"), []byte(r.text()), 0o644) },
		func(dir string) error { return writeFaults(filepath.Join(dir, "faults.csv"), x.faults) },
		func(dir string) error { return a.writeOwed(filepath.Join(dir, "owed.csv")) },
		func(dir string) error { return a.writeRuns(filepath.Join(dir, "runs.csv")) },
	} {
		if err == nil {
			err = write(dir)
		}
	}
	if err != nil {
		t.Errorf("the report: %v", err)
		return
	}
	t.Logf("the report is in %s", dir)
}

// describe fills in what was run, and where.
func (r *report) describe() {
	r.Versions.Carillon = output("git", "describe", "--always", "--dirty", "--abbrev=40")
	r.Versions.Go, r.Versions.NATS = runtime.Version(), natsserver.VERSION
	r.Machine.System = output("uname", "-srm")
	r.Machine.Cores = runtime.NumCPU()
	r.Machine.Processor = field("/proc/cpuinfo", "model name")
	r.Machine.Memory = field("/proc/meminfo", "MemTotal")
	r.Machine.Load = "unknown"
	if load, err := os.ReadFile("/proc/loadavg"); err == nil {
		r.Machine.Load = strings.Join(strings.Fields(string(load))[:3], " ")
	}
}

// text returns the report as a page of Markdown.
func (r *report) text() string {
	var b strings.Builder
	verdict := "No discrepancy."
	if !r.Passed {
		verdict = "**Failed:** the output of the test says by what."
	}
	total := &r.Ledger.Total
	fmt.Fprintf(&b, "# %s\n\n%s\n\n", r.Test, verdict)
	fmt.Fprintf(&b, "Carillon %s, %s, nats-server %s, on %s (%s, %d cores, %s, load %s). Begun %s, faults for %s, seed %d.\n\n", r.Versions.Carillon, r.Versions.Go, r.Versions.NATS,
		r.Machine.System, r.Machine.Processor, r.Machine.Cores, r.Machine.Memory, r.Machine.Load, r.Begun.Format(time.RFC3339), r.Faults, r.Seed)
	fmt.Fprintf(&b, "| fires | ran | ran late, by their misfire policy | skipped | missed | discrepancies | runs in all | executed again |\n|---|---|---|---|---|---|---|---|\n")
	fmt.Fprintf(&b, "| %d | %d | %d | %d | %d | %d | %d | %d |\n\n", total.Fires, total.Ran, total.CaughtUp, total.Skipped, total.Missed, total.Discrepancies, r.Runs, r.Again)
	fmt.Fprintf(&b, "%d of these fires follow from the schedules alone: `owed.csv` has them. The others also depend on when runs ended.\n\n", r.Owed)
	fmt.Fprintf(&b, "| fault | times |\n|---|---|\n")
	for _, kind := range slices.Sorted(maps.Keys(r.Kinds)) {
		fmt.Fprintf(&b, "| %s | %d |\n", kind, r.Kinds[kind])
	}
	return b.String()
}

// writeOwed writes each fire that the schedules owe, which the test computes by itself.
func (a *audit) writeOwed(path string) error {
	rows := [][]string{{"job", "fire_time"}}
	for _, name := range slices.Sorted(maps.Keys(a.owed)) {
		for _, at := range a.owed[name] {
			rows = append(rows, []string{string(name), stamp(at)})
		}
	}
	return writeCSV(path, rows)
}

// writeRuns writes each run of the history, with the deliveries that its executors wrote down.
func (a *audit) writeRuns(path string) error {
	rows := [][]string{{"run_id", "job", "cause", "fire_time", "status", "attempt", "delivery", "committed_at", "started_at", "finished_at", "reason", "executed"}}
	for i := range a.runs {
		r := &a.runs[i]
		deliveries := make([]string, len(a.journal[r.RunID]))
		for i, n := range a.journal[r.RunID] {
			deliveries[i] = strconv.Itoa(n)
		}
		rows = append(rows, []string{
			string(r.RunID), string(r.Job), fmt.Sprint(r.Cause), stamp(r.FireTime), fmt.Sprint(r.Status), strconv.Itoa(r.Attempt),
			strconv.Itoa(r.Delivery), stamp(r.CommittedAt), stamp(r.StartedAt), stamp(r.FinishedAt), fmt.Sprint(r.Reason), strings.Join(deliveries, " "),
		})
	}
	return writeCSV(path, rows)
}

func writeFaults(path string, faults []fault) error {
	rows := [][]string{{"at", "fault", "target", "seconds"}}
	for _, f := range faults {
		rows = append(rows, []string{stamp(f.at), f.kind, f.target, strconv.FormatFloat(f.lasted.Seconds(), 'f', 3, 64)})
	}
	return writeCSV(path, rows)
}

func writeCSV(path string, rows [][]string) error {
	var text bytes.Buffer
	if err := csv.NewWriter(&text).WriteAll(rows); err != nil {
		return err
	}
	return os.WriteFile(path, text.Bytes(), 0o644)
}

func writeJSON(path string, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}

// stamp is empty for an instant that never was.
func stamp(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format(time.RFC3339Nano)
}

// output is the first line that a command prints, or "unknown".
func output(name string, args ...string) string {
	text, err := exec.Command(name, args...).Output()
	if err != nil {
		return "unknown"
	}
	line, _, _ := strings.Cut(string(text), "\n")
	return line
}

// field is the value of the first line of a file that begins with a name and a colon, or "unknown".
func field(path, name string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return "unknown"
	}
	for line := range strings.Lines(string(text)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return "unknown"
}
