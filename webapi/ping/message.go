package ping

import (
	"crypto/rand"
	"encoding/hex"
	"maps"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/carillon-scheduler/carillon/bus"
	"github.com/carillon-scheduler/carillon/job"
	"github.com/carillon-scheduler/carillon/job/clip"
)

// Message is a ping as it came.
type Message struct {
	Method string // of HTTP; PUT counts as POST
	// What is the end of the path: empty or "end", "start", "fail", or an exit code.
	What string
	// Values are what the ping says, by name; see [Names].
	Values map[string]string
	// Body is what the run has printed, and Encoding how that is compressed, if it is.
	Body     []byte
	Encoding string
	// Unread says that the body has more than [MaxBody] bytes and was not read.
	Unread bool
	From   string // the address that it comes from
}

// MaxBody is up to how many bytes of a body are read.
const MaxBody = 1 << 20

// Names are those of the values of a ping: its run key, its age, how long the run took, its exit code, what
// is to be said of it, its host, the id by which repeats are known, and the offset of its clock from UTC.
var Names = []string{"run", "age", "took", "exit", "message", "host", "id", "offset"}

// maxOffset bounds the offset of a time zone from UTC, in minutes.
const maxOffset = 18 * 60

var runKey = regexp.MustCompile(`^[A-Za-z0-9._-]+$`)

// reading reads a message, and notes what it passes over.
type reading struct {
	of      *Message
	ignored []string
	errs    []error
}

// read returns the ping that a message is of a job, what makes its repeats known, if anything, and the
// names of what it has passed over. The error is an *InvalidError.
func (m *Message) read(of job.Name) (p *bus.Ping, repeat string, ignored []string, err error) {
	r := &reading{of: m}
	p = &bus.Ping{ID: newID(), Job: of, Kind: bus.PingEnd}
	r.what(p)
	p.Key = r.key()
	p.Age = job.Duration(min(r.seconds("age", true), bus.MaxPingAge))
	p.Host = clip.Text(valid(m.Values["host"]), bus.MaxPingHost-len("…"))
	p.UTCOffset = r.offset()
	r.end(p)
	for _, name := range slices.Sorted(maps.Keys(m.Values)) {
		if !slices.Contains(Names, name) {
			r.ignore(clip.Text(valid(name), 64))
		}
	}
	if len(r.errs) > 0 {
		return nil, "", nil, r.errs[0]
	}
	return p, m.Values["id"], r.ignored, nil
}

// maxIgnored is how many names an answer has at most.
const maxIgnored = 20

func (r *reading) ignore(name string) {
	if len(r.ignored) < maxIgnored {
		r.ignored = append(r.ignored, name)
	}
}

// what reads the end of the path.
func (r *reading) what(p *bus.Ping) {
	switch what := r.of.What; what {
	case "", "end":
	case "start":
		p.Kind = bus.PingStart
	case "fail":
		p.Failed = true
	default:
		p.ExitCode = r.exit("exit", what)
	}
}

// exit reads an exit code. One that is none is an error: the ping would be taken for success.
func (r *reading) exit(field, text string) *int {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n > 255 {
		r.errs = append(r.errs, job.Invalid(field, "%q must be an exit code from 0 to 255, and the path must end in nothing, /start, /end, /fail or one", clip.Text(valid(text), 32)))
		return nil
	}
	return &n
}

// end reads what only the end of a run says.
func (r *reading) end(p *bus.Ping) {
	if p.Kind == bus.PingStart {
		for _, name := range []string{"took", "exit", "message"} {
			if r.of.Values[name] != "" {
				r.ignore(name)
			}
		}
		if len(r.of.Body) > 0 || r.of.Unread {
			r.ignore("body")
		}
		return
	}
	if text := r.of.Values["exit"]; text != "" {
		p.ExitCode = r.exit("exit", text)
	}
	p.Took = job.Duration(r.seconds("took", false))
	p.Message = clip.Text(valid(r.of.Values["message"]), bus.MaxPingMessage-len("…"))
	p.Output, p.OutputCut = r.of.output()
}

func (r *reading) key() string {
	key := r.of.Values["run"]
	if key != "" && (len(key) > bus.MaxPingKey || !runKey.MatchString(key)) {
		r.ignore("run")
		return ""
	}
	return key
}

// seconds reads a number of seconds. One that is negative is an error if it must not be, else it is passed over.
func (r *reading) seconds(name string, strict bool) time.Duration {
	text := r.of.Values[name]
	if text == "" {
		return 0
	}
	s, err := strconv.ParseFloat(text, 64)
	if strict && err == nil && s < 0 {
		r.errs = append(r.errs, job.Invalid(name, "%s must not be negative: it is for how many seconds it has been so", clip.Text(text, 32)))
		return 0
	}
	if err != nil || math.IsNaN(s) || s < 0 {
		r.ignore(name)
		return 0
	}
	return time.Duration(min(s, maxSeconds)*1000) * time.Millisecond
}

// maxSeconds bounds what is read as seconds: a hundred years.
const maxSeconds = 100 * 366 * 24 * 3600

func (r *reading) offset() *int {
	text := r.of.Values["offset"]
	if text == "" {
		return nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < -maxOffset || n > maxOffset {
		r.ignore("offset")
		return nil
	}
	return &n
}

// allowedBy returns the methods by which pings may come to a job, as it names them or all of them, and whether the
// message's is among them.
func (m *Message) allowedBy(methods []string) (all []string, allowed bool) {
	if len(methods) == 0 {
		methods = job.WatchMethods
	}
	for _, method := range methods {
		if all = append(all, method); method == http.MethodPost {
			all = append(all, http.MethodPut)
		}
	}
	return all, slices.Contains(all, m.Method)
}

// newID returns the id of a ping.
func newID() string {
	var id [8]byte
	_, _ = rand.Read(id[:]) // it never fails
	return hex.EncodeToString(id[:])
}

// valid returns text as UTF-8.
func valid(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }
