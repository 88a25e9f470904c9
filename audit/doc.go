// Package audit keeps one entry for each change that somebody made: who, how, from
// where, to what, and what it was before and after.
//
// Entries are on the stream AUDIT, which takes no deletion and no purge, not even by
// whoever has all rights on it; only the oldest go when it is full.
//
//	Begin ──▶ intent in ACCESS ──▶ the change ──▶ End ──▶ entry on AUDIT, intent gone
//	                                  └─ crash ──▶ Settle ──▶ entry "unknown"
//
// # Guarantees
//
// A change that was made has exactly one entry. It is not begun before it is certain
// that it will have one; and when the server dies in the middle, another one, or its
// successor, records that the outcome is not known. A request that was refused has
// none.
//
// # What it does not do
//
// What is written to NATS past the API has no entry: whoever can do that is trusted.
package audit
