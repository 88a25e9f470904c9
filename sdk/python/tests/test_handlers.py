import asyncio
import builtins
import logging
import math
import threading
import time
from dataclasses import dataclass

import pytest

from carillon import ConfigurationError, Executor, Final, RetryAfter, Run, TimedOut, current_run
from carillon.testing import run_handler, run_handler_async


@dataclass
class Report:
    region: str
    rows: int = 0


def app() -> Executor:
    app = Executor(group="billing")

    @app.handler("report", description="Writes the report of a region")
    async def report(run: Run, p: Report) -> dict:
        run.log.info("begun %s", p.region)
        logging.getLogger("customers").warning("slow")
        run.progress(50, "half of " + run.secret("TOKEN"))
        return {"written": p.rows, "attempt": run.attempt}

    @app.handler
    def plain(run: Run):
        assert current_run() is run
        return run.piece

    @app.handler
    async def broken(run: Run, params):
        raise {"final": Final("no such customer"), "later": RetryAfter(90, "busy")}.get(params, KeyError(params))

    @app.handler
    async def nan(run: Run):
        return {"ratio": math.nan}

    @app.handler
    async def slow(run: Run):
        await asyncio.sleep(30)

    return app


def test_a_handler_is_tested_without_a_broker():
    end = run_handler(app(), "report", {"region": "north", "rows": 3}, attempt=2, secrets={"TOKEN": "s3cret-value"})
    assert end.status == "succeeded"
    assert end.result == {"written": 3, "attempt": 2}
    assert end.lines == ["begun north", "slow"]
    assert end.progress == [(50.0, "half of ***")]


def test_a_plain_function_runs_in_a_thread_and_knows_its_run():
    assert run_handler(app(), "plain", index=1, total=3).result == [1, 3]


def test_a_handler_knows_the_step_that_it_does() -> None:
    app = Executor(group="g")

    @app.handler
    def told(run: Run) -> list[str]:
        return [run.step, run.cause]

    assert run_handler(app, "told", step="load").result == ["load", "step"]
    assert run_handler(app, "told").result == ["", "schedule"]


@pytest.mark.parametrize(("params", "final", "after"), [("final", True, 0), ("later", False, 90), ("x", False, 0)])
def test_an_error_says_what_shall_become_of_the_run(params, final, after):
    end = run_handler(app(), "broken", params)
    assert (end.status, end.final, end.retry_after) == ("failed", final, after)


class Abort(BaseException):
    pass


@pytest.mark.parametrize(("error", "says"), [
    (SystemExit(3), "SystemExit(3)"), (KeyboardInterrupt(), "KeyboardInterrupt()"), (Abort("now"), "Abort('now')"), (StopIteration(7), "StopIteration"),
    (StopAsyncIteration(7), "StopAsyncIteration"), (GeneratorExit(), "GeneratorExit"),
])
@pytest.mark.parametrize("kind", ["async", "plain", "params"])
def test_whatever_a_handler_raises_fails_its_run_and_nothing_else(kind, error, says):
    app = Executor(group="billing")

    @dataclass
    class Params:
        def __post_init__(self):
            raise error

    @app.handler("async")
    async def asynchronous(run: Run):
        raise error

    @app.handler
    def plain(run: Run):
        raise error

    async def params(run: Run, p):
        pass

    params.__annotations__["p"] = Params
    app.handler("params")(params)
    end = run_handler(app, kind, {}, timeout=20)
    assert end.status == "failed" and says in end.message


def test_a_result_that_json_does_not_have_is_left_out_with_a_note():
    end = run_handler(app(), "nan")
    assert end.status == "succeeded" and end.result is None and "left out" in end.message


class Model:
    def model_dump(self, mode):
        raise RuntimeError("no such mode")


@dataclass
class Locked:
    lock: object


def deep():
    value = []
    for _ in range(100_000):
        value = [value]
    return value


def cycle():
    value = {"b": 1}
    value["a"] = [value]
    return value


@pytest.mark.parametrize(("result", "place"), [({"a": [0, {1, 2}]}, "result.a[1]: "), (cycle(), "result.a[0]: "), ({3}, "result: ")])
def test_the_note_of_a_result_names_the_place(result, place):
    app = Executor(group="billing")
    app.handler("h")(lambda run: result)
    assert run_handler(app, "h").message.startswith(f"the result was left out: {place}")


