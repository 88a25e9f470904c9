// Package all puts together the commands of every noun, and the command "get" of what each of
// them shows.
//
// Its tests are those of command lines against a server, of all nouns: one program to link.
package all
