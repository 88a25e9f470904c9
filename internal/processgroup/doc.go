// Package processgroup starts a child process as the first of a process group, and ends
// the whole group with it. On Linux it also finds processes that have left the group, by their
// environment.
//
// On systems other than Unix there are no process groups: only the process itself is
// killed.
package processgroup
