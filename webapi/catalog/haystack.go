package catalog

import "strings"

// haystack is what a search looks at: the texts of all jobs on the index's list, one
// behind the other. To look through one long text takes a fraction of the time that
// as many short ones take, each of which is somewhere else in memory.
type haystack struct {
	text  string
	begin []int // of each job's text; one more at the end
}

func newHaystack(list []*indexed) *haystack {
	h := &haystack{begin: make([]int, 0, len(list)+1)}
	var all strings.Builder
	for _, j := range list {
		h.begin = append(h.begin, all.Len())
		all.WriteString(j.text)
		all.WriteByte(0) // no text that is searched for goes on in the next one
	}
	h.begin = append(h.begin, all.Len())
	h.text = all.String()
	return h
}

// find calls yield with the place on the list of each job from one place to before another
// whose text contains needle, which is not empty.
func (h *haystack) find(needle string, from, to int, yield func(at int)) {
	if strings.ContainsRune(needle, 0) {
		return
	}
	at := from
	for pos := h.begin[from]; ; {
		i := strings.Index(h.text[pos:h.begin[to]], needle)
		if i < 0 {
			return
		}
		for h.begin[at+1] <= pos+i {
			at++
		}
		yield(at)
		at++
		pos = h.begin[at]
	}
}
