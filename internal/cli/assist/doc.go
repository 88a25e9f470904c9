// Package assist has the command that serves the tools of package assistant on standard input and output.
package assist
