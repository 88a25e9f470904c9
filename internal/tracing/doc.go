// Package tracing gives OpenTelemetry the traces and spans of runs, as package bus names them.
package tracing
