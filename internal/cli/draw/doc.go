// Package draw shows answers to people and to programs: text in columns, YAML, and numbers and
// times as people read them. It also shields a terminal from what jobs and users have written.
//
// It knows no command and asks no server.
package draw
