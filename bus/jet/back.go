package jet

import (
	"context"
	"slices"
)

// backPage is how many sequences ScanBack looks at in one go.
const backPage = 500

// ScanBack calls yield for the messages of a stream that were stored before the given
// sequence, the newest first, until yield returns false. Zero is the stream's end. It
// reads directly, so on a replicated stream the very newest may be missing.
func (c *Conn) ScanBack(ctx context.Context, stream, filter string, before uint64, yield func(*Stored) bool) error {
	last, err := c.LastSeq(ctx, stream)
	if err != nil {
		return err
	}
	if before == 0 || before > last+1 {
		before = last + 1
	}
	for before > 1 {
		from := uint64(1)
		if before > backPage {
			from = before - backPage
		}
		page, err := c.readRange(ctx, stream, filter, from, before)
		if err != nil {
			return err
		}
		for _, m := range slices.Backward(page) {
			if !yield(m) {
				return nil
			}
		}
		before = from
	}
	return nil
}

// readRange returns the messages with sequences in [from, before).
func (c *Conn) readRange(ctx context.Context, stream, filter string, from, before uint64) (list []*Stored, err error) {
	for more := true; more && from < before; {
		from, more, err = c.readPage(ctx, stream, filter, from, func(m *Stored) bool {
			if m.Seq < before {
				list = append(list, m)
			}
			return m.Seq+1 < before
		})
		if err != nil {
			return nil, err
		}
		if len(list) > 0 && list[len(list)-1].Seq+1 >= before {
			break
		}
	}
	return list, nil
}
