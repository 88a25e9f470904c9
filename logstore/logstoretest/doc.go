// Package logstoretest is the suite that every log store passes. A store's test
// calls [Run] and [Identity].
package logstoretest
