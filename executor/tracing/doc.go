// Package tracing makes a span of each attempt that an executor runs, for OpenTelemetry.
package tracing
