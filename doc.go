// Package carillon holds the files at the root of the repository that the
// program carries inside it.
//
// It imports nothing. The packages of the system are in the folders beside it;
// docs/explanation/architecture.md shows how they fit together.
package carillon

import _ "embed" // for the directive below

// NATSConf is the text of nats.conf, the configuration of the embedded server
// and of the servers in tests, so that all three are one.
//
//go:embed nats.conf
var NATSConf string
