// Package embedded runs a NATS server with JetStream inside the process.
//
// It is a real server from a real nats.conf, not a reduced one: what works
// against it works against a server of its own, and the store directory can be
// handed from one to the other. `carillon dev` and the tests use it; production
// connects to servers that live apart, so that they outlive a scheduler node.
//
// [Start] returns when the server accepts connections and all streams on disk
// are recovered, or with the reason why it never will. At most one server at a
// time owns a store directory: a second is refused.
//
// The server is heavy. Only programs may link this package; libraries take a
// connection.
package embedded
