// Package bench is "carillon bench": it measures the parts of the system on this machine, each
// against an embedded NATS and in a directory of its own. Each benchmark is a file.
package bench
