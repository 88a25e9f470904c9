package ledger

import (
	"strconv"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/outcome"
	"github.com/carillon-scheduler/carillon/job/reason"
	"github.com/carillon-scheduler/carillon/job/reason/finding"
	"github.com/carillon-scheduler/carillon/job/runlog"
)

// tallied says why a run in pieces had to end otherwise than status; "" if it had not. The newest version held when it
// ended, which may be any from that of the run on.
func (j *judge) tallied(r *runlog.Run, status job.Status) (why string) {
	i := j.index(r.Version)
	if i < 0 {
		return ""
	}
	for _, p := range j.plans[i:] {
		if why = tallied(r, status, p.SucceedsIf); why == "" {
			return ""
		}
	}
	return why
}

// tallied says why a run in pieces had to end otherwise than status by what its reason says of them; "" if it had not. share
// of them have to succeed.
func tallied(r *runlog.Run, status job.Status, share job.Share) string {
	said := reason.Read(string(r.Reason))
	good, err := strconv.Atoi(said.Params["succeeded"])
	if r.Total == 0 || said.Code != reason.PiecesSucceeded.Code || err != nil {
		return ""
	}
	return sharedOut(good, r.Total, status, share)
}

// sharedOut is tallied for a run of whose pieces so many succeeded.
func sharedOut(good, total int, status job.Status, share job.Share) string {
	enough := good == total
	if share > 0 {
		enough = good*100 >= int(share)*total
	}
	switch {
	case status == job.StatusSucceeded && !enough:
		return finding.PiecesTooFew.With(good, total, share)
	case endedBadly(status) && enough:
		return finding.PiecesEnough.With(good, total, share)
	}
	return ""
}

// inPieces judges a step that ran in pieces.
func (j *graphJudge) inPieces(s *job.Step, e outcome.Step) outcome.Step {
	r := j.row(s.Name)
	why := tallied(r, e.Status, s.SucceedsIf)
	if why == "" && r.Total > 0 && e.Status == job.StatusSucceeded && j.settled {
		if good, err := j.good(r); err == nil { // else they have been deleted since
			why = sharedOut(good, r.Total, e.Status, s.SucceedsIf)
		}
	}
	if why != "" {
		return contradictStep(e, why)
	}
	return e
}
