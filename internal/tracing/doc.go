// Package tracing says which trace a run belongs to, for OpenTelemetry.
//
// A run's id has 128 bits, and so has a trace's: they are the same. The span of an
// attempt's fire follows from the run's id and the attempt. So a server and an executor
// agree on a trace without telling each other, a run that is triggered again by another
// server is in the same trace, and whoever knows a run finds its trace by its id without
// hyphens.
package tracing
