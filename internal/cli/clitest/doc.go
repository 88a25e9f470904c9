// Package clitest is a person at a terminal, for tests: it runs command lines against a server
// of their own, and checks what they print and how they end. Tests that use it link the whole program,
// so they are in one package, internal/cli/all.
package clitest
