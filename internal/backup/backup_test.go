package backup_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/carillon-scheduler/carillon/auth"
	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/cluster"
	"github.com/carillon-scheduler/carillon/cluster/bustest"
	"github.com/carillon-scheduler/carillon/cluster/clustertest"
	"github.com/carillon-scheduler/carillon/internal/backup"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/rights"
)

var noon = time.Date(2026, time.January, 5, 12, 0, 0, 0, time.UTC)

// system returns a connection to a NATS server of its own, set up with so many shards.
func system(t *testing.T, shards int) *cluster.Conn {
	t.Helper()
	conn, _ := brokered(t, shards)
	return conn
}

// brokered is system with the server. The connection is its client x.
func brokered(t *testing.T, shards int) (*cluster.Conn, *bustest.Broker) {
	t.Helper()
	broker := bustest.NewBroker(t)
	conn := clustertest.Setup(t, broker, "x", shards)
	return conn, broker
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// used fills a system with some of everything.
func used(t *testing.T) (*cluster.Conn, []byte) {
	t.Helper()
	conn := system(t, 4)
	for _, text := range []string{"echo one", "echo two"} {
		j := job.Job{Job: "billing/report", Task: job.Task{Script: &job.Script{Language: "shell", Source: text}}}.WithDefaults()
		_, _, err := conn.Jobs().Put(t.Context(), j, cluster.Edit{At: time.Now(), Author: "ann"})
		check(t, err)
		time.Sleep(time.Second)
	}
	check(t, conn.Secrets().Put(t.Context(), &bus.Secret{Group: "billing", Secret: "db", Sealed: []byte("sealed")}))
	_, err := conn.Retention().Put(t.Context(), job.Retention{Default: job.Keep{Runs: job.Duration(90 * 24 * time.Hour), Logs: job.Duration(30 * 24 * time.Hour)}}, cluster.Edit{At: time.Now(), Author: "ann"})
	check(t, err)
	_, _, err = conn.Pauses().Set(t.Context(), "billing", true, time.Time{}, cluster.Edit{At: time.Now(), Author: "ann"})
	check(t, err)
	d := auth.NewDirectory(conn, nil)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()
	_, _, err = d.Users().Put(t.Context(), "ann", auth.UserEdit{Access: rights.List{{Role: rights.Admin, Group: rights.Everywhere}}})
	check(t, err)
	_, _, err = d.Tokens().Create(t.Context(), "ann", "ci", nil, time.Hour)
	check(t, err)
	_, _, err = d.Invite(t.Context(), "ann")
	check(t, err)
	_, _, err = d.Credentials().Create(t.Context(), "billing", "web1", "ann", 0)
	check(t, err)
	cancel()
	check(t, <-ended)
	var file bytes.Buffer
	n, err := backup.Take(t.Context(), conn, &file, "1.2.3")
	check(t, err)
	if n != 11 {
		t.Errorf("%d entries; want two versions, two scripts, group and its pause, secret, retention, user, token and credential, and no invitation", n)
	}
	return conn, file.Bytes()
}

func read(t *testing.T, file []byte) *backup.File {
	t.Helper()
	f, err := backup.Read(bytes.NewReader(file))
	check(t, err)
	return f
}

func names(list []backup.Difference) (all []string) {
	for _, d := range list {
		all = append(all, d.What+" "+d.Name)
	}
	return all
}

// turns returns how often the switch that pauses a group has been turned.
func turns(t *testing.T, conn *cluster.Conn, group string) (n int) {
	t.Helper()
	w, err := conn.Pauses().Watch(t.Context())
	check(t, err)
	defer func() { check(t, w.Stop()) }()
	for e := range w.Updates() {
		if e == nil {
			break
		}
		if cluster.GroupOfHold(e.Key()) == group && e.Operation() == jetstream.KeyValuePut {
			n++
		}
	}
	return n
}

func TestWhatWasTakenIsRestoredWithItsVersionsIntoOtherShards(t *testing.T) {
	bustest.Run(t, noon, func(t *testing.T) {
		old, file := used(t)
		f := read(t, file)
		fresh := system(t, 16)
		missing, err := f.Compare(t.Context(), fresh)
		check(t, err)
		if !slices.Contains(names(missing), "create job billing/report") || slices.ContainsFunc(missing, func(d backup.Difference) bool { return d.What != "create" }) {
			t.Errorf("an empty system differs by %v", names(missing))
		}
		check(t, f.Restore(t.Context(), fresh))
		same, err := f.Compare(t.Context(), fresh)
		check(t, err)
		if len(same) != 0 {
			t.Errorf("the restored system differs by %v", names(same))
		}
		want, err := old.Jobs().Versions(t.Context(), "billing/report")
		check(t, err)
		got, err := fresh.Jobs().Versions(t.Context(), "billing/report")
		check(t, err)
		if diff := cmp.Diff(texts(want), texts(got)); diff != "" || len(got) != 2 {
			t.Errorf("versions (-taken +restored):\n%s", diff)
		}
		if s, err := fresh.Script(t.Context(), "billing", job.DigestOf("echo one")); err != nil || s != "echo one" {
			t.Errorf("script %q, %v", s, err)
		}
		if paused, err := fresh.Pauses().OfGroups(t.Context()); err != nil || !paused["billing"].Paused {
			t.Errorf("the pauses of groups are %+v, %v", paused, err)
		}
		check(t, fresh.Setup(t.Context(), cluster.Assets{})) // servers may start
		check(t, f.Restore(t.Context(), fresh))              // again
		if again, err := fresh.Jobs().Versions(t.Context(), "billing/report"); err != nil || len(again) != 2 {
			t.Errorf("restored twice: %d versions, %v", len(again), err)
		}
	})
}

// A refusal must not keep servers out, nor make the next try pass.
func TestARefusedRestoreLeavesNothingBehind(t *testing.T) {
	bustest.Run(t, noon, func(t *testing.T) {
		_, file := used(t)
		f := read(t, file)
		fresh := system(t, 4)
		check(t, fresh.Groups().Ensure(t.Context(), "before"))
		for range 2 {
			if err := f.Restore(t.Context(), fresh); !errors.Is(err, job.ErrConflict) || !strings.Contains(err.Error(), "group before") {
				t.Errorf("restored into what is not empty: %v", err)
			}
			check(t, fresh.Setup(t.Context(), cluster.Assets{})) // servers may start
		}
		left, err := f.Compare(t.Context(), fresh)
		check(t, err)
		if !slices.Contains(names(left), "foreign group before") || !slices.Contains(names(left), "create job billing/report") {
			t.Errorf("it differs by %v", names(left))
		}
	})
}

func TestAnInterruptedRestoreTouchesNothingThatIsNotItsOwn(t *testing.T) {
	bustest.Run(t, noon, func(t *testing.T) {
		_, file := used(t)
		f := read(t, file)
		fresh := system(t, 4)
		check(t, fresh.Restore().Begin(t.Context(), f.Sum))
		check(t, fresh.Groups().Ensure(t.Context(), "another"))
		if err := f.Restore(t.Context(), fresh); !errors.Is(err, job.ErrConflict) || !strings.Contains(err.Error(), "group another") {
			t.Errorf("restored over it: %v", err)
		}
		if _, err := fresh.Groups().Get(t.Context(), "another"); err != nil {
			t.Errorf("it is gone: %v", err)
		}
		other := system(t, 4)
		check(t, other.Restore().Begin(t.Context(), "of another file"))
		if err := f.Restore(t.Context(), other); !errors.Is(err, job.ErrConflict) || !strings.Contains(err.Error(), "another backup") {
			t.Errorf("restored in the middle of another: %v", err)
		}
	})
}

func texts(versions []*bus.JobEntry) (all []string) {
	for _, v := range versions {
		all = append(all, v.Task.Script.Source)
	}
	return all
}

func TestAHalfFileIsRefusedBeforeAnythingIsWritten(t *testing.T) {
	bustest.Run(t, noon, func(t *testing.T) {
		_, file := used(t)
		for _, half := range [][]byte{nil, file[:len(file)/2], file[:len(file)-1], []byte("text"), append(slices.Clone(file), file...)} {
			if _, err := backup.Read(bytes.NewReader(half)); !errors.Is(err, job.ErrInvalid) {
				t.Errorf("%d of %d bytes: %v", len(half), len(file), err)
			}
		}
	})
}

func TestARestoreThatBrokeOffKeepsServersOutUntilItIsWhole(t *testing.T) {
	bustest.Run(t, noon, func(t *testing.T) {
		old, file := used(t)
		f := read(t, file)
		fresh := system(t, 4)
		check(t, fresh.Restore().Begin(t.Context(), f.Sum))
		_, err := fresh.JS.Publish(t.Context(), bus.SubjectScript("billing", job.DigestOf("echo one")), []byte("echo one")) // so far it has come
		check(t, err)
		from, err := old.Bucket(t.Context(), bus.BucketCluster)
		check(t, err)
		to, err := fresh.Bucket(t.Context(), bus.BucketCluster)
		check(t, err)
		pause, err := from.Get(t.Context(), "hold.billing")
		check(t, err)
		_, err = to.Put(t.Context(), pause.Key(), pause.Value())
		check(t, err)
		if err := fresh.Setup(t.Context(), cluster.Assets{}); !errors.Is(err, job.ErrConflict) {
			t.Errorf("a server may start on the half: %v", err)
		}
		check(t, fresh.Setup(t.Context(), cluster.Assets{Restoring: true}))
		check(t, f.Restore(t.Context(), fresh))
		if diff, err := f.Compare(t.Context(), fresh); err != nil || len(diff) != 0 {
			t.Errorf("differs by %v, %v", names(diff), err)
		}
		if turned := turns(t, fresh, "billing"); turned != 1 {
			t.Errorf("the switch of the group was turned %d times, want once", turned)
		}
		check(t, fresh.Setup(t.Context(), cluster.Assets{}))
	})
}

func TestNothingIsRestoredUnderARunningServer(t *testing.T) {
	bustest.Run(t, noon, func(t *testing.T) {
		_, file := used(t)
		fresh := system(t, 4)
		lease, err := fresh.AcquireLease(t.Context(), "node.n1", "n1", nil)
		check(t, err)
		if err := read(t, file).Restore(t.Context(), fresh); !errors.Is(err, job.ErrConflict) {
			t.Errorf("restored: %v", err)
		}
		check(t, lease.Release(t.Context()))
		check(t, read(t, file).Restore(t.Context(), fresh))
	})
}

func TestABackupOutlastsANATSThatIsSilentForAWhileAndNamesWhatDoesNotAnswer(t *testing.T) {
	bustest.Run(t, noon, func(t *testing.T) {
		conn, broker := brokered(t, 4)
		j := job.Job{Job: "billing/report", Task: job.Task{Handler: "h"}}.WithDefaults()
		_, _, err := conn.Jobs().Put(t.Context(), j, cluster.Edit{At: time.Now(), Author: "ann"})
		check(t, err)
		broker.Partition("x")
		time.AfterFunc(20*time.Second, func() { broker.Heal("x") })
		var file bytes.Buffer
		n, err := backup.Take(t.Context(), conn, &file, "1.2.3")
		check(t, err)
		if f := read(t, file.Bytes()); n != 2 || f.Head.Shards != 4 { // the job and its group
			t.Errorf("%d entries, %+v", n, f.Head)
		}
		broker.Partition("x")
		_, err = backup.Take(t.Context(), conn, &file, "1.2.3")
		if !errors.Is(err, job.ErrUnavailable) || !strings.HasPrefix(err.Error(), "read bucket JOBS: NATS did not answer for 3") {
			t.Errorf("%v", err)
		}
	})
}
