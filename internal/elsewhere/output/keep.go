package output

import (
	"bytes"
	"fmt"
	"sync"
	"unicode/utf8"
)

// What is kept of the output while the command runs, in bytes: more than is sent, so that a secret that
// begins in what is sent is masked as a whole.
const (
	keptHead = 64 << 10
	keptTail = 960 << 10
)

// What is sent of it, in bytes.
const (
	sentHead = 8 << 10
	sentTail = 56 << 10
)

// Kept is the beginning and the end of an output.
type Kept struct {
	Head, Tail []byte
	Total      int64 // how many bytes there were
}

// keeper keeps the beginning and the end of what is written to it. It is safe for concurrent use.
type keeper struct {
	mu    sync.Mutex
	head  []byte
	tail  []byte // full: a ring that begins at next
	next  int
	total int64
}

func (k *keeper) add(p []byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.total += int64(len(p))
	n := min(keptHead-len(k.head), len(p))
	k.head = append(k.head, p[:n]...)
	p = p[n:]
	n = min(keptTail-len(k.tail), len(p))
	k.tail = append(k.tail, p[:n]...)
	for p = p[n:]; len(p) > 0; p = p[n:] {
		n = copy(k.tail[k.next:], p)
		k.next = (k.next + n) % len(k.tail)
	}
}

// kept returns what is kept so far.
func (k *keeper) kept() Kept {
	k.mu.Lock()
	defer k.mu.Unlock()
	return Kept{Head: bytes.Clone(k.head), Tail: append(bytes.Clone(k.tail[k.next:]), k.tail[:k.next]...), Total: k.total}
}

// Text returns at most 64 KiB of the output: its first 8 KiB, how much is left out, and its end. Secrets are
// replaced by "***" before. It is UTF-8, whatever the command wrote.
func (k Kept) Text(secrets [][]byte) []byte {
	if k.Total == int64(len(k.Head)+len(k.Tail)) { // nothing is missing
		whole := masked(append(bytes.Clone(k.Head), k.Tail...), secrets)
		if len(whole) <= sentHead+sentTail {
			return bytes.ToValidUTF8(whole, []byte("?"))
		}
		return joined(whole, whole, len(whole))
	}
	head, tail := masked(k.Head, secrets), masked(k.Tail, secrets)
	return joined(head, tail, int(k.Total)-len(k.Head)-len(k.Tail)+len(head)+len(tail))
}

// joined returns the beginning of head and the end of tail, which are of an output of so many bytes.
func joined(head, tail []byte, total int) []byte {
	note := fmt.Appendf(nil, "\n[%d bytes left out]\n", total) // as long as the true one, or longer
	head = withoutHalf(head[:min(sentHead, len(head))])
	tail = tail[max(0, len(tail)-(sentTail-len(note))):]
	for len(tail) > 0 && !utf8.RuneStart(tail[0]) {
		tail = tail[1:]
	}
	note = fmt.Appendf(nil, "\n[%d bytes left out]\n", total-len(head)-len(tail))
	return bytes.ToValidUTF8(bytes.Join([][]byte{head, note, tail}, nil), []byte("?"))
}

// withoutHalf returns a text without the beginning of a character at its end.
func withoutHalf(text []byte) []byte {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if last := text[len(text)-n:]; utf8.RuneStart(last[0]) {
			if !utf8.FullRune(last) {
				return text[:len(text)-n]
			}
			return text
		}
	}
	return text
}

func masked(text []byte, secrets [][]byte) []byte {
	for _, s := range secrets {
		text = bytes.ReplaceAll(text, s, []byte("***"))
	}
	return text
}
