package request

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/carillon-scheduler/carillon/executor"
)

const (
	maxResult  = 32 << 10 // bytes of an answer that become a part of the run's result
	maxExcerpt = 200      // bytes of one that become a part of a failed run's message
)

// answer is what came back.
type answer struct {
	resp *http.Response
	head []byte // up to maxResult bytes of the body
	size int64  // of the body, as far as it was read
	text bool
}

// read reads the body and logs it.
func (r *runner) read(run *executor.Run, resp *http.Response) (*answer, error) {
	a := &answer{resp: resp, text: isText(resp.Header.Get("Content-Type"))}
	to := io.Writer(writerFunc(a.keep))
	if a.text {
		to = io.MultiWriter(to, run.Stdout())
	}
	n, err := io.Copy(to, io.LimitReader(resp.Body, r.cfg.MaxBody))
	a.size = n
	if err != nil {
		return a, err
	}
	if !a.text && n > 0 {
		run.Log().Info("the body is not text, and is not logged", "content_type", resp.Header.Get("Content-Type"))
	}
	var one [1]byte
	if n == r.cfg.MaxBody {
		if more, err := resp.Body.Read(one[:]); more > 0 || err != nil && !errors.Is(err, io.EOF) {
			run.Log().Warn("the rest of the body was not read", "limit", r.cfg.MaxBody)
		}
	}
	return a, nil
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// keep remembers the beginning of the body.
func (a *answer) keep(p []byte) (int, error) {
	if room := maxResult + 1 - len(a.head); room > 0 {
		a.head = append(a.head, p[:min(room, len(p))]...)
	}
	return len(p), nil
}

// result is the run's result.
type result struct {
	Status   int    `json:"status"`
	Location string `json:"location,omitempty"` // of a redirect that was not followed
	Body     any    `json:"body,omitempty"`
}

func (a *answer) result() result {
	r := result{Status: a.resp.StatusCode, Location: a.resp.Header.Get("Location")}
	switch {
	case len(a.head) == 0 || len(a.head) > maxResult:
	case json.Valid(a.head):
		r.Body = json.RawMessage(a.head)
	case a.text && utf8.Valid(a.head):
		r.Body = string(a.head)
	}
	return r
}

// failure is why the run failed: the status, and what the body begins with.
func (a *answer) failure() error {
	text := fmt.Sprintf("answered %d %s", a.resp.StatusCode, http.StatusText(a.resp.StatusCode))
	if to, err := a.resp.Location(); err == nil {
		return fmt.Errorf("%s: a redirect to %s, and follow_redirects is not set", text, shown(to))
	}
	if excerpt := bytes.TrimSpace(a.head[:min(len(a.head), maxExcerpt)]); a.text && len(excerpt) > 0 {
		line, _, _ := strings.Cut(strings.ToValidUTF8(string(excerpt), ""), "\n")
		text += ": " + strings.TrimSpace(line)
	}
	return errors.New(text)
}

// isText reports whether a body of this type is fit for a log.
func isText(contentType string) bool {
	kind, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		return contentType == ""
	}
	switch kind {
	case "application/json", "application/xml", "application/javascript", "application/x-www-form-urlencoded", "application/yaml", "application/x-ndjson":
		return true
	}
	return strings.HasPrefix(kind, "text/") || strings.HasSuffix(kind, "+json") || strings.HasSuffix(kind, "+xml")
}
