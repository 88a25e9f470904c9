// Package access has the commands that decide who may what: sign-ins and contexts, users, tokens
// and sessions, the credentials of executors, and secrets.
package access
