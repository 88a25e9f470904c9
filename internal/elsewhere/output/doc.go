// Package output reads what a command writes, passes it on as it comes, and keeps the beginning and the end.
//
// On Unix, a process of its own reads: this program, started once more, in a session of its own. So neither
// the death of the wrapper nor its end while a child of the command still writes gives anybody SIGPIPE. The
// reader ends when nobody can write any more.
//
//	command ──stdout──▶ reader ──▶ stdout of the wrapper
//	        ──stderr──▶        ──▶ stderr of the wrapper
//	                    reader ◀──▶ wrapper: "what was written until now?"
//
// A stream that is a terminal is not touched: the command would behave otherwise. If somebody stops reading
// what is passed on, the reader stops reading, and the command is told by SIGPIPE as it would be without.
// Elsewhere than on Unix, goroutines of the wrapper read.
package output
