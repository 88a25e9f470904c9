package executor

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/gofrs/flock"
	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
)

// spoolFormat is the version of the files' format.
const spoolFormat = 1

const (
	spoolSuffix   = ".json"
	partialSuffix = ".partial" // of a file that is being written
	refusedSuffix = ".refused" // behind spoolSuffix, of a file that nobody will report
)

// maxKept bounds the body of a message, in bytes: what NATS takes by default.
const maxKept = 1 << 20

// errSpoolFull says that a file would exceed [Config.SpoolBytes].
var errSpoolFull = errors.New("the spool is full")

// kept is what one file holds: what is still to be said of one attempt.
type kept struct {
	Format int           `json:"format"`
	Group  string        `json:"group"`
	End    *keptMessage  `json:"end,omitempty"` // nil: the attempt was given back
	Lines  []keptMessage `json:"lines,omitempty"`
}

// keptMessage is a message to publish.
type keptMessage struct {
	Subject string      `json:"subject"`
	Header  nats.Header `json:"header"`
	Data    []byte      `json:"data"`
}

// messages returns all of k.
func (k *kept) messages() []keptMessage {
	if k.End == nil {
		return k.Lines
	}
	return append([]keptMessage{*k.End}, k.Lines...)
}

func keepMessage(m *nats.Msg) keptMessage { return keptMessage{m.Subject, m.Header, m.Data} }

func (m *keptMessage) msg() *nats.Msg {
	return &nats.Msg{Subject: m.Subject, Header: m.Header, Data: m.Data}
}

// spool is a folder with a file for each attempt whose end NATS has not stored. Files hold
// tokens of attempts, so only their owner may read them. One process at a time uses a
// folder. Methods may be called concurrently.
type spool struct {
	dir  string
	most int64 // bytes of all files together
	lock *flock.Flock

	mu   sync.Mutex
	used int64
}

// openSpool takes the folder dir, which it makes if it is not there. The error says so if
// another process has it.
func openSpool(dir string, most int64) (*spool, error) {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return nil, fmt.Errorf("open spool %s: it is a file; name a folder, which is made if it is not there", dir)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open spool %s: %w", dir, err)
	}
	s := &spool{dir: dir, most: most, lock: flock.New(filepath.Join(dir, "lock"), flock.SetPermissions(0o600))}
	ours, err := s.lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("open spool %s: %w", dir, err)
	}
	if !ours {
		return nil, fmt.Errorf("open spool %s: another executor uses this folder; give each executor its own", dir)
	}
	entries, err := os.ReadDir(dir)
	for _, entry := range entries {
		switch info, statErr := entry.Info(); {
		case statErr != nil:
			err = errors.Join(err, statErr)
		case strings.HasSuffix(entry.Name(), partialSuffix): // its process died before it was whole
			err = errors.Join(err, os.Remove(filepath.Join(dir, entry.Name())))
		case strings.HasSuffix(entry.Name(), spoolSuffix):
			s.used += info.Size()
		}
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open spool %s: %w", dir, err), s.lock.Unlock())
	}
	return s, nil
}

func (s *spool) close() error { return s.lock.Unlock() }

// files returns the names of the files, in no order that means anything.
func (s *spool) files() ([]string, error) {
	entries, err := os.ReadDir(s.dir)
	var names []string
	for _, entry := range entries {
		if strings.HasSuffix(entry.Name(), spoolSuffix) {
			names = append(names, entry.Name())
		}
	}
	return names, err
}

// write stores k under name, which must be new. When it returns nil, k outlives a crash of
// the machine; else there is no such file.
func (s *spool) write(name string, k *kept) (err error) {
	data, err := json.Marshal(k)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.used+int64(len(data)) > s.most {
		return errSpoolFull
	}
	path := filepath.Join(s.dir, name)
	f, err := os.OpenFile(path+partialSuffix, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600) //nolint:gosec // a name of our own making
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(path+partialSuffix))
		}
	}()
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err = os.Rename(path+partialSuffix, path); err != nil {
		return err
	}
	s.used += int64(len(data))
	s.syncDir()
	return nil
}

// syncDir stores the folder's list of files, where the system can.
func (s *spool) syncDir() {
	if d, err := os.Open(s.dir); err == nil {
		_ = d.Sync() // Windows cannot, and stores it by itself
		_ = d.Close()
	}
}

// read returns what a file holds. The error says what is wrong with it.
func (s *spool) read(name, group string) (*kept, error) {
	path := filepath.Join(s.dir, name)
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > s.most {
		return nil, fmt.Errorf("it is no file of at most %d bytes", s.most)
	}
	data, err := os.ReadFile(path) //nolint:gosec // a name from our own folder
	if err != nil {
		return nil, err
	}
	k := &kept{}
	if err := json.Unmarshal(data, k); err != nil {
		return nil, err
	}
	if k.Format != spoolFormat {
		return nil, fmt.Errorf("format %d, want %d: another version of this program wrote it", k.Format, spoolFormat)
	}
	if k.Group != group {
		return nil, fmt.Errorf("it is of executor group %q, want %q", k.Group, group)
	}
	// Tasks of the same user can write here. They must not publish anything else by that, nor
	// keep the executor from its work with what NATS never takes.
	for _, m := range k.messages() {
		if len(m.Data) > maxKept {
			return nil, fmt.Errorf("a message has %d bytes; at most %d are allowed", len(m.Data), maxKept)
		}
		for name := range m.Header {
			if name != nats.MsgIdHdr && strings.HasPrefix(strings.ToLower(name), "nats-") {
				return nil, fmt.Errorf("header %s is not allowed", name)
			}
		}
	}
	if k.End != nil {
		if _, of, ok := bus.ParseSubjectEvent(k.End.Subject); !ok || of != group {
			return nil, fmt.Errorf("subject %q is not one of the group's events", k.End.Subject)
		}
	}
	for _, m := range k.Lines {
		run, ok := strings.CutPrefix(m.Subject, bus.SubjectLog(group, ""))
		if _, err := job.ParseRunID(run); !ok || err != nil {
			return nil, fmt.Errorf("subject %q is not one of the group's logs", m.Subject)
		}
	}
	return k, nil
}

// remove deletes a file once NATS has stored all its messages.
func (s *spool) remove(name string) error {
	return s.leave(name, os.Remove)
}

// refuse puts a file aside, for an operator to look at. It is not read again.
func (s *spool) refuse(name string) error {
	return s.leave(name, func(path string) error { return os.Rename(path, path+refusedSuffix) }) //nolint:gosec // a file of our own folder
}

// leave takes a file out of the count.
func (s *spool) leave(name string, away func(path string) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	path := filepath.Join(s.dir, name)
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if err := away(path); err != nil {
		return err
	}
	s.used -= info.Size()
	return nil
}