@pytest.mark.parametrize("result", [Model(), Locked(threading.Lock()), deep(), {"a": object()}])
def test_a_result_of_which_no_json_can_be_made_is_left_out_with_a_note(result):
    app = Executor(group="billing")
    app.handler("h")(lambda run: result)
    end = run_handler(app, "h")
    assert end.status == "succeeded" and end.result is None and "left out" in end.message


def test_a_timeout_ends_the_run():
    began = time.monotonic()
    assert run_handler(app(), "slow", timeout=0.05).status == "timed_out"
    assert time.monotonic() - began < 20


def test_parameters_that_do_not_fit_fail_the_run_before_the_handler():
    end = run_handler(app(), "report", {"reigon": "north"})
    assert end.status == "failed" and "reigon" in end.message


def test_a_dataclass_is_announced_as_a_schema():
    assert app().handlers["report"].schema == {
        "type": "object",
        "properties": {"region": {"type": "string"}, "rows": {"type": "integer"}},
        "additionalProperties": False,
        "required": ["region"],
    }


@dataclass
class Written:
    rows: int


def test_what_a_handler_returns_is_announced_as_a_schema():
    a = Executor(group="billing")

    @a.handler("count")
    async def count(run) -> Written:
        return Written(3)

    assert a.handlers["count"].schema is None
    assert a.handlers["count"].result_schema == {
        "type": "object", "properties": {"rows": {"type": "integer"}}, "additionalProperties": False, "required": ["rows"],
    }
    assert run_handler(a, "count").result == {"rows": 3}


def test_a_pydantic_model_is_announced_and_read():
    pydantic = pytest.importorskip("pydantic")

    class Params(pydantic.BaseModel):
        region: str

    a = Executor(group="billing")

    async def report(run, p):
        return {"region": p.region}

    report.__annotations__["p"] = Params
    a.handler("report")(report)
    assert a.handlers["report"].schema["properties"]["region"] == {"title": "Region", "type": "string"}
    assert run_handler(a, "report", {"region": "north"}).result == {"region": "north"}


def test_two_handlers_of_one_name_are_refused():
    a = app()
    with pytest.raises(ConfigurationError, match="report"):
        a.handler("report")(lambda run: None)


def test_a_number_beyond_a_float_fails_the_run():
    app = Executor(group="billing")

    @app.handler
    def echo(run: Run):
        return run.params

    assert run_handler(app, "echo", {"id": 1234567890123456789}).result == {"id": 1234567890123456789}
    end = run_handler(app, "echo", {"x": math.inf})
    assert (end.status, end.result) == ("failed", None)
    assert "params.x is a number that is too large" in end.message


def test_names_of_handlers_that_a_heartbeat_has_no_room_for_are_refused():
    e = Executor(group="g")
    for n in range(100):
        e.handler(f"{n:03}" + "x" * 200)(lambda run: None)
    with pytest.raises(ConfigurationError, match="the names of all handlers have 20601 bytes; a heartbeat has 16384 for them"):
        asyncio.run(e.serve())


class Invoices(Exception):
    pass


class Speechless(Exception):
    def __str__(self):
        raise RuntimeError("no words")


@pytest.mark.parametrize(("error", "message"), [
    (KeyError("region"), "KeyError: 'region'"), (ValueError(), "ValueError"), (Final("no such customer"), "no such customer"),
    (RetryAfter(90, "busy"), "busy"), (Speechless(), "Speechless"), (asyncio.CancelledError(), "the handler cancelled itself"),
    (TimedOut("of its own"), "of its own"), (Invoices("a\nb"), "Invoices: a\nb"),
])
def test_the_message_of_a_failure_names_its_class(error, message):
    app = Executor(group="billing")

    @app.handler
    async def h(run: Run):
        raise error

    end = run_handler(app, "h")
    assert (end.status, end.message) == ("failed", message)


class Group(Exception):
    """What Python 3.10 lacks."""

    def __init__(self, message, exceptions):
        super().__init__(f"{message} ({len(exceptions)} sub-exceptions)")
        self.exceptions = exceptions


def test_the_parts_of_a_group_are_named(monkeypatch):
    group = getattr(builtins, "ExceptionGroup", Group)
    monkeypatch.setattr("carillon.outcome.GROUPS", group)
    app = Executor(group="billing")

    @app.handler
    async def h(run: Run):
        raise group("many", [KeyError("a"), group("few", [ValueError("b"), ValueError()])])

    name = group.__name__
    message = run_handler(app, "h").message
    assert message == f"{name}: many (2 sub-exceptions): KeyError: 'a'; {name}: few (2 sub-exceptions): ValueError: b; ValueError"


