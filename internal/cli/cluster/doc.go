// Package cluster has the commands of the system as a whole: its nodes, NATS and the log store,
// retention, dead letters, events, diagnostics and versions.
package cluster
