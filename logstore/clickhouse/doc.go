// Package clickhouse is a log store in a ClickHouse server or cluster, which several
// programs share.
//
// # Tables
//
//	runs        one row for each attempt, written when it has ended
//	run_events  what is said about it before that, and ends that came too late
//	run_open    which attempts may be under way; a view of run_events fills it
//	run_logs    lines of logs, a part for each day and class of retention
//
// So history is read without FINAL, and what is under way from a table that stays
// small. A page of runs is merged from both, and completed with the events of the
// runs on it.
//
// # Writing
//
// A write inserts columnar blocks under a token that names the batch, so ClickHouse
// leaves out a block that it has: a caller that does not know what became of a write
// repeats it under its token. What repeats under another token is found by looking
// for the ends that are there before others are written. That needs one writer at a
// time, which ingest's lease sees to. Lines are not looked for: of two with one
// number the first written is shown, and the other goes when parts are merged.
//
// # What it does not do yet
//
// It keeps the first end of an attempt, be it an event's or a record's, and does not
// know Retrying, parents and pieces: lists have a row for each attempt, and updates
// of pieces are not kept, though their lines are. logstoretest.RunAttempts says what
// is to be done.
//
// # Schema
//
// Migrations are numbered templates, for one server or for a cluster of replicas and
// shards. Each is recorded with its checksum, and may be begun again at any point.
package clickhouse
