// Package clitest is a person at a terminal, for tests: it runs command lines against a server
// of their own, and checks what they print and how they end.
package clitest
