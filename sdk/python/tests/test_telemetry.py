import asyncio
import json

from opentelemetry import metrics, trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from test_instance import REPLY, given, instance, until

from carillon import Executor, Stopping, wire

TRACE_ID = "019b8be1f500746c9285f6b4613a1707"
READER, SPANS = InMemoryMetricReader(), InMemorySpanExporter()
PROVIDER = TracerProvider()
PROVIDER.add_span_processor(SimpleSpanProcessor(SPANS))
trace.set_tracer_provider(PROVIDER)
metrics.set_meter_provider(MeterProvider([READER]))


def points():
    """What was measured by now: the points of each metric."""
    data = READER.get_metrics_data()
    return {m.name: list(m.data.data_points) for r in data.resource_metrics for s in r.scope_metrics for m in s.metrics}


def test_an_attempt_is_counted_and_is_a_span_below_its_triggers():
    async def go():
        app, inside = Executor(), []

        @app.handler("h")
        def h(run):
            inside.append((run.trace_parent, trace.get_current_span().get_span_context()))
            raise ValueError("boom")

        i = instance(app)
        t = given(i)
        t.trace = f"00-{TRACE_ID}-b7ad6b7169203331-01"
        SPANS.clear()
        i.start(t, REPLY)
        await until(lambda: (REPLY, b"+ACK") in i.nc.sent)
        (span,) = SPANS.get_finished_spans()
        assert span.name == "run g/a" and span.parent.span_id == 0xB7AD6B7169203331 and not span.status.is_ok
        assert span.attributes["carillon.status"] == "failed" and span.attributes["carillon.instance"] == "i"
        assert f"{span.context.trace_id:032x}" == TRACE_ID
        assert inside == [(f"00-{TRACE_ID}-{span.context.span_id:016x}-01", span.context)]
        measured = points()
        labels = {"executor_group": "g", "instance_name": "i"}
        assert any(p.attributes == labels | {"status": "failed"} for p in measured["carillon.executor.runs"])
        for name in ("delivery_delay", "start_delay", "run"):
            assert any(p.attributes == labels and p.count >= 1 for p in measured["carillon.executor." + name])
        assert any(p.value == i.slots for p in measured["carillon.executor.slots"])
        i.telemetry.close()

    asyncio.run(go())


def test_what_comes_back_or_is_no_trigger_is_counted():
    async def go():
        class Message:
            data, reply, headers = b"no json", REPLY, None

        i = instance(Executor())
        await i.take(Message)
        assert points()["carillon.executor.triggers_rejected"]

    asyncio.run(go())


def given_back():
    return sum(p.value for p in points().get("carillon.executor.runs_given_back", []))


def test_a_trigger_that_is_given_back_is_counted_whatever_the_reason():
    async def go():
        class Message:
            reply, headers = REPLY, None

        async def nobody(*_, **__):
            raise asyncio.TimeoutError

        app = Executor()

        @app.handler("h")
        async def h(run):
            await asyncio.sleep(60)

        i = instance(app)
        Message.data = json.dumps(given(i).raw).encode()
        before, naks = given_back(), lambda: sum(s == REPLY and d.startswith(b"-NAK") for s, d in i.nc.sent)
        i.slots = 0
        await i.take(Message)
        assert (naks(), given_back() - before) == (1, 1)

        i.slots, i.nc.request = 1, nobody
        Message.headers = {wire.MESSAGE: "trigger.v2"}
        await i.take(Message)
        await until(lambda: naks() == 2)
        assert given_back() - before == 2

        i.nc.request = type(i.nc).request.__get__(i.nc)
        i.start(given(i), REPLY)
        await asyncio.sleep(0)
        next(iter(i.live.values())).end(Stopping("the executor is stopping"))
        await until(lambda: naks() == 3)
        assert given_back() - before == 3

    asyncio.run(go())


def test_an_opentelemetry_without_bounds_for_histograms_is_enough(monkeypatch, caplog):
    def create_histogram(self, name, unit="", description=""):  # as it was before 1.30
        return made(self, name, unit, description)

    meter = type(metrics.get_meter("m"))
    made = meter.create_histogram
    monkeypatch.setattr(meter, "create_histogram", create_histogram)

    async def go():
        app = Executor()

        @app.handler("h")
        async def h(run):
            pass

        i = instance(app)
        i.start(given(i), REPLY)
        await until(lambda: (REPLY, b"+ACK") in i.nc.sent)
        i.telemetry.close()

    asyncio.run(go())
    (warning,) = [r for r in caplog.records if r.name == "carillon.executor"]
    assert "opentelemetry-api is older than 1.30" in warning.getMessage()


def test_without_opentelemetry_nothing_is_counted_and_a_run_has_the_trace_of_its_trigger(monkeypatch):
    monkeypatch.setattr("carillon.telemetry.INSTALLED", False)

    async def go():
        app, inside = Executor(), []

        @app.handler("h")
        async def h(run):
            inside.append(run.trace_parent)

        i = instance(app)
        t = given(i)
        t.trace = "00-" + TRACE_ID + "-b7ad6b7169203331-01"
        SPANS.clear()
        i.start(t, REPLY)
        await until(lambda: (REPLY, b"+ACK") in i.nc.sent)
        assert inside == [t.trace] and not SPANS.get_finished_spans()

    asyncio.run(go())
