// Package journal has what a shard's owner stores in TRIG beside triggers: the [Cursor] that says how
// far it has come, a [Deferred] item for all that it must still do, and a [Record] of what it decided.
// A batch of these is atomic, so the three never contradict one another. Executors read none of them.
package journal
