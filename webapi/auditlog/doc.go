// Package auditlog gives each change that is made through the HTTP API its entry in the audit log,
// and finds entries again.
//
// [Recorder.Record] makes a change: it is not begun unless its entry is sure to be kept. While it is
// made, [Entry] is that entry, and [Describe] says in it what was changed. Package audit keeps the
// log itself, on a stream. Entries move on to the log store, and [Recorder.Find] reads both.
package auditlog
