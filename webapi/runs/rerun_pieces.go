package runs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/reason/refusal"
	"github.com/carillon-scheduler/carillon/job/runlog"
	"github.com/carillon-scheduler/carillon/logstore"
	"github.com/carillon-scheduler/carillon/webapi/problem"
)

// failedPieces returns the pieces for a retry of a run. A piece waits if it has
// succeeded neither in the run nor in the runs that this one retries.
func (rs *Runs) failedPieces(ctx context.Context, attempts []runlog.Run) (*bus.Pieces, error) {
	of := &attempts[0]
	if of.Total == 0 {
		return nil, &job.InvalidError{Field: "pieces", Reason: refusal.PiecesAll.String()}
	}
	given, err := rs.overrides(ctx, of)
	if err != nil {
		return nil, err
	}
	var states []byte
	var instances []string
	if err := settle(ctx, of, func() (bool, error) {
		states, instances, err = rs.pieceStates(ctx, of, given.States)
		return tellsAllGood(of, states), err
	}); err != nil {
		return nil, err
	}
	p := &bus.Pieces{States: string(states)}
	if !strings.Contains(p.States, string(bus.PieceWaiting)) {
		return nil, fmt.Errorf("%w: %s", job.ErrConflict, refusal.AllPiecesSucceeded.With(of.RunID))
	}
	entry, err := rs.versionOf(ctx, of, true)
	if err != nil {
		return nil, err
	}
	switch {
	case entry.Route == job.RouteBroadcast:
		p.Instances = instances
	case entry.Map != nil && entry.Map.Split:
		if p.Items, err = rs.itemsOf(ctx, attempts); err != nil {
			return nil, err
		}
		if len(p.Items) != of.Total {
			return nil, fmt.Errorf("%w: what run %s was split into is not kept any more; retry all of it", job.ErrConflict, of.RunID)
		}
	}
	return p, nil
}

// pieceStates returns the states in which a retry of a run in pieces begins, and which instances did the pieces.
// before are the states in which the run itself began.
func (rs *Runs) pieceStates(ctx context.Context, of *runlog.Run, before string) (states []byte, instances []string, err error) {
	states = []byte(strings.Repeat(string(bus.PieceWaiting), of.Total))
	copy(states, before)
	instances = make([]string, of.Total)
	for from, more := runlog.Whole, true; more; more = from != runlog.Whole {
		page, err := rs.store.Pieces(ctx, logstore.PieceFilter{RunID: of.RunID, From: from, Limit: logstore.MaxRuns})
		if err != nil {
			return nil, nil, problem.StoreAway(err)
		}
		for _, piece := range page.Pieces {
			i := piece.Piece.Index()
			if i >= of.Total {
				continue
			}
			if piece.Status == job.StatusSucceeded {
				states[i] = bus.PieceSucceeded
			}
			instances[i] = piece.Instance
		}
		from = page.Next
	}
	return states, instances, nil
}

// tellsAllGood reports whether states tell of as many pieces that succeeded as the end of the run does.
func tellsAllGood(of *runlog.Run, states []byte) bool {
	said, good := reason.Read(string(of.Reason)), 0
	switch {
	case said.Code == reason.PiecesSucceeded.Code:
		good, _ = strconv.Atoi(said.Params["succeeded"])
	case of.RunStatus() == job.StatusSucceeded:
		good = of.Total
	}
	return bytes.Count(states, []byte{bus.PieceSucceeded}) >= good
}

// maxRetries bounds the length of a chain of retries that is searched.
const maxRetries = 100

// itemsOf returns what the splitting attempt of a run has listed, or of the run that this
// one does again.
func (rs *Runs) itemsOf(ctx context.Context, attempts []runlog.Run) (items []json.RawMessage, err error) {
	for range maxRetries {
		for _, a := range attempts {
			if a.Total == 0 && a.Status == job.StatusSucceeded && json.Unmarshal(a.Result, &items) == nil {
				return items, nil
			}
		}
		newest := &attempts[0]
		if newest.Cause != job.CauseRerun {
			break
		}
		if attempts, err = rs.store.Run(ctx, newest.Parent); errors.Is(err, job.ErrNotFound) {
			break
		} else if err != nil {
			return nil, problem.StoreAway(err)
		}
	}
	return nil, nil
}
