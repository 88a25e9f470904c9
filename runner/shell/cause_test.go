package shell

import (
	"io"
	"strings"
	"testing"
)

func TestTheCauseIsTheLineThatComplains(t *testing.T) {
	for _, c := range []struct{ what, stderr, stdout, want string }{
		{"nothing", "", "", ""},
		{"standard output without a complaint", "", "12 tables\ndone\n", ""},
		{"a complaint on standard output", "", "begin\nERROR bank gateway: connection refused\nbye\n", "ERROR bank gateway: connection refused"},
		{"the last line of standard error", "looking\nno room\n", "error in plain sight\n", "error in plain sight"},
		{"no complaint anywhere", "looking\nno room\n", "fine\n", "no room"},
		{"Python", "Traceback (most recent call last):\n  File \"x.py\", line 3, in <module>\n    main()\nValueError: model file checksum mismatch\n", "", "ValueError: model file checksum mismatch"},
		{"Java", "Exception in thread \"main\" java.lang.IllegalStateException: no ledger\n\tat Pay.main(Pay.java:7)\nCaused by: java.net.ConnectException: Connection refused\n\t... 1 more\n", "", "Caused by: java.net.ConnectException: Connection refused"},
		{"Node", "/tmp/x.js:3\nthrow new Error(\"no ledger\")\n^\n\nError: no ledger\n    at Object.<anonymous> (/tmp/x.js:3:7)\n\nNode.js v22.1.0\n", "", "Error: no ledger"},
		{"Go", "panic: no ledger\n\ngoroutine 1 [running]:\nmain.main()\n\t/tmp/x.go:4 +0x25\nexit status 2\n", "", "panic: no ledger"},
		{"PHP", "PHP Fatal error:  Uncaught Exception: no ledger in /tmp/x.php:3\nStack trace:\n#0 {main}\n  thrown in /tmp/x.php on line 3\n", "", "PHP Fatal error:  Uncaught Exception: no ledger in /tmp/x.php:3"},
		{"a shell that echoes", "+ mount /data\nmount: /data: permission denied.\n+ exit 32\n", "", "mount: /data: permission denied."},
		{"colours", "\x1b[31mError:\x1b[0m no ledger\r\n", "", "Error: no ledger"},
		{"Chinese", "错误：连接被拒绝\n", "", "错误：连接被拒绝"},
	} {
		if got := causeOf([]byte(c.stderr), []byte(c.stdout)); got != c.want {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
	}
	if got := causeOf([]byte(strings.Repeat("é", 2000)), nil); len(got) > maxCause+len("…") {
		t.Errorf("a cause of %d bytes", len(got))
	}
}

func TestATailKeepsTheEndOfWhatIsWritten(t *testing.T) {
	w := &tail{Writer: io.Discard}
	for range 100 {
		if n, err := w.Write([]byte(strings.Repeat("x", 999) + "\n")); n != 1000 || err != nil {
			t.Fatal(n, err)
		}
	}
	if _, err := w.Write([]byte(strings.Repeat("y", 3*tailBytes) + "end")); err != nil || len(w.end) != tailBytes || !strings.HasSuffix(string(w.end), "yend") {
		t.Errorf("it keeps %d bytes, %v", len(w.end), err)
	}
}
