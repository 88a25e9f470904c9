// Package operator has the commands of whoever operates NATS and the servers. They ask no API:
// they configure and run NATS, make keys, back up and restore what NATS has, and let somebody in
// where nobody can sign in.
package operator
