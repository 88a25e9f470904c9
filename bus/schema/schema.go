// Package schema has a JSON Schema (2020-12) of each message of the protocol of executors, as
// docs/reference/protocol.md describes them. They refer to common.json.
package schema

import "embed"

// Files are the schemas, each in NAME.json.
//
//go:embed *.json
var Files embed.FS
