package logfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/klauspost/compress/s2"

	"github.com/carillon-scheduler/carillon/job/runlog"
)

// Bounds of a chunk. A reader that looks for a line reads whole chunks, and looks
// for them by their first line.
const (
	maxChunkLines = 256
	maxChunkText  = 64 << 10 // bytes, unless a single line is longer
)

// minCompress is the size in bytes from which compressing pays.
const minCompress = 256

// The first byte of a chunk says how the rest is written.
const (
	chunkPlain = 1
	chunkS2    = 2
)

// words are levels and outputs in a byte each; another word follows byte 0. The
// order is part of the format.
var words = []string{"", "debug", "info", "warn", "error", "stdout", "stderr", "log", "system"}

// encodeChunk writes consecutive lines: the first one's instant in milliseconds,
// then for each the milliseconds since the one before, level, output and text.
func encodeChunk(lines []runlog.Line) []byte {
	var buf []byte
	last := lines[0].At.UnixMilli()
	buf = binary.AppendVarint(append(buf, chunkPlain), last)
	for i := range lines {
		at := lines[i].At.UnixMilli()
		buf = binary.AppendVarint(buf, at-last)
		last = at
		buf = appendWord(buf, lines[i].Level)
		buf = appendWord(buf, lines[i].Output)
		buf = appendText(buf, lines[i].Text)
	}
	if len(buf) < minCompress {
		return buf
	}
	packed := make([]byte, 1+s2.MaxEncodedLen(len(buf)))
	packed[0] = chunkS2
	if n := len(s2.EncodeBetter(packed[1:], buf[1:])); n < len(buf)*9/10 {
		return packed[:1+n]
	}
	return buf
}

func appendWord(buf []byte, word string) []byte {
	if i := slices.Index(words, word); i > 0 {
		return append(buf, byte(i)) //nolint:gosec // there are few words
	}
	return appendText(append(buf, 0), word)
}

func appendText(buf []byte, text string) []byte {
	return append(binary.AppendUvarint(buf, uint64(len(text))), text...)
}

var errDamaged = errors.New("chunk is damaged")

// unpackChunk returns what encodeChunk compressed. The texts of the lines stand in it as they
// are.
func unpackChunk(data []byte) ([]byte, error) {
	if len(data) == 0 {
		return nil, errDamaged
	}
	switch data[0] {
	case chunkPlain:
		return data[1:], nil
	case chunkS2:
		unpacked, err := s2.Decode(nil, data[1:])
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errDamaged, err)
		}
		return unpacked, nil
	}
	return nil, fmt.Errorf("%w: it is written in way %d", errDamaged, data[0])
}

// decodeChunk reads the n lines of an unpacked chunk. Of each it gives instant, level, output
// and text.
func decodeChunk(unpacked []byte, n int) ([]runlog.Line, error) {
	if n < 1 || n > maxChunkLines {
		return nil, errDamaged
	}
	r := chunkReader{rest: unpacked}
	at := r.varint()
	lines := make([]runlog.Line, n)
	for i := range lines {
		at += r.varint()
		lines[i] = runlog.Line{At: time.UnixMilli(at).UTC(), Level: r.word(), Output: r.word(), Text: r.text()}
	}
	if r.damaged || len(r.rest) > 0 {
		return nil, errDamaged
	}
	return lines, nil
}

type chunkReader struct {
	rest    []byte
	damaged bool
}

func (r *chunkReader) varint() int64 {
	v, n := binary.Varint(r.rest)
	r.skip(n)
	return v
}

func (r *chunkReader) skip(n int) {
	if n <= 0 || n > len(r.rest) {
		r.damaged, r.rest = true, nil
		return
	}
	r.rest = r.rest[n:]
}

func (r *chunkReader) word() string {
	if len(r.rest) == 0 || int(r.rest[0]) >= len(words) {
		r.damaged = true
		return ""
	}
	code := r.rest[0]
	r.rest = r.rest[1:]
	if code == 0 {
		return r.text()
	}
	return words[code]
}

func (r *chunkReader) text() string {
	size, n := binary.Uvarint(r.rest)
	r.skip(n)
	if r.damaged || size > uint64(len(r.rest)) {
		r.damaged = true
		return ""
	}
	text := string(r.rest[:size])
	r.rest = r.rest[size:]
	return text
}
