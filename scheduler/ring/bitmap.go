package ring

import "math/bits"

const wordCount = (listCount + 63) / 64

// bitmap is a set of lists whose lowest member is found in a few steps.
type bitmap struct {
	words   [wordCount]uint64
	summary [(wordCount + 63) / 64]uint64 // the words that are not 0
}

func (b *bitmap) set(i int) {
	b.words[i/64] |= 1 << (i % 64)
	b.summary[i/64/64] |= 1 << (i / 64 % 64)
}

func (b *bitmap) clear(i int) {
	b.words[i/64] &^= 1 << (i % 64)
	if b.words[i/64] == 0 {
		b.summary[i/64/64] &^= 1 << (i / 64 % 64)
	}
}

// first returns the lowest member, or listCount if there is none.
func (b *bitmap) first() int {
	for i, s := range b.summary {
		if s != 0 {
			w := i*64 + bits.TrailingZeros64(s)
			return w*64 + bits.TrailingZeros64(b.words[w])
		}
	}
	return listCount
}
