// Package export answers with files: a list as NDJSON or CSV, however long, and answers to SQL. A
// file is written as it is read, a page at a time. What cannot be read any more ends the connection,
// so that a part does not pass for the whole.
package export
