// Package alerts reads incidents and messages about them, wherever they are: what is over for a month
// has left the bucket of alerts, and is in the log store only. It also tries a rule on runs of the
// past, and says by when live runs must end.
package alerts
