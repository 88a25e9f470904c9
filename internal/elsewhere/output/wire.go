package output

import (
	"encoding/binary"
	"errors"
	"io"
)

// What the wrapper asks its reader.
const (
	askDrained = 'd' // answer once all that was written until now is passed on
	askNow     = 'n' // answer now
)

// writeKept writes what is kept as the reader answers.
func writeKept(w io.Writer, k Kept) error {
	head := binary.BigEndian.AppendUint64(nil, uint64(k.Total))     //nolint:gosec // is not negative
	head = binary.BigEndian.AppendUint32(head, uint32(len(k.Head))) //nolint:gosec // at most keptHead
	head = binary.BigEndian.AppendUint32(head, uint32(len(k.Tail))) //nolint:gosec // at most keptTail
	for _, part := range [][]byte{head, k.Head, k.Tail} {
		if _, err := w.Write(part); err != nil {
			return err
		}
	}
	return nil
}

// readKept reads what writeKept wrote.
func readKept(r io.Reader) (k Kept, err error) {
	var head [16]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return k, err
	}
	k.Total = int64(binary.BigEndian.Uint64(head[:])) //nolint:gosec // the reader is this program
	begin, end := binary.BigEndian.Uint32(head[8:]), binary.BigEndian.Uint32(head[12:])
	if begin > keptHead || end > keptTail {
		return k, errors.New("the reader answers more than it keeps")
	}
	k.Head, k.Tail = make([]byte, begin), make([]byte, end)
	if _, err := io.ReadFull(r, k.Head); err != nil {
		return k, err
	}
	_, err = io.ReadFull(r, k.Tail)
	return k, err
}
