// Package alerting holds the words and rules of alerts: what a [Rule] looks for, what a
// [Channel] is, and how an [Incident] goes on, from the finding that opens it to the
// deliveries that it owes.
//
// What people are told is a [Sentence]: a code and parameters, which an incident keeps beside
// the English text. The table of all of them, in English and Chinese, is in codes.go. Messages are
// in the language and zone of their channel, the console in those of whoever looks.
//
// Nothing here sends, stores or reads the clock. Package alert does, by what these say.
package alerting

//go:generate go test -run ^TestTheConsoleHasTheSameSentences$ . -update
