package job

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/carillon-scheduler/carillon/job/clip"
)

// MaxPieces is in how many pieces a run may be done.
const MaxPieces = 10_000

// Map has a run done in several pieces, spread over the group: a fixed number of them,
// or one for each element of a list. That is returned by an attempt of the same task, or, in a
// workflow, was by an earlier step.
type Map struct {
	// Pieces is how many there are.
	Pieces int `json:"pieces,omitempty"`
	// Split has the run begin with a splitting attempt, whose result is a JSON list. Each
	// element of it is the item of one piece.
	Split bool `json:"split,omitempty"`
	// Over names a list, with one piece for each element of it, which is its item: a parameter of the
	// run or a part of an earlier step's result, such as ${results.list.files}. It is for steps of
	// workflows. If the list is empty, there is nothing to do.
	Over string `json:"over,omitempty"`
	// AtOnce is how many pieces may be with the executors at once. Zero is no limit.
	AtOnce int `json:"at_once,omitempty"`
}

// UnmarshalJSON reads an object, strictly.
func (m *Map) UnmarshalJSON(data []byte) error {
	type plain Map
	return decodeWithin("map", data, (*plain)(m))
}

// InPieces reports whether the job's runs are done in pieces.
func (j *Job) InPieces() bool { return j.Route == RouteBroadcast || j.Map != nil }

// Share is how many of a run's pieces have to succeed for the run to: percent of
// them, rounded up. Zero is all. In JSON it is "all", or such as "80%".
type Share int

// UnmarshalJSON reads "all" or a percentage.
func (s *Share) UnmarshalJSON(data []byte) error {
	text := ""
	if bytes.HasPrefix(data, []byte(`"`)) {
		if err := json.Unmarshal(data, &text); err != nil {
			return fmt.Errorf("read share: %w", err)
		}
	} else {
		text = string(data)
	}
	if text == "all" {
		*s = 0
		return nil
	}
	number, percent := strings.CutSuffix(text, "%")
	n, err := strconv.Atoi(number)
	if !percent || err != nil || n < 1 || n > 100 {
		return Invalid("succeeds_if", `%q must be "all", or the share of pieces that have to succeed, from "1%%" to "100%%"`, clip.Text(text, maxQuoted))
	}
	*s = Share(n)
	if n == 100 {
		*s = 0
	}
	return nil
}

// MarshalJSON writes it as it is read.
func (s Share) MarshalJSON() ([]byte, error) { return []byte(`"` + s.String() + `"`), nil }

// String returns "all", or such as "80%".
func (s Share) String() string {
	if s == 0 {
		return "all"
	}
	return strconv.Itoa(int(s)) + "%"
}

// Of returns how many of that many pieces have to succeed.
func (s Share) Of(total int) int {
	if s == 0 {
		return total
	}
	return (total*int(s) + 99) / 100
}

func (j Job) validatePieces() []error {
	var errs []error
	if m := j.Map; m != nil {
		switch {
		case j.Route == RouteBroadcast:
			errs = append(errs, Invalid("map", "does not go with route broadcast, which makes a piece for each instance"))
		case m.Split && m.Pieces != 0:
			errs = append(errs, Invalid("map.pieces", "does not go with map.split, which finds the pieces"))
		case m.Over != "" && (m.Split || m.Pieces != 0):
			errs = append(errs, Invalid("map.over", "does not go with map.pieces or map.split: its list has the pieces"))
		case !m.Split && m.Over == "" && (m.Pieces < 1 || m.Pieces > MaxPieces):
			errs = append(errs, Invalid("map.pieces", "%d must be between 1 and %d, or map.split true", m.Pieces, MaxPieces))
		}
		if m.AtOnce < 0 || m.AtOnce > MaxPieces {
			errs = append(errs, Invalid("map.at_once", "%d must be between 0 (no limit) and %d", m.AtOnce, MaxPieces))
		}
	}
	if j.AtOnce < 0 || j.AtOnce > MaxPieces {
		errs = append(errs, Invalid("at_once", "%d must be between 0 (no limit) and %d", j.AtOnce, MaxPieces))
	} else if j.AtOnce > 0 && j.Route != RouteBroadcast && len(j.Steps) == 0 {
		errs = append(errs, Invalid("at_once", "goes with steps or with route broadcast; in a map it is map.at_once"))
	}
	if j.SucceedsIf < 0 || j.SucceedsIf > 100 {
		errs = append(errs, Invalid("succeeds_if", `must be "all", or from "1%%" to "100%%"`))
	}
	if j.SucceedsIf != 0 && !j.InPieces() {
		errs = append(errs, Invalid("succeeds_if", "is for what is done in pieces: with route broadcast, or map"))
	}
	return errs
}
