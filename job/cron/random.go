package cron

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// random matches a random value of cronie and OpenBSD: 1~30, where either number may be absent, and a step.
var random = regexp.MustCompile(`^([0-9A-Za-z]*)~([0-9A-Za-z]*)(/[0-9]+)?$`)

// hashOf returns the H that stands for a random value, such as H(1-30) for 1~30. ok is false where the
// text is none, or is wrong.
func (f *field) hashOf(item string) (h string, ok bool) {
	m := random.FindStringSubmatch(item)
	if m == nil || f.index < 0 {
		return "", false
	}
	h = "H"
	if m[1]+m[2] != "" {
		h += "(" + cmp.Or(m[1], strconv.Itoa(f.low)) + "-" + cmp.Or(m[2], strconv.Itoa(f.high)) + ")"
	}
	h += m[3]
	s := scanner{field: f, item: h}
	if _, err := s.span(); err != nil || s.end() != nil {
		return "", false
	}
	return h, true
}

// WithoutRandom returns five fields with an H for each random value, such as "H(1-30) * * * *" for
// "1~30 * * * *", and the values that were replaced. The text stays as it is if it has none.
func WithoutRandom(text string) (fields string, replaced []string) {
	f := split(text)
	grammar := []*field{&unixMinute, &unixHour, &unixDom, &unixMonth, &unixDow}
	if len(f) != len(grammar) {
		return text, nil
	}
	for i, field := range grammar {
		items := strings.Split(f[i], ",")
		for n, item := range items {
			if h, ok := field.hashOf(item); ok {
				items[n] = h
				replaced = append(replaced, item)
			}
		}
		f[i] = strings.Join(items, ",")
	}
	if replaced == nil {
		return text, nil
	}
	return strings.Join(f, " "), slices.Compact(replaced)
}
