package client

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"time"
)

// newRunID returns a random UUIDv7 of an instant.
func newRunID(at time.Time) string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it never fails
	var ms [8]byte
	binary.BigEndian.PutUint64(ms[:], uint64(at.UnixMilli()))
	copy(b[:6], ms[2:])
	b[6] = b[6]&0x0f | 0x70
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
