// Package otlp sends OpenTelemetry traces to a collector, over OTLP by HTTP in protobuf.
//
// OpenTelemetry's own exporter for HTTP links gRPC, a third of the packages of this program. This
// one links the messages alone. It takes OpenTelemetry's own variables: see [New].
package otlp
