package io.carillon.executor;

import io.opentelemetry.api.GlobalOpenTelemetry;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.Scope;
import io.opentelemetry.context.propagation.TextMapGetter;
import java.util.List;
import java.util.Locale;

/** Makes a span of OpenTelemetry of each attempt, below the fire's. Loaded only if its API is there. */
final class Tracing implements Interceptor {
  /** Reads the one header of a trace that a run has. */
  private static final TextMapGetter<Run> HEADER = new TextMapGetter<>() {
    @Override
    public Iterable<String> keys(Run run) {
      return List.of(Wire.TRACE);
    }

    @Override
    public String get(Run run, String key) {
      if (!key.equals(Wire.TRACE)) {
        return null;
      }
      return run.traceParent().isEmpty() ? Wire.fireTrace(run.id(), run.attempt()) : run.traceParent();
    }
  };

  @Override
  public Object intercept(Run run, Call next) throws Exception {
    Context parent = W3CTraceContextPropagator.getInstance().extract(Context.root(), run, HEADER);
    SpanBuilder builder = GlobalOpenTelemetry.getTracer("io.carillon.executor").spanBuilder("run " + run.job())
        .setParent(parent).setSpanKind(SpanKind.CONSUMER).setAttribute("carillon.job", run.job()).setAttribute("carillon.run_id", run.id())
        .setAttribute("carillon.attempt", run.attempt()).setAttribute("carillon.delivery", run.delivered());
    if (run.piece().total() > 1) {
      builder.setAttribute("carillon.broadcast_index", run.piece().index()).setAttribute("carillon.broadcast_total", run.piece().total());
    }
    Span span = builder.startSpan();
    ((LiveRun) run).traceParent(header(span.getSpanContext()));
    try (Scope current = span.makeCurrent()) {
      Object result = next.call();
      span.setAttribute("carillon.status", "succeeded");
      return result;
    } catch (Exception | Error e) {
      Ending ending = run.ending();
      span.setAttribute("carillon.status", ending == null ? "failed" : ending.name().toLowerCase(Locale.ROOT));
      span.setStatus(StatusCode.ERROR, said(e));
      throw e;
    } finally {
      span.end();
    }
  }

  /** What an exception says, which may not be able to: the run ends by it all the same. */
  private static String said(Throwable e) {
    try {
      return String.valueOf(e.getMessage());
    } catch (RuntimeException | Error again) {
      return e.getClass().getName();
    }
  }

  private static String header(SpanContext span) {
    return span.isValid() ? "00-" + span.getTraceId() + "-" + span.getSpanId() + "-" + span.getTraceFlags().asHex() : "";
  }
}
