package xxljob

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/carillon-scheduler/carillon/bridge/xxljob/peer"
	"github.com/carillon-scheduler/carillon/bridge/xxljob/state"
	"github.com/carillon-scheduler/carillon/bridge/xxljob/wire"
	"github.com/carillon-scheduler/carillon/job"
)

// Config says how a bridge works.
type Config struct {
	// Groups are the executor groups that it serves. Defaults to all that executors register for.
	Groups []string
	// Token returns what executors of a group must show, and are shown; "" for none. Defaults to none.
	Token func(group string) string
	// Dial connects to executors. It is required: it decides which addresses may be called.
	Dial peer.Dial
	// Trust says which certificates of executors with https are accepted. Defaults to those of the
	// system's CAs.
	Trust peer.Trust
	// Rewrite maps addresses that executors register to those by which they can be reached. Defaults
	// to none.
	Rewrite map[string]string
	// Slots is how many runs an executor may have at once. Defaults to 64.
	Slots int
	// Silence is how long a run may go on after its executor has said that no run of the job is
	// there. It must be longer than the 30 s after which executors repeat a callback. Defaults to 90 s.
	Silence time.Duration
	// CallTimeout is how long a call to an executor may take. Defaults to 3 s.
	CallTimeout time.Duration
	// FirstJobID is the least number for jobs that were not imported. It must be greater than the
	// numbers of imported jobs. Defaults to 1,000,000.
	FirstJobID int32
	// Logger hears what an operator wants to know. Defaults to none.
	Logger *slog.Logger
	// Registerer takes the package's metrics. Defaults to none.
	Registerer prometheus.Registerer
}

func (c Config) withDefaults() Config {
	if c.Token == nil {
		c.Token = func(string) string { return "" }
	}
	if c.Slots == 0 {
		c.Slots = 64
	}
	if c.Silence == 0 {
		c.Silence = 90 * time.Second
	}
	if c.FirstJobID == 0 {
		c.FirstJobID = 1_000_000
	}
	if c.CallTimeout == 0 {
		c.CallTimeout = 3 * time.Second
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}

// Bounds of settings.
const (
	maxSlots    = state.Cells / 2  // so that a free cell is soon found
	minSilence  = 40 * time.Second // a callback is repeated after 30 s
	maxCallTime = 30 * time.Second
)

func (c Config) validate() error {
	var errs []error
	wrong := func(field, format string, args ...any) {
		errs = append(errs, &job.InvalidError{Field: field, Reason: fmt.Sprintf(format, args...)})
	}
	for _, g := range c.Groups {
		if err := job.CheckSlug("groups", g); err != nil {
			errs = append(errs, err)
		}
	}
	if c.Dial == nil {
		panic("BUG: a bridge needs Config.Dial")
	}
	if c.Slots < 1 || c.Slots > maxSlots {
		wrong("slots", "%d must be between 1 and %d", c.Slots, maxSlots)
	}
	if c.Silence < minSilence {
		wrong("silence", "%s must be at least %s: executors repeat a callback after 30s", c.Silence, minSilence)
	}
	if c.CallTimeout <= 0 || c.CallTimeout > maxCallTime {
		wrong("call-timeout", "%s must be more than 0s and at most %s", c.CallTimeout, maxCallTime)
	}
	if c.FirstJobID < 0 {
		wrong("first-job-id", "%d must not be negative", c.FirstJobID)
	}
	for from, to := range c.Rewrite {
		for _, address := range []string{from, to} {
			if _, err := wire.CleanAddress(address); err != nil {
				wrong("rewrite", "%s=%s: %v", from, to, strings.TrimPrefix(err.Error(), "registryValue: "))
			}
		}
	}
	return errors.Join(errs...)
}

// Rewritten returns at which address an executor is called that registers the given one.
func (c Config) Rewritten(address string) string {
	for from, to := range c.Rewrite {
		if clean, err := wire.CleanAddress(from); err == nil && clean == address {
			if clean, err = wire.CleanAddress(to); err == nil { // which was checked when the bridge was made
				return clean
			}
		}
	}
	return address
}
