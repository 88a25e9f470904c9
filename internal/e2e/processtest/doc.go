// Package processtest runs programs as processes that a test kills, freezes and starts again.
package processtest
