package cluster

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/bus/jet"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/fleet"
)

func TestAnErrorOfADiskThatIsFullSaysWhatToDo(t *testing.T) {
	says := func(code jetstream.ErrorCode, description, want string) {
		t.Helper()
		err := fmt.Errorf("write: %w", &jetstream.APIError{Code: 503, ErrorCode: code, Description: description})
		got := diskFull(err)
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%d %s: %q, want %q", code, description, got, want)
		}
	}
	says(10077, "error opening msg block file: no space left on device", "the disk of NATS is full")
	says(10077, "error opening msg block file: no space left on device", "restart nats-server")
	says(10047, "insufficient storage resources available", "max_file_store")
	says(10023, "insufficient resources", "max_file_store")
	says(10076, "JetStream not enabled", "restart nats-server")
	says(10077, "maximum bytes exceeded", "")
	says(10071, "wrong last sequence", "")
	if got := diskFull(fmt.Errorf("write: %w", jetstream.ErrJetStreamNotEnabled)); !strings.Contains(got, "restart nats-server") {
		t.Error(got)
	}
	if got := diskFull(errors.New("nats: timeout")); got != "" {
		t.Error(got)
	}
}

func TestAStreamIsFullBeforeItsLastByte(t *testing.T) {
	full := func(s fleet.StreamState, want bool) {
		t.Helper()
		if s.Full() != want {
			t.Errorf("%+v: %v", s, s.Full())
		}
	}
	const gib = 1 << 30
	full(fleet.StreamState{Refuses: true, MaxBytes: gib, Bytes: gib}, true)
	full(fleet.StreamState{Refuses: true, MaxBytes: gib, Bytes: gib - fleet.RoomLeft + 1}, true)
	full(fleet.StreamState{Refuses: true, MaxBytes: gib, Bytes: gib - fleet.RoomLeft}, false)
	full(fleet.StreamState{Refuses: true, MaxBytes: 1000, Bytes: 990}, false)
	full(fleet.StreamState{Refuses: true, MaxBytes: 1000, Bytes: 991}, true)
	full(fleet.StreamState{MaxBytes: gib, Bytes: gib}, false)
	full(fleet.StreamState{Refuses: true, Bytes: gib}, false)
}

func TestAnErrorWhileNATSIsAwaySaysThatThereIsNoConnection(t *testing.T) {
	err := jet.Unavailable(fmt.Errorf("open bucket LEASE: %w", nats.ErrReconnectBufExceeded))
	if !errors.Is(err, job.ErrUnavailable) || !errors.Is(err, nats.ErrReconnectBufExceeded) || err.Error() != "unavailable: not connected to NATS" {
		t.Error(err)
	}
}

func TestNoRoomCountsAsAway(t *testing.T) {
	if !errors.Is(&NoRoomError{}, job.ErrUnavailable) {
		t.Error("a caller that waits for the system would give up")
	}
}
