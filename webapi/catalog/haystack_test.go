package catalog

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestASearchOfOneLongTextFindsWhatThatOfEachFinds(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	word := func(most int) string {
		b := make([]byte, r.IntN(most+1))
		for i := range b {
			b[i] = "ab"[r.IntN(2)]
		}
		return string(b)
	}
	for range 2000 {
		list := make([]*indexed, r.IntN(8))
		for i := range list {
			list[i] = &indexed{text: word(6)}
		}
		h, needle := newHaystack(list), word(3)+"a"
		from := r.IntN(len(list) + 1)
		to := from + r.IntN(len(list)-from+1)
		var got, want []int
		h.find(needle, from, to, func(at int) { got = append(got, at) })
		for i := from; i < to; i++ {
			if strings.Contains(list[i].text, needle) {
				want = append(want, i)
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%q in [%d, %d) of %q: %v, want %v", needle, from, to, h.text, got, want)
		}
	}
}
