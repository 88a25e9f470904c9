package file

import (
	"database/sql"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/job"
)

// AppendID appends the 16 bytes of a run id that was validated.
func AppendID(buf []byte, id job.RunID) []byte {
	var text [32]byte
	n := copy(text[:], id[0:8])
	n += copy(text[n:], id[9:13])
	n += copy(text[n:], id[14:18])
	n += copy(text[n:], id[19:23])
	copy(text[n:], id[24:36])
	buf, _ = hex.AppendDecode(buf, text[:])
	return buf
}

// PackID returns the 16 bytes of a run id that was validated.
func PackID(id job.RunID) []byte { return AppendID(make([]byte, 0, 16), id) }

// UnpackID returns the run id of 16 bytes, and none of any other number.
func UnpackID(b []byte) job.RunID {
	if len(b) != 16 {
		return ""
	}
	text := hex.EncodeToString(b)
	return job.RunID(strings.Join([]string{text[0:8], text[8:12], text[12:16], text[16:20], text[20:]}, "-"))
}

// ScanID reads a run id, which may be missing.
type ScanID job.RunID

var _ sql.Scanner = (*ScanID)(nil)

// Scan implements [sql.Scanner].
func (id *ScanID) Scan(value any) error {
	if value == nil {
		return nil
	}
	b, ok := value.([]byte)
	if !ok {
		return fmt.Errorf("a run id is stored as %T", value)
	}
	*id = ScanID(UnpackID(b))
	return nil
}

// IDAt returns the lowest run id whose fire time is t or later, as stored.
func IDAt(t time.Time) []byte {
	ms := max(t.UnixMilli(), 0)
	if t.Nanosecond()%1e6 != 0 {
		ms++
	}
	id := make([]byte, 16)
	for i := 5; i >= 0; i-- {
		id[i] = byte(ms)
		ms >>= 8
	}
	return id
}

// Millis returns an instant as it is stored: 0 for the zero time.
func Millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// Instant returns what Millis was given, in UTC.
func Instant(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}
