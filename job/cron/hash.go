package cron

import "math/bits"

// hashed returns the number from 0 to n-1 that H stands for in a field; n must be
// from 1 to 60. It is part of the format: a change would move every job that has an H,
// so it never changes.
//
// The seed, a hash of the job, and the field's index (second 0, minute 1, hour 2, day
// of month 3, month 4, day of week 5, in both dialects) are mixed as by SplitMix64,
// and the 64 bits are scaled to n by multiplication, which favours no number by more
// than n/2^64. Fields lie one step of SplitMix64 apart, so they are independent.
func hashed(seed uint64, index, n int) int {
	x := seed
	for range index + 1 {
		x += 0x9e3779b97f4a7c15
	}
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	x ^= x >> 31
	scaled, _ := bits.Mul64(x, uint64(n)) //nolint:gosec // n is small and positive
	return int(scaled)                    //nolint:gosec // below n
}
