// Package auth knows who may do what: users and their passwords, sessions, API tokens,
// invitations, the roles that each of them has in each executor group, and the
// credentials with which executors connect.
//
// What it keeps is in two buckets of the bus, ACCESS and SESSION. A [Directory]
// follows both, so that a request is judged from memory: no round trip, and sign-in
// goes on to hold while NATS is away. It hears of a revocation within milliseconds,
// at once on the server where it was made.
//
//	cookie, bearer token ─▶ Directory ─▶ Identity ─▶ May(role, group), Grants(grant, group)
//
// # Guarantees
//
// No secret is stored that could be used: passwords as argon2id, all else as SHA-256 of
// 256 random bits. There is no default password. An identity is never worth more than
// its user is at the moment of the request: when a user is demoted, disabled or
// deleted, their tokens lose the same rights. Guessing is slowed per user, per address
// and per pair of both, for all servers of a cluster together.
//
// # What it does not do
//
// It does not know routes: package webapi says what each needs. What executors may do,
// NATS judges, by what package auth/callout tells it.
package auth
