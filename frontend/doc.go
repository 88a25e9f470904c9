// Package frontend holds the built console and serves it.
//
// The build (task console) writes into dist, which git ignores but for .keep, so a
// fresh clone compiles and tests without Node. Until there is a build, the handler
// answers with a page that says how to make one.
//
// # How it is served
//
// Everything lies in memory with its type and its ETag: text in the brotli and gzip
// forms that the build left of it, and unpacked once a client asks that takes neither;
// fonts as they are. Names below /assets/ change with their
// content, so browsers keep them for a year; all else is asked for again each time,
// and answered with 304 while it is the same.
//
// The sources of the console are here too: see README.md.
package frontend
