// Package logstoretest is the suite that every log store passes. A store's test
// calls [Run] and [Identity]. It has a little more than 4,000 lines, as it is all that a store promises.
package logstoretest
