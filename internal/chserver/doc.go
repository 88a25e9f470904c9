// Package chserver starts a real ClickHouse server on a machine that has none, for
// "task clickhouse" and for tests. No program that users get links it.
//
// # Engine
//
// The server is the program "clickhouse" where the PATH has one that is new enough,
// and else the whole of ClickHouse as a library, which [Install] fetches from npm
// into a cache folder. Both are asked for the same thing: clickhouse-local, whose
// statement SYSTEM START LISTEN opens the very handlers, native and HTTP, of
// clickhouse-server. The library is loaded by a copy of the running program, so a
// program that calls [Start] calls [ServeIfAsked] first of all.
//
// # Life
//
//	Start ──▶ child: START LISTEN; print ports; read standard input until its end
//	Stop, or the death of the parent ──▶ input ends ──▶ tables are shut down, exit
//
// The child listens on loopback, on ports that it chooses, and takes one user with a
// random password. Clients come to it through this process, as a connection that is reset
// would end it. What is in its folder stays. It does all that a server does but for
// Keeper: no replicated tables, no ON CLUSTER, no queue for async inserts. And a wrong
// password in the native protocol ends it, after it has said so.
package chserver
