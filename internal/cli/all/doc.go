// Package all puts together the commands of every noun, and the command "get" of what each of
// them shows.
package all
