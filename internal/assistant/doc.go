// Package assistant is a server of the Model Context Protocol: tools with which an assistant asks about jobs
// and runs. It knows no transport. "carillon mcp" serves it on standard input and output, package webapi on /mcp.
//
// [New] returns a server for one caller. Each tool asks the HTTP API as its caller, so it can do what that
// may do, and no more. A tool that changes something does so at its second call, with a code that the first has
// answered: see change. What people and programs have written reaches the assistant only as data: see answer.
package assistant
