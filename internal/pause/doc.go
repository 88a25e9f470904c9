// Package pause waits for a time, or until a context is done: [For] once, and a [Backoff] for longer
// each time.
package pause
