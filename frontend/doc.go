// Package frontend holds the built console and serves it.
//
// The build writes into dist, which git ignores but for .keep, so a fresh clone
// compiles and tests without Node. Until there is a build, the handler answers with
// a page that says so.
package frontend
