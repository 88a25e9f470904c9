// Command compare does the same work by Carillon and by other schedulers, on databases that it starts
// on loopback and removes again: no-op jobs are inserted and worked, and their ends are stored. It
// prints a table of medians. It is a module of its own, so that Carillon depends on none of them.
package main
