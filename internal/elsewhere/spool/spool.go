package spool

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/internal/elsewhere/ping"
)

// Bounds of a spool. Of what is beyond them, the output of the oldest pings goes first, then the oldest
// pings themselves.
const (
	MaxBytes = 64 << 20
	MaxFiles = 1000
)

const (
	waiting  = ".ping"
	refused  = ".refused"
	unready  = ".tmp"
	lostFile = "lost"
	// staleAfter is the age of a file that a wrapper was writing when it died.
	staleAfter = time.Hour
)

// Dir returns where the spool of this user is: of root in /var/lib, of others in the home. An error means that
// there is no home.
func Dir() (string, error) { return dir() }

// Spool is the pings of a folder.
type Spool struct {
	dir      string
	maxBytes int64
	maxFiles int
}

// At returns the spool in a folder, which is created when the first ping is kept.
func At(dir string) *Spool { return &Spool{dir: dir, maxBytes: MaxBytes, maxFiles: MaxFiles} }

// Kept is a ping, where it has to go, and when it happened.
type Kept struct {
	ping.Ping
	// The server, its authority and the token, if they are of the ping alone. Else they are those of the
	// configuration files when it is sent.
	Server string `json:"server,omitempty"`
	CA     string `json:"ca,omitempty"`
	Token  string `json:"token,omitempty"`

	Happened Instant `json:"happened"`
}

// Put keeps a ping. Once it has returned nil, the ping survives a crash of the machine.
func (s *Spool) Put(k *Kept) error {
	if err := os.MkdirAll(s.dir, 0o700); err != nil { //nolint:gosec // the user names it
		return fmt.Errorf("keep ping: %w", err)
	}
	head, err := json.Marshal(k)
	if err != nil {
		return fmt.Errorf("keep ping: %w", err)
	}
	name := fmt.Sprintf("%022d-%s", max(k.Happened.Wall.UnixNano(), 0), k.ID)
	if err := s.write(name, slices.Concat(head, []byte("\n"), k.Output)); err != nil {
		return fmt.Errorf("keep ping: %w", err)
	}
	return s.shrink()
}

// write makes a file whole or not at all.
func (s *Spool) write(name string, data []byte) error {
	temporary := filepath.Join(s.dir, name+unready)
	err := writeSynced(temporary, data)
	if err == nil {
		err = os.Rename(temporary, filepath.Join(s.dir, name+waiting)) //nolint:gosec // of the spool
	}
	if err != nil {
		_ = os.Remove(temporary) //nolint:gosec // half of it, on a full disk
		return err
	}
	return syncFolder(s.dir)
}

func writeSynced(name string, data []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600) //nolint:gosec // of the spool
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Sync(), f.Close())
}

// read returns the ping of a file.
func (s *Spool) read(name string) (*Kept, error) {
	data, err := os.ReadFile(filepath.Join(s.dir, name)) //nolint:gosec // of the spool
	if err != nil {
		return nil, err
	}
	head, output, whole := bytes.Cut(data, []byte("\n"))
	k := &Kept{}
	if err := json.Unmarshal(head, k); err != nil || !whole || k.Job == "" {
		return nil, fmt.Errorf("%s is damaged", name)
	}
	k.Output = output[:min(len(output), ping.MaxOutput)]
	return k, nil
}

// file is one of the spool.
type file struct {
	name string
	size int64
}

// files returns the pings: first those that were never refused, each kind from the oldest.
func (s *Spool) files() ([]file, error) {
	entries, err := os.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read spool: %w", err)
	}
	var all []file
	for _, e := range entries {
		ext := filepath.Ext(e.Name())
		info, err := e.Info()
		switch {
		case err != nil: // another wrapper has removed it
		case ext == unready && time.Since(info.ModTime()) > staleAfter:
			s.remove(e.Name())
		case ext == waiting || ext == refused:
			all = append(all, file{e.Name(), info.Size()})
		}
	}
	slices.SortStableFunc(all, func(a, b file) int {
		return cmp.Or(cmp.Compare(filepath.Ext(a.name), filepath.Ext(b.name)), cmp.Compare(a.name, b.name))
	})
	return all, nil
}

// Len returns how many pings wait.
func (s *Spool) Len() (int, error) {
	all, err := s.files()
	return len(all), err
}

// shrink brings the spool within its bounds.
func (s *Spool) shrink() error {
	all, err := s.files()
	if err != nil || len(all) <= s.maxFiles && sum(all) <= s.maxBytes {
		return err
	}
	unlock, err := s.lock("bounds.lock", true)
	if err != nil {
		return err
	}
	defer unlock()
	if all, err = s.files(); err != nil { // another may have done it meanwhile
		return err
	}
	slices.SortFunc(all, func(a, b file) int { return cmp.Compare(a.name, b.name) })
	for i := 0; i < len(all) && sum(all) > s.maxBytes; i++ {
		all[i].size = s.withoutOutput(all[i])
	}
	lost := 0
	for len(all) > 0 && (len(all) > s.maxFiles || sum(all) > s.maxBytes) {
		s.remove(all[0].name)
		lost++
		all = all[1:]
	}
	return s.addLost(lost)
}

// withoutOutput removes the output from a file, and returns the size that is left.
func (s *Spool) withoutOutput(f file) int64 {
	path := filepath.Join(s.dir, f.name)
	data, err := os.ReadFile(path) //nolint:gosec // of the spool
	if err != nil {
		return f.size
	}
	head, output, _ := bytes.Cut(data, []byte("\n"))
	if len(output) == 0 || os.Truncate(path, int64(len(head))+1) != nil {
		return f.size
	}
	return int64(len(head)) + 1
}

func sum(all []file) (total int64) {
	for _, f := range all {
		total += f.size
	}
	return total
}

// Lost returns how many pings had to go since that was told last.
func (s *Spool) Lost() int {
	data, err := os.ReadFile(filepath.Join(s.dir, lostFile)) //nolint:gosec // of the spool
	if err != nil {
		return 0
	}
	n, _ := strconv.Atoi(strings.TrimSpace(string(data)))
	return n
}

// Told forgets the pings that had to go: a server has been told of them.
func (s *Spool) Told() { _ = os.Remove(filepath.Join(s.dir, lostFile)) }

func (s *Spool) addLost(n int) error {
	if n == 0 {
		return nil
	}
	temporary := filepath.Join(s.dir, lostFile+unready)
	if err := writeSynced(temporary, []byte(strconv.Itoa(s.Lost()+n)+"\n")); err != nil {
		return fmt.Errorf("count pings that were lost: %w", err)
	}
	return os.Rename(temporary, filepath.Join(s.dir, lostFile)) //nolint:gosec // of the spool
}
