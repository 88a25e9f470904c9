"""Metrics and spans, if opentelemetry-api is installed. Without it, nothing happens here."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Any

try:
    from opentelemetry import metrics, trace
    from opentelemetry.context import Context
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
except ImportError:
    INSTALLED = False
else:
    INSTALLED = True

from . import wire

if TYPE_CHECKING:
    from .wire import Trigger

log = logging.getLogger("carillon.executor")

SCOPE = "carillon"
PREFIX = "carillon.executor."

# What is counted, by the name of its metric.
COUNTS = {
    "runs_given_back": "Triggers that were given back to the group, because the executor stops or nobody could take them.",
    "triggers_handed_over": "Triggers that were handed to a server: delivered before, or not to be done here.",
    "messages_refused": "Messages of this executor that servers said they refused, at most one a second.",
    "handlers_abandoned": "Handlers that ignored their cancellation, and were left behind.",
    "triggers_rejected": "Messages that were no triggers of the group.",
    "event_publish_retries": "Finished events that had to be published again.",
    "log_lines_dropped": "Log lines given up because the log stream did not take them.",
}

# Histograms, and their bounds in seconds: those of the Go SDK.
TIMES = {
    "delivery_delay": ("Time from the commit of a trigger until it came here.", [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 5, 15, 60, 300, 1800]),
    "start_delay": ("Time from when a trigger came here until its handler was called.", [0.0001, 0.001, 0.01, 0.1, 0.25, 0.5, 1, 5]),
    "run": ("Time from when a handler was called to the end of its attempt.", [0.001, 0.01, 0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600, 14_400, 86_400]),
}


class Telemetry:
    """What an instance counts and measures. `slots` returns how many there are, and how many are in use."""

    def __init__(self, group: str, instance: str, slots: Callable[[], tuple[int, int]]) -> None:
        self._labels = {"executor_group": group, "instance_name": instance}
        self._open = True
        if not INSTALLED:
            return
        meter = metrics.get_meter(SCOPE)
        self._runs = meter.create_counter(PREFIX + "runs", description="Attempts that ended, by final status.")
        self._counts = {name: meter.create_counter(PREFIX + name, description=text) for name, text in COUNTS.items()}
        try:
            self._times = {
                name: meter.create_histogram(PREFIX + name, unit="s", description=text, explicit_bucket_boundaries_advisory=bounds)
                for name, (text, bounds) in TIMES.items()
            }
        except TypeError:
            log.warning("opentelemetry-api is older than 1.30, so the histograms of %s* have the bounds of your SDK", PREFIX)
            self._times = {name: meter.create_histogram(PREFIX + name, unit="s", description=text) for name, (text, _) in TIMES.items()}

        def look(which: int) -> Callable[[metrics.CallbackOptions], Iterable[metrics.Observation]]:
            return lambda _: [metrics.Observation(slots()[which], self._labels)] if self._open else []

        meter.create_observable_gauge(PREFIX + "slots", callbacks=[look(0)], description="Runs that there may be at once.")
        meter.create_observable_gauge(PREFIX + "slots_in_use", callbacks=[look(1)], description="Runs that there are.")

    def close(self) -> None:
        """Observe nothing any more."""
        self._open = False

    def count(self, what: str, n: int = 1) -> None:
        if INSTALLED and n > 0:
            self._counts[what].add(n, self._labels)

    def ended(self, trigger: Trigger, status: str, came: datetime, started: datetime | None) -> None:
        """Count how an attempt ended, and measure where its time went. One that is given back, with status "", has not ended."""
        if not INSTALLED or status == "":
            return
        self._runs.add(1, self._labels | {"status": status})
        if started is not None:
            committed = trigger.time("committed_at") or came
            for name, begin, end in (("delivery_delay", committed, came), ("start_delay", came, started), ("run", started, wire.now())):
                self._times[name].record(max((end - begin).total_seconds(), 0.0), self._labels)

    def span(self, trigger: Trigger) -> NoSpan:
        """Begin the span of an attempt, below that of its fire."""
        return Span(trigger, self._labels) if INSTALLED else NoSpan(trigger)


class NoSpan:
    """An attempt that nobody traces."""

    def __init__(self, trigger: Trigger) -> None:
        self.trace_parent = trigger.trace  # the W3C trace context for what the handler calls

    def current(self) -> contextlib.AbstractContextManager[Any]:
        """Make it the current span."""
        return contextlib.nullcontext()

    def end(self, status: str, message: str) -> None:
        """End it as the attempt ended."""


class Span(NoSpan):
    """An attempt as a span."""

    def __init__(self, trigger: Trigger, labels: dict[str, str]) -> None:
        super().__init__(trigger)
        w3c = TraceContextTextMapPropagator()
        parent = w3c.extract({wire.TRACE: trigger.trace or wire.fire_trace(trigger.run_id, trigger.attempt)}, context=Context())
        attributes: dict[str, str | int] = {
            "carillon.job": trigger.job, "carillon.run_id": trigger.run_id, "carillon.attempt": trigger.attempt,
            "carillon.executor_group": labels["executor_group"], "carillon.instance": labels["instance_name"], "carillon.delivery": trigger.delivered,
        }
        if trigger.total > 1:
            attributes |= {"carillon.broadcast_index": trigger.index, "carillon.broadcast_total": trigger.total}
        self._span = trace.get_tracer(SCOPE).start_span(f"run {trigger.job}", context=parent, kind=trace.SpanKind.CONSUMER, attributes=attributes)
        header: dict[str, str] = {}
        w3c.inject(header, context=trace.set_span_in_context(self._span, parent))
        self.trace_parent = header.get(wire.TRACE, trigger.trace)

    def current(self) -> contextlib.AbstractContextManager[Any]:
        return trace.use_span(self._span, record_exception=False, set_status_on_exception=False)

    def end(self, status: str, message: str) -> None:
        if status == "":
            self._span.set_attribute("carillon.given_back", True)
        else:
            self._span.set_attribute("carillon.status", status)
        if status not in ("", "succeeded"):
            self._span.set_status(trace.StatusCode.ERROR, message)
        self._span.end()
