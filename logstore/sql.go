package logstore

import "context"

// Asked is a store that answers people's own SQL. The caller sees all that is in it.
type Asked interface {
	// Ask runs one statement that only reads, until ctx is done. The error is
	// job.ErrInvalid, with what the store says to it, when the statement is wrong, is not
	// allowed or takes too much; job.ErrConflict when the store is not set up for it, or
	// when it would let people read the audit log, and audit says that they may not.
	Ask(ctx context.Context, statement string, audit bool) (Answer, error)
}

// AnswerColumn is a column of an answer, with its type in the store's words.
type AnswerColumn struct {
	Name string `json:"name"`
	Type string `json:"type"`
}

// Answer is what a statement gives, row by row. It belongs to one goroutine.
type Answer interface {
	Columns() []AnswerColumn
	// Next returns the next row: nil, booleans, numbers, texts, and slices and maps of
	// such. At the end it returns nil; its errors are those of Ask.
	Next() ([]any, error)
	// Close ends the statement, if it has not ended.
	Close() error
}
