package ingest

import (
	"slices"
	"testing"

	"github.com/carillon-scheduler/carillon/cluster/bustest"
	"github.com/carillon-scheduler/carillon/cluster/clustertest"
)

func TestRecordsThatComeAgainAreWrittenApartFromFreshOnes(t *testing.T) {
	in, err := New(clustertest.Setup(t, bustest.NewBroker(t), "test", 1), nil, Config{Node: "a"})
	if err != nil {
		t.Fatal(err)
	}
	f := &feed{Ingest: in, stream: "TRIG", queue: true, seen: newSeenRuns(seenMax), holdLines: holdLines, decode: func(b *batch, _ *message) { b.pressing = true }}
	of := func(seq uint64, redelivered bool) *message { return &message{seq: seq, redelivered: redelivered} }
	var portions [][]uint64
	err = f.gatherQueue(t.Context(), []*message{of(7, true), of(900, false), of(8, true), of(901, false)}, func(p *portion) error {
		var seqs []uint64
		for i, m := range p.messages {
			if seqs = append(seqs, m.seq); p.acks[i] != m {
				t.Errorf("message %d is not acknowledged with its portion", m.seq)
			}
		}
		portions = append(portions, seqs)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	// The range of a portion that held both would hold all that was written in between.
	if want := [][]uint64{{7, 8}, {900, 901}}; !slices.EqualFunc(portions, want, slices.Equal) {
		t.Errorf("portions %v, want %v", portions, want)
	}
}
