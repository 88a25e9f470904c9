// Package percentile tells how large most of several values are.
package percentile

import "cmp"

// Of returns the value below or at which p of 100 lie, of values that are sorted. There must be one.
func Of[T cmp.Ordered](sorted []T, p int) T {
	return sorted[max((len(sorted)*p+99)/100-1, 0)]
}
