// Package ring orders ids by the instant at which they are due.
//
// A shard has one Ring. It arms each of its jobs and deferred items in it under
// a small dense id, sleeps until NextAt, and takes what Due returns. The ring
// reads no clock and starts no goroutine; instants are Unix milliseconds and
// everything is exact to the millisecond, although the slots are coarser.
//
// # Lists and position
//
// Time is cut into ticks of 10 ms. The ring has a position, the tick up to
// which it has handed everything over, and one list for each stretch of time
// ahead of it:
//
//	position
//	   │◀─ near: 8192 ticks ─▶│◀── far: 2048 buckets of 81.92 s ──▶│◀─ beyond ─▶
//	┌──▼┬───┬───┬───┬─ ─ ─┬───┼────────┬────────┬─ ─ ─ ─ ─┬────────┼─ ─ ─ ─ ─ ─
//	│10 │10 │10 │10 │     │10 │ 81.92s │ 81.92s │         │ 81.92s │ one list
//	└───┴───┴───┴───┴─ ─ ─┴───┴────────┴────────┴─ ─ ─ ─ ─┴────────┴─ ─ ─ ─ ─ ─
//
// The stretches are aligned, as the digits of a number are: near is the rest of
// the bucket that the position is in, far the rest of its epoch (2048 buckets,
// about 46.6 hours), beyond all that is later. So the list an instant belongs to
// is a pure function of the instant and the position (place), and lists in
// ascending order are stretches of time in ascending order. When the position
// enters a bucket, the bucket's list is spread over the near ones; when it
// enters an epoch, so is the list beyond. An id moves at most twice, but for
// those that stay beyond, which are looked at once an epoch.
//
// # Truth and hints
//
// What an id is armed at is kept in one array, by id; that is the truth. The
// lists hold hints: "have a look at this id by then". Two rules follow:
//
//   - An armed id has a hint in the list that its instant belongs to.
//   - A hint counts only if its id is armed at an instant of that list.
//
// Cancelling therefore touches the array only, and re-arming leaves the old hint
// where it is: it is found stale when its list is next read. An id cancelled and
// armed again may have two hints in a list; the first one read disarms it, which
// makes the second stale. This takes the place of generation numbers, so a hint
// is four bytes. Stale hints never outnumber the ids by more than a constant
// factor: beyond it, the lists are rebuilt from the array, at a cost that the
// calls which left them have paid for.
//
// # Clocks
//
// Time may jump ahead by years: empty stretches are skipped by a bitmap, so the
// cost is that of the ids found. It may also step back: what is armed before the
// position waits in the position's own list, and the first Due that finds such an
// id due moves the position back, which rebuilds the lists once.
package ring
