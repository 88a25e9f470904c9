package bus

import (
	"bytes"
	"strconv"

	"github.com/nats-io/nats.go"

	"github.com/carillon-scheduler/carillon/job"
)

// Bounds of a pack of triggers. Its size is that of its data, in bytes.
const (
	MaxTriggers     = 16
	MaxTriggersSize = 16 << 10
)

// HeaderPack is the name of the header of a trigger that was in a pack before: it is the sequence of the
// pack on the stream, from which the trigger has been taken. [HeaderPackBack] is there, too, if all who
// got the pack have given it back.
const (
	HeaderPack     = "Carillon-Pack"
	HeaderPackBack = "Carillon-Pack-Given-Back"
)

// PackedTrigger is a trigger in a pack: its data, as [AppendTrigger] encodes it, and its token.
type PackedTrigger struct {
	Token string
	Data  []byte
}

// AppendPacked appends a trigger to the data of a pack.
func AppendPacked(pack []byte, token string, data []byte) []byte {
	if len(pack) > 0 {
		pack = append(pack, '\n')
	}
	return append(append(append(pack, token...), ' '), data...)
}

// IsPack reports whether a message is a pack of triggers: one message for attempts of several runs. Who
// gets it first may begin all of them, and acknowledges it once the ends of all are stored. In any other
// case a server takes it apart.
func IsPack(header nats.Header) bool { return header.Get(HeaderMessage) == MessageTriggers }

// Unpack returns the triggers in the data of a pack. The error is an *InvalidError.
func Unpack(data []byte) ([]PackedTrigger, error) {
	if len(data) > MaxTriggersSize {
		return nil, job.Invalid("triggers", "has %d bytes; at most %d are allowed", len(data), MaxTriggersSize)
	}
	all := make([]PackedTrigger, 0, MaxTriggers)
	for line := range bytes.SplitSeq(data, []byte{'\n'}) {
		token, text, ok := bytes.Cut(line, []byte{' '})
		if !ok || len(all) == MaxTriggers {
			return nil, job.Invalid("triggers", "is not valid")
		}
		all = append(all, PackedTrigger{string(token), text})
	}
	return all, nil
}

// TakenApart returns a trigger of a pack, which was stored at a sequence, as a message of its own. Somebody may
// have its attempt, or have ended it, so only a server may hand it out. back says that all who got the pack
// have given it back.
func (p PackedTrigger) TakenApart(subject string, seq uint64, back bool) *nats.Msg {
	m := NewMessage(subject, MessageAgain, p.Data)
	m.Header[HeaderToken] = []string{p.Token}
	m.Header[HeaderPack] = []string{strconv.FormatUint(seq, 10)}
	if back {
		m.Header[HeaderPackBack] = []string{"true"}
	}
	return m
}

// PackOf returns the sequence of the pack from which a trigger was taken; 0 if it was in none.
func PackOf(header nats.Header) uint64 {
	seq, err := strconv.ParseUint(header.Get(HeaderPack), 10, 64)
	if err != nil {
		return 0
	}
	return seq
}

// DecodeTriggers returns the triggers in a message: one, or those of a pack. A server may read them, and
// an executor those of a pack. The error is an *InvalidError; then some of them may be missing.
func DecodeTriggers(header nats.Header, data []byte) ([]*Trigger, error) {
	if !IsPack(header) {
		t, err := DecodeTrigger(header, data)
		if err != nil {
			return nil, err
		}
		return []*Trigger{t}, nil
	}
	packed, err := Unpack(data)
	all := make([]*Trigger, 0, len(packed))
	for _, p := range packed {
		t, wrong := DecodeTrigger(nil, p.Data)
		if wrong != nil {
			err = wrong
			continue
		}
		all = append(all, t)
	}
	return all, err
}
