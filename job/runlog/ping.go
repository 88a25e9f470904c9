package runlog

import (
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/job/clip"
	"github.com/carillon-scheduler/carillon/job/reason"
)

// Ping is what a ping told of a run that is done elsewhere, with instants by the clocks of Carillon.
type Ping struct {
	ID   string `json:"id"`             // of the ping
	Host string `json:"host,omitempty"` // where the run was done, as the ping said
	By   string `json:"by,omitempty"`   // the token that sent it, or the user
	// StartedAt is zero if it is not known, FinishedAt while the run has not ended.
	StartedAt  time.Time `json:"started_at,omitzero"`
	FinishedAt time.Time `json:"finished_at,omitzero"`
	ExitCode   *int      `json:"exit_code,omitempty"`
	Message    string    `json:"message,omitempty"`
	// Output is what the run printed, and OutputCut how many bytes of it were left out.
	Output    string `json:"output,omitempty"`
	OutputCut int    `json:"output_cut,omitempty"`
}

// Said returns the message of the ping, with the exit code if that is not 0.
func (p *Ping) Said() string {
	switch {
	case p.ExitCode == nil || *p.ExitCode == 0:
		return p.Message
	case p.Message != "":
		return reason.ExitCodeSaid.With(*p.ExitCode, p.Message)
	}
	if signal, ok := signals[*p.ExitCode-signalBase]; ok {
		return reason.KilledBySignal.With(signal)
	}
	return reason.ExitCode.With(*p.ExitCode)
}

// By the convention of shells, exit code 128 + n says that signal n has ended a program. These are the usual ones.
const signalBase = 128

var signals = map[int]string{1: "hangup", 2: "interrupt", 3: "quit", 6: "aborted", 9: "killed", 11: "segmentation fault", 13: "broken pipe", 15: "terminated"}

// HostPrefix begins the instance of a run that is done elsewhere. No executor has such a name: theirs are slugs.
const HostPrefix = "host:"

// HostInstance returns [Run.Instance] of a run that a ping from a host reported. The host may be "", which is unknown.
func HostInstance(host string) string {
	return HostPrefix + clip.Text(host, MaxWord-len(HostPrefix)-len("…"))
}

// AnyHost stands in a filter of instances for all hosts: it selects the runs that pings reported.
const AnyHost = HostPrefix + "*"

// IsHost reports whether an instance is a host that pings came from: see [HostInstance].
func IsHost(instance string) bool { return strings.HasPrefix(instance, HostPrefix) }
