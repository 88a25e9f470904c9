package bus

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"hash"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/job"
)

// HeaderToken binds a message to an attempt. The owner of a shard puts a token on each
// trigger, and the executor that gets the trigger sends it back, unchanged, with each
// event and each batch of log lines of the attempt. It is a secret of the servers and of
// the executors of one group: it belongs in no log, dead letter, answer or environment.
const HeaderToken = "Carillon-Token"

// A token is the id of a key, a dot, and the beginning of an HMAC-SHA256 with that key, in
// base64url. The terms of its attempt may follow, which the MAC covers.
const (
	keyIDSize  = 8 // in hexadecimal digits
	macSize    = 16
	secretSize = 32
)

// What a token says begins with one of these, so that no token for one thing is a token
// for another.
const (
	domainAttempt = "carillon attempt 1\x00" // its holder was given the attempt
	domainServer  = "carillon server 1\x00"  // a server says exactly this
	domainPing    = "carillon ping 1\x00"    // names a ping, and says nothing
)

// signsAfter is how old a key must be to sign: by then all servers know it.
const signsAfter = time.Minute

// Tokens makes and checks tokens with the keys of the cluster, which only servers have.
// Without keys it refuses everything. It is safe for concurrent use.
type Tokens struct {
	keys atomic.Pointer[[]*tokenKey] // oldest first
}

// NewTokens returns tokens of a key of their own. Those of a cluster are those of its connection.
func NewTokens() *Tokens {
	t := &Tokens{}
	t.use([]*tokenKey{newTokenKey(time.Now())})
	return t
}

// tokenKey is a key with its id.
type tokenKey struct {
	ID        string    `json:"id"`
	CreatedAt time.Time `json:"created_at"`
	Secret    []byte    `json:"secret"`

	macs sync.Pool // of *mac
}

func newTokenKey(now time.Time) *tokenKey {
	random := make([]byte, keyIDSize/2+secretSize)
	_, _ = rand.Read(random) // never fails: it ends the program rather than return an error
	return &tokenKey{ID: hex.EncodeToString(random[:keyIDSize/2]), CreatedAt: now.UTC().Truncate(time.Millisecond), Secret: random[keyIDSize/2:]}
}

// check returns an *InvalidError when nobody of ours has made k.
func (k *tokenKey) check() error {
	if len(k.ID) != keyIDSize || strings.Trim(k.ID, "0123456789abcdef") != "" || len(k.Secret) != secretSize {
		return job.Invalid("keys", "is not valid")
	}
	return nil
}

// mac computes MACs with one key. Its buffers are used again.
type mac struct {
	hash hash.Hash
	text []byte
	sum  [sha256.Size]byte
}

// sign calls use with the MAC of what text appends, followed by data.
func (k *tokenKey) sign(text func([]byte) []byte, data []byte, use func(sum []byte)) {
	m, ok := k.macs.Get().(*mac)
	if !ok {
		m = &mac{hash: hmac.New(sha256.New, k.Secret), text: make([]byte, 0, 256)}
	}
	m.hash.Reset()
	m.text = text(m.text[:0])
	_, _ = m.hash.Write(m.text) // never fails
	_, _ = m.hash.Write(data)
	use(m.hash.Sum(m.sum[:0])[:macSize])
	k.macs.Put(m)
}

// token returns the token for what text appends, followed by data.
func (k *tokenKey) token(text func([]byte) []byte, data []byte) string {
	var token string
	k.sign(text, data, func(sum []byte) {
		var b [keyIDSize + 1 + 24]byte
		token = string(base64.RawURLEncoding.AppendEncode(append(append(b[:0], k.ID...), '.'), sum))
	})
	return token
}

// attempt names an attempt of a run, or one piece of it.
type attempt struct {
	job     job.Name
	run     job.RunID
	attempt int
	Piece
	terms terms
}

// append appends what a token for the attempt says. Neither a name nor an id has a zero
// byte, so no two attempts say the same.
func (a *attempt) append(dst []byte) []byte {
	dst = append(dst, domainAttempt...)
	dst = append(append(dst, a.job...), 0)
	dst = append(append(dst, a.run...), 0)
	for _, n := range [...]int{a.attempt, a.Index, a.Total} {
		dst = append(strconv.AppendInt(dst, int64(n), 10), 0)
	}
	return a.terms.append(dst)
}

// appendServer appends how what a server says begins, of a message of some kind.
func appendServer(dst []byte, kind string) []byte {
	return append(append(append(dst, domainServer...), kind...), 0)
}

// NewTokenKeys returns the keys of a new cluster, as bucket CLUSTER keeps them: one.
func NewTokenKeys(now time.Time) ([]byte, error) {
	return json.Marshal(storedKeys{[]*tokenKey{newTokenKey(now)}})
}

