package backup

import (
	"bufio"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
)

// format is the version of the file's form.
const format = 1

// Head says what a file is.
type Head struct {
	Format  int       `json:"carillon_backup"`
	MadeAt  time.Time `json:"made_at"`
	Version string    `json:"version"` // of the program
	Shards  int       `json:"shards"`
	// Partitions is how many the cluster had; 0 is 1.
	Partitions bus.Partitions `json:"partitions,omitempty"`
}

// entry is one message of a bucket.
type entry struct {
	Bucket  string `json:"bucket"`
	Key     string `json:"key"`
	Deleted bool   `json:"deleted,omitempty"`
	Value   []byte `json:"value,omitempty"`
}

type foot struct {
	Entries int    `json:"entries"`
	Sum     string `json:"sha256"` // of all lines before
}

// line is any line of a file.
type line struct {
	Head  *Head  `json:"head,omitempty"`
	Entry *entry `json:"entry,omitempty"`
	Foot  *foot  `json:"foot,omitempty"`
}

// errHalf refuses what is not a whole file.
func errHalf(what string) error {
	return fmt.Errorf("%w: the backup is not whole: %s", job.ErrInvalid, what)
}

// writer writes a file.
type writer struct {
	zip     *gzip.Writer
	out     *json.Encoder
	entries int
	sum     interface {
		io.Writer
		Sum([]byte) []byte
	}
}

func newWriter(w io.Writer, h Head) (*writer, error) {
	zip, sum := gzip.NewWriter(w), sha256.New()
	b := &writer{zip: zip, sum: sum, out: json.NewEncoder(io.MultiWriter(zip, sum))}
	if err := b.out.Encode(line{Head: &h}); err != nil {
		return nil, fmt.Errorf("write backup: %w", err)
	}
	return b, nil
}

func (b *writer) add(e *entry) error {
	b.entries++
	if err := b.out.Encode(line{Entry: e}); err != nil {
		return fmt.Errorf("write backup: %w", err)
	}
	return nil
}

func (b *writer) close() error {
	err := b.out.Encode(line{Foot: &foot{Entries: b.entries, Sum: hex.EncodeToString(b.sum.Sum(nil))}})
	if err := errors.Join(err, b.zip.Close()); err != nil {
		return fmt.Errorf("write backup: %w", err)
	}
	return nil
}

// File is a backup that was read as a whole.
type File struct {
	Head    Head
	Sum     string
	entries []entry
}

// maxLine bounds a line: a script, in base64.
const maxLine = 16 << 20

// Read reads a file. The error is job.ErrInvalid unless it is whole, and of a form that
// is known.
func Read(r io.Reader) (*File, error) {
	zip, err := gzip.NewReader(r)
	if err != nil {
		return nil, errHalf("it is no gzip file")
	}
	f, sum := &File{}, sha256.New()
	lines := bufio.NewScanner(zip)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		var l line
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			return nil, errHalf("a line cannot be read")
		}
		switch {
		case f.Sum != "":
			return nil, errHalf("there is something after its end")
		case l.Head != nil && f.Head.Format == 0 && len(f.entries) == 0:
			if f.Head = *l.Head; f.Head.Format != format {
				return nil, fmt.Errorf("%w: the backup has form %d, and this program knows %d; use the version that made it, %s", job.ErrInvalid, f.Head.Format, format, f.Head.Version)
			}
		case f.Head.Format == 0:
			return nil, errHalf("it does not begin as one does")
		case l.Entry != nil:
			f.entries = append(f.entries, *l.Entry)
		case l.Foot != nil:
			if l.Foot.Entries != len(f.entries) || l.Foot.Sum != hex.EncodeToString(sum.Sum(nil)) {
				return nil, errHalf("its sum is another")
			}
			f.Sum = l.Foot.Sum
		}
		_, _ = sum.Write(append(lines.Bytes(), '\n')) // a hash takes all
	}
	if err := lines.Err(); err != nil {
		return nil, errHalf(err.Error())
	}
	if f.Sum == "" {
		return nil, errHalf("its end is missing")
	}
	return f, nil
}
