// Package alerting holds the words and rules of alerts: what a [Rule] looks for, what a
// [Channel] is, and how an [Incident] goes on, from the finding that opens it to the
// deliveries that it owes.
//
// Nothing here sends, stores or reads the clock. Package alert does, by what these say.
package alerting
