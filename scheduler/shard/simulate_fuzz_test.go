package shard

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"
)

// choices decides by the bytes of a fuzzer's input, two of them for each choice, and by chance
// once they are used up.
type choices struct {
	given []byte
	rest  *rand.PCG
}

func (c *choices) Uint64() uint64 {
	if len(c.given) < 2 {
		return c.rest.Uint64()
	}
	chosen := uint64(binary.BigEndian.Uint16(c.given))
	c.given = c.given[2:]
	return chosen * 0x0001_0001_0001_0001 // package rand takes the high bits of some, the low ones of others
}

// choicesEach is about how many choices an operation takes.
const choicesEach = 4

// FuzzHistoriesKeepTheFirstPromise lets the fuzzer choose what happens to a shard's machine: saves,
// owners that come, go and are frozen, answers that get lost, ends, clocks. A history that
// breaks is found again by its input.
func FuzzHistoriesKeepTheFirstPromise(f *testing.F) {
	for seed := range uint64(8) {
		random := rand.New(rand.NewPCG(seed, 2))
		input := make([]byte, 400)
		for i := range input {
			input[i] = byte(random.Uint32())
		}
		f.Add(input)
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		length := min(len(input)/(2*choicesEach), chaosLength)
		w, err := playBy(&choices{given: input, rest: rand.NewPCG(1, uint64(len(input)))}, length)
		if err != nil {
			t.Fatalf("%v\nafter %q", err, w.story[max(0, len(w.story)-40):])
		}
	})
}
