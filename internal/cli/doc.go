// Package cli is what the commands of the program have in common: the root command and its exit
// codes, the flags that say which server to ask and how to show the answer, the contexts that
// people have signed in to, and questions to a person at a terminal.
//
// Each noun has its commands in a package below this one. A package returns the commands of its
// noun by Commands, and those that belong below "get" by GetCommands; package all puts them
// together. These packages ask a server over its API (NewRemote) and link no server.
package cli
