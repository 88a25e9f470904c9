package bustest

import (
	"bytes"
	"fmt"
	"net"
	"regexp"
	"sync"
)

// fault says in which directions a link loses what is sent.
type fault struct {
	toBroker, toClient bool
	lags               bool   // consumers are made where nothing is stored yet
	deposed            bool   // the leader is asked for what it has not, and says that it has nothing
	deposedBy          string // a request; deposed from the first that has it in it, if not empty
	noAcks             bool   // acknowledgements get lost
	noEvtAcks          bool   // that an event is stored is said in words that nobody understands
}

// loses reports whether bytes get lost.
func (f fault) loses() bool { return f.toBroker || f.toClient }

// link is a client's end of a connection.
type link struct {
	net.Conn
	closed func() // called once when the link is closed

	once sync.Once

	mu    sync.Mutex
	fault fault
	hurt  bool // has ever had a fault

	silent *regexp.Regexp // see Broker
}

func (l *link) silence(stream *regexp.Regexp) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.silent = stream
}

func (l *link) set(f fault) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fault = f
	l.hurt = l.hurt || f.loses()
}

func (l *link) now() fault {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.fault
}

// unheard returns p, of the same length, with what is sent about a silent stream sent to nobody.
func (l *link) unheard(p []byte) []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.silent == nil {
		return p
	}
	return l.silent.ReplaceAll(p, []byte("${1}X${2}${3}"))
}

// damaged reports whether bytes may be missing.
func (l *link) damaged() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.hurt
}

// Read keeps on reading what it drops, so that the broker never sees a peer that
// is slow to read.
func (l *link) Read(p []byte) (int, error) {
	for {
		n, err := l.Conn.Read(p)
		f := l.now()
		if err == nil && f.toClient {
			continue
		}
		if f.deposed {
			copy(p, lastSeq.ReplaceAllFunc(p[:n], nothing))
		}
		if f.noEvtAcks {
			copy(p, bytes.ReplaceAll(p[:n], []byte(`{"stream":"EVT"`), []byte(`!"stream":"EVT"`)))
		}
		return n, err
	}
}

func (l *link) Write(p []byte) (int, error) {
	f := l.now()
	if f.toBroker {
		return len(p), nil
	}
	p = l.unheard(p)
	if f.lags {
		p = behind(p)
	}
	if f.deposedBy != "" && bytes.Contains(p, []byte(f.deposedBy)) {
		f.deposed, f.deposedBy = true, ""
		l.set(f)
	}
	if f.deposed {
		p = unknown(p)
	}
	if f.noAcks {
		p = bytes.ReplaceAll(p, []byte("\r\n+ACK\r\n"), []byte("\r\n+WPI\r\n"))
	}
	return l.Conn.Write(p)
}

var (
	startSeq  = regexp.MustCompile(`"opt_start_seq":[0-9]+`)
	startTime = regexp.MustCompile(`"opt_start_time":"[0-9]{4}`)
	pageOf    = regexp.MustCompile(`("seq":[0-9]+,"next_by_subj":")[^"]([^"]*","batch")`)
	keyRead   = regexp.MustCompile(`(\$JS\.API\.DIRECT\.GET\.[^ .]+\.)[^ ]`)
	leaderGet = regexp.MustCompile(`\$JS\.API\.STREAM\.MSG\.GET\.[^\r]+\r\n\{[^}]*\}`)
	messageAt = regexp.MustCompile(`"seq":[0-9]+`)
	ofSubject = regexp.MustCompile(`"(last|next)_by_subj":"[^"]`)
	lastSeq   = regexp.MustCompile(`"last_seq":[0-9]+`)
	fromStart = regexp.MustCompile(`"deliver_policy":"(all|last_per_subject)"`)
)

// behind returns p, of the same length, with requests for consumers changed so that they begin at
// the end of the stream, and direct reads so that they are of a subject without messages: they find
// what a replica has that lags behind.
func behind(p []byte) []byte {
	p = startSeq.ReplaceAllFunc(p, nines)
	p = pageOf.ReplaceAll(p, []byte("${1}!${2}"))
	p = keyRead.ReplaceAll(p, []byte("${1}!"))
	p = startTime.ReplaceAll(p, []byte(`"opt_start_time":"9999`))
	return fromStart.ReplaceAllFunc(p, func(field []byte) []byte {
		changed := []byte(`"deliver_policy":"new"`)
		return append(changed, bytes.Repeat([]byte(" "), len(field)-len(changed))...)
	})
}

// unknown returns p, of the same length, with requests for single messages changed so that the
// leader of their stream finds none.
func unknown(p []byte) []byte {
	return leaderGet.ReplaceAllFunc(p, func(request []byte) []byte {
		return ofSubject.ReplaceAll(messageAt.ReplaceAllFunc(request, nines), []byte(`"${1}_by_subj":"!`))
	})
}

// nines returns a field with the greatest number that has as many digits.
func nines(field []byte) []byte {
	key, digits, _ := bytes.Cut(field, []byte(":"))
	return append(append(bytes.Clone(key), ':'), bytes.Repeat([]byte("9"), len(digits))...)
}

// nothing returns a field with 0, of the same length.
func nothing(field []byte) []byte {
	key, digits, _ := bytes.Cut(field, []byte(":"))
	return append(append(bytes.Clone(key), ':'), fmt.Appendf(nil, "%*d", len(digits), 0)...)
}

func (l *link) Close() error {
	l.once.Do(l.closed)
	return l.Conn.Close()
}
