// Package node is what a process of the system is made of: "carillon dev", "server" and
// "executor" with their flags and configuration, the roles of a server, and the layers that it
// starts in order and stops in reverse, with their health.
//
//	NATS ← log store ← scheduler, store, alert ← API ← monitor
//
// A layer rests on those before it, so each finds below it what it needs until it has stopped.
package node
