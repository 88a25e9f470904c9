// Package bench measures the parts of the system on this machine, each against an embedded NATS and in
// a directory of its own. Each benchmark is a file. "carillon bench" has those that users need, and
// internal/benchtool has the others.
package bench
