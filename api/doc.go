// Package api is the contract of the HTTP API: [Contract] itself, the models that are
// generated from it, and what a refusal means.
//
// It is imported by the server (package webapi) and by clients, and links neither. Words of
// the domain come from package job and those below it; what is only said over HTTP has its
// model here.
package api

import _ "embed"

//go:generate oapi-codegen -config oapi-codegen.yaml openapi.yaml

// Contract is openapi.yaml. It must not be changed.
//
//go:embed openapi.yaml
var Contract []byte