// Use makes and checks tokens with the keys that the bucket keeps. The error is an
// *InvalidError; then t has the keys that it had.
func (t *Tokens) Use(data []byte) error {
	var stored storedKeys
	err := json.Unmarshal(data, &stored)
	if err == nil && len(stored.Keys) == 0 {
		err = job.Invalid("keys", "is missing")
	}
	for _, k := range stored.Keys {
		if err == nil {
			err = k.check()
		}
	}
	if err != nil {
		return err
	}
	slices.SortStableFunc(stored.Keys, func(a, b *tokenKey) int { return a.CreatedAt.Compare(b.CreatedAt) })
	t.use(stored.Keys)
	return nil
}

// use makes t sign and check with keys; there must be one at least.
func (t *Tokens) use(keys []*tokenKey) { t.keys.Store(&keys) }

// signer returns the key that signs at an instant: the newest that all servers know.
func (t *Tokens) signer(now time.Time) *tokenKey {
	all := t.keys.Load()
	if all == nil {
		panic("BUG: a token is to be made, and the keys of the cluster have not been read")
	}
	best := (*all)[0]
	for _, k := range (*all)[1:] {
		if now.Sub(k.CreatedAt) >= signsAfter {
			best = k
		}
	}
	return best
}

// Trigger returns the token of a trigger. Its holder may report about the trigger's
// attempt, or its piece, and about nothing else. Without repeats, the job has no rule
// for further attempts, and the holder may not report that one follows. The token has the
// trigger's time limits, so that every reader of an end knows them.
func (t *Tokens) Trigger(tr *Trigger, repeats bool, now time.Time) string {
	a := attempt{tr.Job, tr.RunID, tr.Attempt, tr.Piece, termsOf(tr, repeats)}
	token := t.signer(now).token(a.append, nil)
	if a.terms == (terms{}) {
		return token
	}
	return string(a.terms.append([]byte(token)))
}

// ServerEvent returns e as a message for EVT that a server says itself. JetStream takes it
// whatever an executor has said of the attempt: that may be what readers refuse.
func (t *Tokens) ServerEvent(e *Event, now time.Time) (*nats.Msg, error) {
	m, err := e.Msg("")
	if err != nil {
		return nil, err
	}
	t.Vouch(m, now)
	m.Header.Set(nats.MsgIdHdr, m.Header.Get(nats.MsgIdHdr)+":"+m.Header.Get(HeaderToken))
	return m, nil
}

// Vouch signs a message, an event or log lines, as the word of a server, which may say
// anything about any run. The token holds for exactly these bytes.
func (t *Tokens) Vouch(m *nats.Msg, now time.Time) {
	kind := m.Header.Get(HeaderMessage)
	m.Header[HeaderToken] = []string{t.signer(now).token(func(dst []byte) []byte { return appendServer(dst, kind) }, m.Data)}
}

// speaker is who has said something.
type speaker int

const (
	nobody   speaker = iota
	executor         // it was given the attempt
	server
)

// speaker returns who has sent data of some kind about an attempt, with that token. The error is an
// *InvalidError for [HeaderToken] if the sender may not: then nothing else in the
// data can be trusted. It notes the terms of the attempt in a.
func (t *Tokens) speaker(token, kind string, data []byte, a *attempt) (speaker, error) {
	if token == "" {
		return nobody, job.Invalid(HeaderToken, "is missing: send back that of the trigger")
	}
	id, sum, signed, ok := parseToken(token)
	if ok {
		a.terms, ok = parseTerms(signed)
	}
	if !ok {
		return nobody, job.Invalid(HeaderToken, "is no token: send back that of the trigger, unchanged")
	}
	k := t.key(id)
	if k == nil {
		return nobody, job.Invalid(HeaderToken, "is of key %s, which this cluster does not have", id)
	}
	equal := false
	compare := func(want []byte) { equal = subtle.ConstantTimeCompare(sum[:], want) == 1 }
	if k.sign(a.append, nil, compare); equal {
		return executor, nil
	}
	if k.sign(func(dst []byte) []byte { return appendServer(dst, kind) }, data, compare); equal {
		return server, nil
	}
	return nobody, job.Invalid(HeaderToken, "is not that of attempt %d of run %s of job %s", a.attempt, a.run, a.job)
}

func (t *Tokens) key(id string) *tokenKey {
	if all := t.keys.Load(); all != nil {
		for _, k := range *all {
			if k.ID == id {
				return k
			}
		}
	}
	return nil
}

// canonical takes each MAC in one spelling only.
var canonical = base64.RawURLEncoding.Strict()

// parseToken returns the parts of a token.
func parseToken(token string) (id string, sum [macSize]byte, terms string, ok bool) {
	id, text, found := strings.Cut(token, ".")
	length := canonical.EncodedLen(macSize)
	if !found || len(id) != keyIDSize || strings.Trim(id, "0123456789abcdef") != "" || len(text) < length {
		return "", sum, "", false
	}
	_, err := canonical.Decode(sum[:], []byte(text[:length]))
	return id, sum, text[length:], err == nil
}

// storedKeys is the value there. A key stays for as long as a trigger with a token of it
// may wait.
type storedKeys struct {
	Keys []*tokenKey `json:"keys"`
}
