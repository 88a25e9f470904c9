package bus

import (
	"time"
)

// Heartbeats of instances: how often each writes its entry in INST, and how long
// an entry lasts without one.
const (
	HeartbeatEvery = 5 * time.Second
	InstanceTTL    = 15 * time.Second
)

// AckWait is how long a trigger that was delivered may go without a sign of life
// before JetStream gives it to another executor. Executors say "in progress" at a
// third of it.
const AckWait = 15 * time.Second

// InstanceState says whether an instance takes work.
type InstanceState string

// The states that an instance says of itself.
const (
	InstanceOnline   InstanceState = "online"
	InstanceDraining InstanceState = "draining" // finishes what it has and takes no more
)

// Instance is what an executor says of itself with each heartbeat.
type Instance struct {
	Group     string        `json:"executor_group"`
	Instance  string        `json:"instance"`
	State     InstanceState `json:"state"`
	Kinds     []string      `json:"kinds"` // of tasks that it runs: handler, shell, command
	Handlers  []string      `json:"handlers,omitempty"`
	Slots     int           `json:"slots"`
	Running   int           `json:"running"`
	Version   string        `json:"version"` // of the program
	SDK       string        `json:"sdk"`     // such as carillon-go/0.1.0
	Host      string        `json:"host"`
	PID       int           `json:"pid"`
	StartedAt time.Time     `json:"started_at"`
	At        time.Time     `json:"at"`
}

// Key returns the instance's key in INST.
func (i *Instance) Key() string { return i.Group + "." + i.Instance }
