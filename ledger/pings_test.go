package ledger_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/outcome"
	"github.com/carillon-scheduler/carillon/job/reason/finding"
	"github.com/carillon-scheduler/carillon/journal"
	"github.com/carillon-scheduler/carillon/ledger"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/logstore/ingest"
)

// reports puts a ping of the backup that something was so age ago.
func (b *beat) reports(kind bus.PingKind, age time.Duration, change ...func(*bus.Ping)) {
	b.Helper()
	b.pings++
	p := &bus.Ping{ID: fmt.Sprintf("%016x", b.pings), Job: backup, Kind: kind, Age: job.Duration(age), Host: "web1"}
	for _, f := range change {
		f(p)
	}
	b.check(cluster.PingsOf(b.conn).Put(b.Context(), p, ""))
}

func failed(p *bus.Ping) { p.Failed, p.Message, p.Output = true, "disk full", "copying\nno space left" }

// TestTheLedgerAccountsForWhatPingsReport has a job's runs be done elsewhere, well and badly, late and never. Then the
// record of the end of one is deleted before the history has read it.
func TestTheLedgerAccountsForWhatPingsReport(t *testing.T) {
	onPatrolOf(t, 16, func(b *beat) {
		b.watch()
		stop := b.node("first")
		shard := backup.Shard(16)
		until := func(minute int) { time.Sleep(time.Until(at(minute))) }

		until(11) // each fire has ten minutes
		b.reports(bus.PingStart, 30*time.Second)
		b.reports(bus.PingEnd, 0)
		until(21)
		b.reports(bus.PingEnd, 0, failed)
		until(25)                 // and nobody does the fire at 30
		b.reports(bus.PingEnd, 0) // somebody did it once more: the end of the fire at 20 stands
		until(41)
		b.reports(bus.PingEnd, 0)
		b.reports(bus.PingEnd, 9*time.Minute) // what was done at 12:32 is told now
		until(51)
		b.reports(bus.PingEnd, 0)
		time.Sleep(10 * time.Second)
		b.remove(b.conn.TrigOf(shard), bus.SubjectRecord(shard), func(m *jet.Stored) (ends bool) {
			r, err := journal.DecodeRecord(m.Header, m.Data)
			b.check(err)
			b.check(r.Each(func(d journal.Decided) { ends = ends || d.Status == job.StatusSucceeded && d.FireTime.Equal(at(50)) }))
			return ends
		})
		until(55)
		stop()
		in, err := ingest.New(b.conn, b.store, ingest.Config{Node: "second", Metrics: prometheus.NewRegistry()})
		b.check(err)
		b.runs("ingest", in.Run)
		time.Sleep(time.Minute)

		l := ledger.New(b.conn, b.store, logstore.DefaultRetention())
		page, err := l.Job(b.Context(), backup, ledger.JobRequest{From: at(-5), To: at(55)})
		b.check(err)
		var got []string
		for _, e := range slices.Backward(page.Items[:len(page.Items)-1]) { // without that of noon
			got = append(got, fmt.Sprintf("%s %s %s %s %s%s", e.FireTime.Format("15:04"), e.Outcome, e.Status, e.Host, e.Cause, e.Reason))
		}
		if d := cmp.Diff([]string{
			"12:10 reported succeeded web1 ",
			"12:20 reported failed web1 disk full",
			"12:30 missed missed web1 no ping came within 10m of it; a ping told too late that it succeeded 2m after the fire time",
			"12:40 reported succeeded web1 ",
			"12:50 discrepancy queued  " + finding.NoPingAwaited.String(),
		}, got); d != "" {
			b.Error(d)
		}
		if d := cmp.Diff(outcome.Tally{Fires: 6, Reported: 3, Missed: 2, Discrepancies: 1, Failed: 1}, page.Counts); d != "" {
			b.Error(d)
		}
		lines, err := b.store.Lines(b.Context(), logstore.LineFilter{RunID: job.FireRunID(backup, at(20).UnixMilli(), job.CauseSchedule), Attempt: 1})
		b.check(err)
		if len(lines) != 2 || lines[1].Text != "no space left" {
			b.Errorf("the log of the run at 12:20 is %+v", lines)
		}
	})
}