def test_what_a_handler_says_after_its_time_follows_the_reason():
    app = Executor(group="billing")

    @app.handler
    async def h(run: Run):
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            assert isinstance(run.ending, TimedOut)
            raise KeyError("region") from None

    assert run_handler(app, "h", timeout=0.05).message == "took longer than its timeout of 50ms; KeyError: 'region'"


def test_a_handler_that_ignores_its_end_is_named_in_the_message(monkeypatch):
    monkeypatch.setattr("carillon.testing.PATIENCE", 0.1)
    app, over = Executor(group="billing"), threading.Event()
    app.handler("h")(lambda run: over.wait(60))
    end = run_handler_then(over, app, "h", timeout=0.05)
    assert end.message == "took longer than its timeout of 50ms; the handler did not stop within 0.1s and was abandoned"


def run_handler_then(over, app, handler, **options):
    """Run a handler, and end what it waits for before the loop waits for its thread."""
    async def go():
        try:
            return await run_handler_async(app, handler, **options)
        finally:
            over.set()

    return asyncio.run(go())


def test_a_result_that_refers_to_itself_is_left_out_with_a_note():
    app, result = Executor(group="billing"), {}
    result["self"] = [result]
    app.handler("h")(lambda run: result)
    end = run_handler(app, "h")
    assert (end.status, end.result) == ("succeeded", None) and "left out" in end.message


@pytest.mark.parametrize("kind", ["async", "plain"])
def test_middleware_is_called_around_handlers_the_first_one_outermost(kind):
    app, order = Executor(group="billing"), []

    def around(name):
        async def middleware(run, call):
            assert current_run() is run
            order.append(f"{name} in")
            result = await call()
            order.append(f"{name} out")
            return {name: result}

        return middleware

    app.use(around("a"))
    app.use(lambda run, call: call())
    app.use(around("b"))

    @app.handler("async")
    async def asynchronous(run: Run):
        return 7

    app.handler("plain")(lambda run: 7)
    assert run_handler(app, kind).result == {"a": {"b": 7}}
    assert order == ["a in", "b in", "b out", "a out"]


def test_middleware_sees_what_handlers_raise_and_can_fail_their_runs():
    app, seen = Executor(group="billing"), []

    @app.use
    async def watch(run, call):
        try:
            return await call()
        except KeyError as e:
            seen.append(e)
            raise SystemExit(3) from e

    @app.handler
    async def h(run: Run):
        raise KeyError("region")

    end = run_handler(app, "h")
    assert end.status == "failed" and "SystemExit(3)" in end.message and len(seen) == 1


def test_what_handlers_share_is_opened_before_the_first_run_and_closed_after_the_last(monkeypatch):
    order = []

    async def serve(self):
        order.append("serves")

    monkeypatch.setattr("carillon.instance.Instance.serve", serve)
    app = Executor(group="billing")

    def pool(name):
        async def opened():
            order.append(f"{name} opened")
            yield
            order.append(f"{name} closed")

        return opened

    app.setup(pool("a"))
    app.setup(pool("b"))
    asyncio.run(app.serve())
    assert order == ["a opened", "b opened", "serves", "b closed", "a closed"]


def test_a_set_up_that_fails_ends_the_executor_and_what_was_opened_is_closed():
    app, order = Executor(group="billing"), []

    @app.setup
    async def pool():
        yield
        order.append("closed")

    @app.setup
    async def broken():
        raise OSError("no database")
        yield

    with pytest.raises(OSError, match="no database"):
        asyncio.run(app.serve())
    assert order == ["closed"]
    with pytest.raises(ConfigurationError, match="setup 'late' must be an async function that yields once"):
        async def late():
            pass

        app.setup(late)


@pytest.mark.parametrize("times", [0, 2])
def test_a_set_up_that_does_not_yield_once_is_refused(times, monkeypatch):
    async def serve(self):
        pass

    monkeypatch.setattr("carillon.instance.Instance.serve", serve)
    app = Executor(group="billing")

    @app.setup
    async def often():
        for _ in range(times):
            yield

    with pytest.raises(ConfigurationError, match="setup 'often' must be an async function that yields once"):
        asyncio.run(app.serve())
