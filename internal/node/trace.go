package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/carillon-scheduler/carillon/bus/doubling"
	"github.com/carillon-scheduler/carillon/internal/build"
	"github.com/carillon-scheduler/carillon/internal/otlp"
	"github.com/carillon-scheduler/carillon/internal/tracing"
)

// tracesEnd is how long the last traces may take to leave.
const tracesEnd = 3 * time.Second

// startTraces returns where traces go, as the environment says with OpenTelemetry's own
// variables: nowhere, which is nil, unless it names an endpoint. The caller calls end last.
// service is the name under which the process is shown, unless the environment has one.
func startTraces(ctx context.Context, service string, log *slog.Logger) (provider trace.TracerProvider, end func(context.Context), err error) {
	none := func(context.Context) {}
	if otlp.Endpoint() == "" || os.Getenv("OTEL_SDK_DISABLED") == "true" || os.Getenv("OTEL_TRACES_EXPORTER") == "none" {
		return nil, none, nil
	}
	otel.SetErrorHandler(reportTo(ctx, doubling.Logger(log)))
	exporter, err := otlp.New()
	if err != nil {
		return nil, none, err
	}
	about, err := resource.New(ctx, resource.WithAttributes(attribute.String("service.name", service), attribute.String("service.version", build.Version())), resource.WithFromEnv(), resource.WithHost(), resource.WithProcessPID())
	if err != nil && !errors.Is(err, resource.ErrPartialResource) {
		return nil, none, fmt.Errorf("describe the process to traces: %w", err)
	}
	p := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(about), sdktrace.WithIDGenerator(tracing.Generator{}))
	return p, func(ctx context.Context) {
		ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), tracesEnd, errors.New("the last traces take too long to leave"))
		defer cancel()
		_ = p.Shutdown(ctx) // what does not get there is lost, as in any crash
	}, nil
}

// reportTo returns what logs the spans that do not get to a collector.
func reportTo(ctx context.Context, lines *slog.Logger) otel.ErrorHandlerFunc {
	var rejected atomic.Int64
	return func(err error) {
		if partial, is := errors.AsType[*otlp.PartialError](err); is {
			lines.WarnContext(ctx, "warning of the trace collector", "error", err, "rejected_spans", rejected.Add(partial.Rejected))
			return
		}
		lines.WarnContext(ctx, "traces not sent", "error", err)
	}
}
