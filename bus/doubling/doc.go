// Package doubling chooses which of many like events to log, so that no outsider can fill a log: of
// each key the first event of an hour, and then each whose number is a power of two.
package doubling
