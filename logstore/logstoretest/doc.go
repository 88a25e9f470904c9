// Package logstoretest is the suite that every log store passes. A store's test
// calls [Run] in one line; what the suite does not show is the store's own affair.
package logstoretest
