// Package keyfile reads keys that are given to a program: in a file, on an inherited descriptor,
// or in a variable of the environment. What it has read from a descriptor or a variable is not
// there for child processes.
package keyfile
