// Package clickhouse is a log store in a ClickHouse server or cluster, which several
// programs share.
//
// # Tables
//
//	runs        attempts of runs and their pieces, in rows that cancel out
//	run_events  what a row of runs cannot tell of its timeline
//	run_logs    lines of logs, a part for each day and class of retention
//	report_*    what became of runs by minute, hour and day; views of runs add them up
//	facts       what happened beside runs, by revision; of the audit log it is audit_log
//
// A row of runs is never changed. When an attempt changes, a row with sign -1 takes back
// the one that was, column by column the same, and another holds what is now. So a sum
// over sign is exact at any moment, for any filter, and no query needs FINAL: one that a
// filter lets in, it lets in with the one that cancels it. Merges drop the pairs. A page
// asks for some rows more than it shows, and again if too many cancelled out.
//
// # Writing
//
// A write looks for the rows of its runs, merges the updates into them, and inserts the changes as
// one columnar block, under a token that names the batch. A caller that does not know what became
// of a write repeats it under its token; what is to be written is then worked out from the rows of
// other batches, so it is the same block again, and ClickHouse takes the parts that it lacks. If
// rows have been merged away since, the block differs: then today's reports are counted again;
// older days are for Repair. A repeat under another token changes nothing, so it writes nothing.
// All that needs one writer at a time, which repeats a failed write before the next one: ingest's
// lease and its turns ensure that. A write of lines does not look for rows: of two lines with one
// number, the first one is shown, and the other one goes when parts are merged.
//
// # Below
//
// The address and the schema are in [github.com/carillon-scheduler/carillon/logstore/clickhouse/database],
// and people's SQL in [github.com/carillon-scheduler/carillon/logstore/clickhouse/ask].
package clickhouse
