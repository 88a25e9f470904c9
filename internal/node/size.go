package node

import (
	"fmt"
	"math"

	"github.com/dustin/go-humanize"

	"github.com/carillon-scheduler/carillon/job"
)

// size is a flag for a number of bytes, such as 16GiB.
type sizeFlag int64

func (s *sizeFlag) String() string {
	if *s == 0 {
		return ""
	}
	return humanize.IBytes(uint64(*s)) //nolint:gosec // Set takes no negative one
}

func (s *sizeFlag) Set(text string) error {
	n, err := humanize.ParseBytes(text)
	if err != nil || n < 1<<20 || n > math.MaxInt64 {
		return &job.InvalidError{Field: "size", Reason: fmt.Sprintf("%q must be a size of 1MiB or more, such as 512MiB or 16GiB", text)}
	}
	*s = sizeFlag(n)
	return nil
}

func (s *sizeFlag) Type() string { return "size" }
