package fleet

import (
	"maps"
	"slices"
	"time"

	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/reason"
)

// Heartbeats of instances: how often each writes its entry in INST, how long one
// without them counts as live, and for how long it is shown as lost after that.
const (
	HeartbeatEvery = 5 * time.Second
	InstanceTTL    = 15 * time.Second
	InstanceShown  = 10 * time.Minute
)

// Protocol is the version of the protocol between scheduler and executors. Version 2
// added routed triggers and requests to one instance; who speaks version 1, which
// had no number, only pulls. Version 3 put a secret into the subjects of requests, and
// added tokens: what is said of an attempt without that of its trigger is refused.
const Protocol = 3

// MaxInstances bounds the instances of a group, those lost lately included. Servers refuse the
// executors of a group that has more.
const MaxInstances = 1000

// InstanceState says whether an instance takes work.
type InstanceState string

// The states of an instance. It reports the first three itself; the others follow from
// the age of its heartbeat.
const (
	InstanceOnline       InstanceState = "online"
	InstanceDraining     InstanceState = "draining"     // finishes what it has, takes no more, then leaves
	InstanceCordoned     InstanceState = "cordoned"     // takes no more, and stays
	InstanceLost         InstanceState = "lost"         // its heartbeat has ceased
	InstanceIncompatible InstanceState = "incompatible" // speaks a protocol that is too old for routed runs: it only pulls
)

// Instance is what an executor says of itself with each heartbeat, for all to see.
type Instance struct {
	Group     string        `json:"executor_group"`
	Instance  string        `json:"instance"`
	State     InstanceState `json:"state"`
	Kinds     []string      `json:"kinds"` // of tasks that it runs: handler, shell, command
	Handlers  []string      `json:"handlers,omitempty"`
	Slots     int           `json:"slots"`
	Running   int           `json:"running"`
	DrainBy   time.Time     `json:"drain_by,omitzero"` // of one that drains: when it ends at the latest; zero: when it has no runs
	Reason    reason.Text   `json:"reason,omitempty"`  // if something is wrong with it: what
	Labels    job.Labels    `json:"labels,omitempty"`
	Zone      string        `json:"zone,omitempty"` // the label zone, if it has one
	Load      *HostLoad     `json:"load,omitempty"`
	Protocol  int           `json:"protocol,omitempty"` // see [Protocol]
	Version   string        `json:"version"`            // of the program
	SDK       string        `json:"sdk"`                // such as carillon-go/0.1.0
	Host      string        `json:"host"`
	PID       int           `json:"pid"`
	StartedAt time.Time     `json:"started_at"`
	At        time.Time     `json:"at"`
	Refused   int           `json:"refused,omitempty"` // messages of it that servers have refused since it started
	Refusal   *Refusal      `json:"refusal,omitempty"` // the last of them
	// RefusedFor explains the refusal. Servers say it.
	RefusedFor *RefusedFor `json:"refused_for,omitempty"`
	// ClockOffset is how far its clock is ahead of NATS', as a server finds: see [Instance.JudgeClock].
	ClockOffset time.Duration `json:"-"`
	// Pack is how many triggers it takes in one message, as its heartbeat says; 0 or 1: each is its own.
	Pack int `json:"-"`
}

// LabelInstance is the label that each instance has without being given it: its name.
const LabelInstance = "instance"

// Suits reports whether the instance has all of these labels.
func (i *Instance) Suits(labels job.Labels) bool {
	for key, value := range labels {
		got, ok := i.Labels[key]
		if !ok && key == LabelInstance {
			got, ok = i.Instance, true
		}
		if !ok || got != value {
			return false
		}
	}
	return true
}

// HostLoad is how busy an instance's machine is, whoever uses it. Zero is unknown.
type HostLoad struct {
	CPUs        int     `json:"cpus,omitempty"`
	Load1       float64 `json:"load1"` // average number of processes that want a CPU, over a minute
	MemoryBytes uint64  `json:"memory_bytes,omitempty"`
	MemoryUsed  uint64  `json:"memory_used_bytes,omitempty"`
}

// Key returns the instance's key in INST.
func (i *Instance) Key() string { return i.Group + "." + i.Instance }

// Alive reports whether the heartbeat is fresh.
func (i *Instance) Alive() bool { return i.State != InstanceLost }

// Routable reports whether the instance takes runs that are routed to it.
func (i *Instance) Routable() bool { return i.State == InstanceOnline && i.Protocol >= Protocol }

// AnyHandler stands among the handlers of an instance that does not know the names of those it has:
// it is offered runs of all handlers.
const AnyHandler = "*"

// Can reports whether the instance is able to do a task.
func (i *Instance) Can(t *job.Task) bool {
	return slices.Contains(i.Kinds, t.Kind()) && (t.Handler == "" || slices.Contains(i.Handlers, t.Handler) || slices.Contains(i.Handlers, AnyHandler))
}

// SameUse reports whether two heartbeats of an instance make it fit for the same runs.
func (i *Instance) SameUse(as *Instance) bool {
	return i.Instance == as.Instance && i.State == as.State && i.Protocol == as.Protocol && i.Pack == as.Pack &&
		maps.Equal(i.Labels, as.Labels) && slices.Equal(i.Kinds, as.Kinds) && slices.Equal(i.Handlers, as.Handlers)
}

// Judge sets the state of an instance whose heartbeat is that old.
func (i *Instance) Judge(age time.Duration) {
	switch {
	case age > InstanceTTL:
		i.State = InstanceLost
	case i.State == InstanceOnline && i.Protocol < Protocol:
		i.State = InstanceIncompatible
	}
}

// MaxClockOffset is how far the clock of an executor's machine may be from that of NATS before people
// are told. A heartbeat may be on its way for a part of it.
const MaxClockOffset = 10 * time.Second

// JudgeClock gives the instance the time at which NATS stored its heartbeat, in the place of the one
// that its own clock says. If these are further apart than [MaxClockOffset], it notes by how much, and
// says so in its reason.
func (i *Instance) JudgeClock(stored time.Time) {
	off := i.At.Sub(stored).Round(time.Second)
	if i.At.IsZero() || off.Abs() <= MaxClockOffset {
		off = 0
	}
	i.At, i.ClockOffset = stored, off
	switch {
	case off > 0:
		i.Reason = reason.Text(reason.InstanceClockAhead.With(job.Duration(off)))
	case off < 0:
		i.Reason = reason.Text(reason.InstanceClockBehind.With(job.Duration(-off)))
	}
}
