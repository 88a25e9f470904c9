package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// XXL-JOB reads its messages with Gson, which is lenient about types: executors in other languages
// rely on that. The types below read what Gson reads, and leave a field that is null as it is.

// text reads a string, a number or a boolean, the latter two as they are written. Unlike Gson it also
// reads objects and lists so: a message in the wrong form must not hide how a run ended.
type text string

func (t *text) UnmarshalJSON(data []byte) error {
	if isNull(data) {
		return nil
	}
	if data[0] != '"' {
		*t = text(data)
		return nil
	}
	return json.Unmarshal(data, (*string)(t))
}

// integer reads a whole number of at most 64 bits, which may be written as 7, 7.0, "7" or "7.0".
type integer int64

func (n *integer) UnmarshalJSON(data []byte) error {
	if isNull(data) {
		return nil
	}
	var written text
	if err := written.UnmarshalJSON(data); err != nil {
		return err
	}
	s := strings.TrimSpace(string(written))
	if whole, err := strconv.ParseInt(s, 10, 64); err == nil {
		*n = integer(whole)
		return nil
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) >= math.MaxInt64 || strings.ContainsAny(s, "xX_") {
		return fmt.Errorf("%.40q is no whole number", s)
	}
	*n = integer(f)
	return nil
}

// code reads a whole number of at most 32 bits.
type code int32

func (c *code) UnmarshalJSON(data []byte) error {
	n := integer(*c)
	if err := n.UnmarshalJSON(data); err != nil {
		return err
	}
	if n < math.MinInt32 || n > math.MaxInt32 {
		return fmt.Errorf("%d has more than 32 bits", n)
	}
	*c = code(n)
	return nil
}

// flag reads a boolean, which may be written as true or "true". Any other string is false.
type flag bool

func (f *flag) UnmarshalJSON(data []byte) error {
	if isNull(data) {
		return nil
	}
	if data[0] == '"' {
		var s string
		if err := json.Unmarshal(data, &s); err != nil {
			return err
		}
		*f = flag(strings.EqualFold(s, "true"))
		return nil
	}
	return json.Unmarshal(data, (*bool)(f))
}

func isNull(data []byte) bool { return len(data) == 0 || bytes.Equal(data, []byte("null")) }
