package output

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// naive returns what Text has to return, of a whole output.
func naive(whole string) string {
	if len(whole) <= sentHead+sentTail {
		return whole
	}
	head := whole[:sentHead]
	for !utf8.ValidString(head) {
		head = head[:len(head)-1]
	}
	tail := whole[len(whole)-sentTail+len(fmt.Sprintf("\n[%d bytes left out]\n", len(whole))):]
	for !utf8.ValidString(tail) {
		tail = tail[1:]
	}
	return head + fmt.Sprintf("\n[%d bytes left out]\n", len(whole)-len(head)-len(tail)) + tail
}

func TestTheBeginningAndTheEndAreKept(t *testing.T) {
	for _, unit := range []string{"a", "é", "任务", "🎉x"} {
		for _, size := range []int{0, 1, sentHead, sentHead + sentTail, sentHead + sentTail + 1, keptHead, keptHead + keptTail, keptHead + keptTail + 1, 3_000_000} {
			var k keeper
			var whole strings.Builder
			for i := 0; whole.Len() < size; i++ {
				part := fmt.Sprint(i, unit)
				part = strings.Repeat(part, 1+i*i%977)
				part = part[:min(len(part), max(1, size-whole.Len()))]
				if !utf8.ValidString(part) {
					part = strings.ToValidUTF8(part, "x")
				}
				whole.WriteString(part)
				for p := []byte(part); len(p) > 0; { // in pieces
					n := min(len(p), 1+i%5000)
					k.add(p[:n])
					p = p[n:]
				}
			}
			if got, want := string(k.kept().Text(nil)), naive(whole.String()); got != want {
				t.Errorf("%s, %d bytes: %d bytes, want %d", unit, whole.Len(), len(got), len(want))
			}
		}
	}
}

func TestSecretsAreMaskedAlsoWhereTheOutputIsCut(t *testing.T) {
	const secret = "correct-horse"
	for shift := range len(secret) + 2 {
		var k keeper
		k.add(bytes.Repeat([]byte("x"), sentHead-shift))
		k.add([]byte(secret))
		k.add(bytes.Repeat([]byte("y"), 2_000_000))
		k.add([]byte(secret))
		k.add(bytes.Repeat([]byte("z"), sentTail-shift-30))
		text := string(k.kept().Text([][]byte{[]byte(secret)}))
		for n := 4; n <= len(secret); n++ {
			if strings.Contains(text, secret[:n]) || strings.Contains(text, secret[len(secret)-n:]) {
				t.Fatalf("shift %d: a part of the secret is sent", shift)
			}
		}
	}
}

func TestBytesThatAreNoTextBecomeText(t *testing.T) {
	var k keeper
	k.add(bytes.Repeat([]byte{0xff, 0x00, 'a'}, 40_000))
	if text := k.kept().Text(nil); !utf8.Valid(text) || len(text) > sentHead+sentTail {
		t.Errorf("%d bytes", len(text))
	}
}

func TestTheReaderSaysWhatItKeeps(t *testing.T) {
	for _, k := range []Kept{{}, {Head: []byte("a"), Total: 1}, {Head: make([]byte, keptHead), Tail: make([]byte, keptTail), Total: 1 << 40}} {
		var b bytes.Buffer
		if err := writeKept(&b, k); err != nil {
			t.Fatal(err)
		}
		got, err := readKept(&b)
		if err != nil || got.Total != k.Total || len(got.Head) != len(k.Head) || len(got.Tail) != len(k.Tail) {
			t.Errorf("%v, %v", got.Total, err)
		}
	}
}
