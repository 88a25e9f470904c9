package runs

import (
	"context"

	"golang.org/x/sync/errgroup"

	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
)

// hitReads is how many logs are read at a time for the lines around hits.
const hitReads = 4

// Hits returns lines that a search for text has found as hits, with n lines before
// and after each.
func Hits(ctx context.Context, store logstore.Store, text string, lines []runlog.Line, n int) ([]runlog.Hit, error) {
	terms := logstore.ParseTerms(text)
	hits := make([]runlog.Hit, len(lines))
	for i := range lines {
		hits[i] = runlog.Hit{Line: lines[i], Highlights: terms.Find(lines[i].Text)}
	}
	if n == 0 {
		return hits, nil
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(hitReads)
	for begin := 0; begin < len(hits); {
		end := begin + 1
		for end < len(hits) && near(&hits[end].Line, &hits[end-1].Line, n) {
			end++
		}
		part := hits[begin:end]
		g.Go(func() error { return surround(ctx, store, part, n) })
		begin = end
	}
	return hits, g.Wait()
}

// near reports whether the lines around two hits are best read at once. Hits come last
// line first.
func near(a, b *runlog.Line, n int) bool {
	return a.RunID == b.RunID && a.Job == b.Job && a.Attempt == b.Attempt && a.Piece == b.Piece && b.Seq-a.Seq <= int64(2*n)
}

// surround reads the lines around hits of one log, which are near each other.
func surround(ctx context.Context, store logstore.Store, hits []runlog.Hit, n int) error {
	last, first := &hits[0].Line, &hits[len(hits)-1].Line
	from, to := max(first.Seq-int64(n), 1), last.Seq+int64(n)
	lines, err := store.Lines(ctx, logstore.LineFilter{
		RunID: first.RunID, Job: first.Job, Attempt: first.Attempt, Piece: first.Piece, FromSeq: from, ToSeq: to, Limit: min(int(to-from)+1, logstore.MaxLines),
	})
	if err != nil {
		return err
	}
	for i := range hits {
		at := hits[i].Seq
		for _, l := range lines {
			switch {
			case l.Seq >= at-int64(n) && l.Seq < at:
				hits[i].Before = append(hits[i].Before, l)
			case l.Seq > at && l.Seq <= at+int64(n):
				hits[i].After = append(hits[i].After, l)
			}
		}
	}
	return nil
}
