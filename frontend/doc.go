// Package frontend holds the built console and serves it.
//
// The build is in dist, which is in the repository: a clone, and a module that Go
// downloads, have the console without Node. Task console builds it anew when its sources
// have changed, and notes in dist/.built-from what it was built from. Commit it once a
// change is whole. Task check fails if dist differs from a build of the sources beside it.
//
// # How it is served
//
// Everything lies in memory with its type and its ETag. Text is packed with gzip once a
// client asks for it; fonts are sent as they are. Names below /assets/ change with their
// content, so browsers keep them for a year; all else is asked for again each time, and
// answered with 304 while it is the same.
//
// The sources of the console are here too: see README.md.
package frontend
