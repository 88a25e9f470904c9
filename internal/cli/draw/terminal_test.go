package draw

import (
	"bytes"
	"strings"
	"testing"
)

func TestATerminalObeysNothingOfALogButColours(t *testing.T) {
	shown := func(want string, writes ...string) {
		t.Helper()
		var b bytes.Buffer
		out := NewScreen(&b)
		for _, w := range writes {
			if n, err := out.Write([]byte(w)); err != nil || n != len(w) {
				t.Fatal(n, err)
			}
		}
		if got := b.String(); got != want {
			t.Errorf("%q is shown as %q, want %q", strings.Join(writes, "|"), got, want)
		}
	}
	shown("plain\ttext, 数据\n", "plain\ttext, 数据\n")
	shown("\x1b[1;31mred\x1b[0m\nnext\n", "\x1b[1;31mred\nnext\n")
	shown("\x1b[38:2::1:2:3mred\x1b[0m\x1b[0m\nnext\n", "\x1b[38:2::1:2:3mred\x1b[0m\r\nnext\n")
	shown("·[2J·[H·]0;title·", "\x1b[2J\x1b[H\x1b]0;title\x07")
	shown("·[31·[32·m·", "\x1b[31\x1b[32\x9bm\x9b") // C1 as a byte of its own
	shown("a·b·c·d", "a\rb\x00c\u009bd")
	shown("user·txt.exe", "user\u202etxt.exe")
	shown("·["+strings.Repeat("1", 100)+"m", "\x1b["+strings.Repeat("1", 100)+"m")
	shown("\x1b[31mred 数", "\x1b", "[3", "1mred \xe6", "\x95\xb0")
	shown("·]0;title·", "\x1b", "]0;title\x07")
}
