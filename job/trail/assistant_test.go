package trail

import (
	"strings"
	"testing"
)

func TestTheNameOfAnAssistantIsShortAndPlain(t *testing.T) {
	for given, want := range map[string]string{
		"claude-code 2.1":         "claude-code 2.1",
		" a\r\nb\x1b[31m\u202ec ": "ab31mc",
		"":                        "unnamed",
		"助手":                      "unnamed",
		strings.Repeat("x", 100):  strings.Repeat("x", 64),
	} {
		if got := AssistantName(given); got != want {
			t.Errorf("%q becomes %q, want %q", given, got, want)
		}
	}
}
