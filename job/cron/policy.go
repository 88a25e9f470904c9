package cron

import (
	"strings"

	"github.com/carillon-scheduler/carillon/job/clip"
)

// Policy says what becomes of fires due in an hour that a moved clock skips or
// repeats. It is comparable; the zero value is [DefaultPolicy].
type Policy struct {
	gap   gap
	pass  pass
	vixie bool // Vixie cron's test of what follows elapsed time
}

// The policies with a name.
var (
	// DefaultPolicy lets jobs that fire in all 24 hours follow elapsed time, and all
	// others fire once for each time on the wall: "auto".
	DefaultPolicy = Policy{}
	// QuartzPolicy does as Quartz does: nothing for times that a gap skipped, and the
	// second pass of times that repeat, for all jobs: "quartz".
	QuartzPolicy = Policy{gap: gapSkip, pass: lastPass}
	// VixiePolicy is DefaultPolicy with Vixie cron's test: jobs whose minute or hour
	// field begins with * follow elapsed time: "vixie".
	VixiePolicy = Policy{vixie: true}
)

// gap is what becomes of fires in skipped times.
type gap uint8

const (
	gapAuto gap = iota // gapFire, or gapSkip for what follows elapsed time
	gapSkip            // they are dropped
	gapFire            // they become one fire when the gap ends
)

// pass is the pass of repeated times that fires.
type pass uint8

const (
	passAuto pass = iota // firstPass, or bothPasses for what follows elapsed time
	firstPass
	lastPass
	bothPasses
)

// settings are the parts of which a policy's text is made.
var settings = []struct {
	text   string
	policy Policy
}{
	{"gap=skip", Policy{gap: gapSkip}},
	{"gap=fire", Policy{gap: gapFire}},
	{"overlap=first", Policy{pass: firstPass}},
	{"overlap=last", Policy{pass: lastPass}},
	{"overlap=both", Policy{pass: bothPasses}},
}

// ParsePolicy reads "auto" (or ""), "quartz", "vixie", or settings such as
// "gap=fire,overlap=last": gap is skip (nothing fires for a skipped time) or fire
// (once, when the gap ends), overlap is first, last or both (passes). A setting left
// out is as in "auto". The error is a *[ParseError].
func ParsePolicy(text string) (Policy, error) {
	switch text {
	case "", "auto":
		return DefaultPolicy, nil
	case "quartz":
		return QuartzPolicy, nil
	case "vixie":
		return VixiePolicy, nil
	}
	var p Policy
	for part := range strings.SplitSeq(text, ",") {
		known := false
		for _, s := range settings {
			if s.text != part {
				continue
			}
			if p.gap != gapAuto && s.policy.gap != gapAuto || p.pass != passAuto && s.policy.pass != passAuto {
				return Policy{}, &ParseError{"DST policy", clip.Text(text, maxQuoted), "must give each setting once"}
			}
			known, p.gap, p.pass = true, max(p.gap, s.policy.gap), max(p.pass, s.policy.pass)
		}
		if !known {
			return Policy{}, &ParseError{
				"DST policy", clip.Text(part, maxQuoted),
				"must be auto, quartz, vixie, or of the form gap=skip|fire,overlap=first|last|both",
			}
		}
	}
	return p, nil
}

// String returns the text from which [ParsePolicy] makes p.
func (p Policy) String() string {
	switch p {
	case DefaultPolicy:
		return "auto"
	case QuartzPolicy:
		return "quartz"
	case VixiePolicy:
		return "vixie"
	}
	var parts []string
	for _, s := range settings {
		if s.policy.gap != gapAuto && s.policy.gap == p.gap || s.policy.pass != passAuto && s.policy.pass == p.pass {
			parts = append(parts, s.text)
		}
	}
	return strings.Join(parts, ",")
}

// rules is a policy applied to one pattern: nothing is left to decide.
type rules struct {
	fireAfterGap bool
	pass         pass // never passAuto
}

// rules decides what p leaves open by what e is: elapsed time or times on the wall.
func (p Policy) rules(e Pattern) rules {
	elapsed := e.elapsed(p)
	r := rules{fireAfterGap: p.gap == gapFire || p.gap == gapAuto && !elapsed, pass: p.pass}
	if r.pass == passAuto {
		r.pass = firstPass
		if elapsed {
			r.pass = bothPasses
		}
	}
	return r
}

func (e *Expr) elapsed(p Policy) bool {
	if p.vixie {
		return e.flags&starClock != 0
	}
	return e.flags&everyHour != 0
}
