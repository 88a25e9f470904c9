// Package callout answers the NATS servers that ask who may connect as an executor,
// and cuts off those whose credential has ended.
//
//	executor ──connects──▶ NATS ──$SYS.REQ.USER.AUTH──▶ Service ──▶ auth.Directory
//	                        ▲                              │
//	                        └── a signed answer, or KICK ──┘
//
// An executor proves that it has the private half of a credential's key by signing a
// nonce; the [Service] looks the public half up, and answers with a user of the account
// EXECUTORS that may do what [github.com/carillon-scheduler/carillon/bus.ExecutorPermissions] lists for its group.
// That account has no streams, and imports the subjects that executors need, one by
// one. So nothing that JetStream sends in answer to an executor can end up in a stream:
// it stays in that account, whatever reply subject the executor names.
//
// # Guarantees
//
// A credential that was revoked or has ended is not admitted from then on by any
// server that has heard of it, within milliseconds; connections that it has are closed
// within seconds. Any of the servers of a cluster may answer.
//
// # What it does not do
//
// It does not judge Carillon's own servers, nor any other account: NATS knows them from
// its configuration ([Configure] writes it). While no Carillon server is there,
// executors that are connected stay so, and others wait.
package callout
