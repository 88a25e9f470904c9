// Package client talks to the HTTP API that api/openapi.yaml describes.
//
// The requests and models are generated from the contract. Written by hand is what a
// contract cannot say: how an answer becomes a value or an error that [errors.Is]
// knows ([Read]), pages that are joined ([Jobs], [Runs]), and a log that is followed
// across lost connections ([API.Tail]).
package client

//go:generate oapi-codegen -config oapi-codegen.yaml ../../api/openapi.yaml
