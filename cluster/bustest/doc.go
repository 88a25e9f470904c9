// Package bustest runs a real JetStream server for tests, on virtual time if the
// test wants it.
//
// [Run] calls a test in a testing/synctest bubble. Everything that the server
// and the code under test do with package time, such as AckWait, KV key TTL,
// reconnect waits and cron ticks, then runs on the bubble's clock: a simulated
// day passes in a few seconds, and a test that waits on a timer is exact, not
// approximate. A goroutine that outlives the test fails it.
//
// [NewBroker] starts the server, in a bubble or outside of one. It has the
// configuration of nats.conf, so a test meets production's limits. The test can
// stop it, start it again on the same files, and cut it off from one client at
// a time, in both directions or in one. It can have one stream fall silent for all clients.
//
// Two things make the bubble possible. The server does not listen, and clients
// reach it over net.Pipe, whose blocking synctest understands. And the server's
// one process-wide goroutine, its access time service, is started outside every
// bubble, by this package's init.
//
// What does not work in a bubble is TCP, and so a cluster of servers.
package bustest
