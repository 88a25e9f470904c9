import asyncio
import concurrent.futures
import functools
import io
from dataclasses import dataclass

import pytest

from carillon import Cancelled, Executor, Run, TimedOut
from carillon.testing import run_handler


async def work() -> int:
    await asyncio.sleep(0)
    return 1


def timed(f):
    @functools.wraps(f)
    def wrapper(*args):
        return f(*args)
    return wrapper


class Callable:
    async def __call__(self, run: Run) -> int:
        return await work()


class Awaitable:
    def __await__(self):
        return work().__await__()


def do(function, **run):
    app = Executor(group="billing")
    app.handler("h")(function)
    return run_handler(app, "h", **run)


async def plain(run: Run):
    return await work()


async def returns_a_coroutine(run: Run):
    return work()


def from_a_pool(run: Run):
    return concurrent.futures.ThreadPoolExecutor(1).submit(lambda: 1)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("function", [
    timed(plain), functools.partial(plain), lambda run: Awaitable(), lambda run: plain(run), returns_a_coroutine, timed(returns_a_coroutine), from_a_pool,
])
def test_what_can_be_awaited_is_awaited(function):
    app = Executor(group="billing")
    app.handler("h")(function)
    end = run_handler(app, "h")
    assert (end.status, end.result, end.message) == ("succeeded", 1, "")


def test_an_object_with_an_async_call_is_awaited():
    app = Executor(group="billing")
    app.handler("h")(Callable())
    assert run_handler(app, "h").result == 1


def rows():
    yield 1


async def pages():
    yield 1


@dataclass
class Report:
    rows: object


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("value", "says"), [
    (rows, "the result is a generator"),
    (pages, "the result is an async generator"),
    (lambda: {"a": [1, work()]}, "result.a[1] is a coroutine"),
    (lambda: [work(), work()], "result[0] is a coroutine"),
    (lambda: {"done": concurrent.futures.Future()}, "result.done is a future"),
    (lambda: Report(rows()), "result.rows is a generator"),
    (lambda: {"rows": map(str, [1])}, "result.rows is an iterator (map)"),
    (lambda: {"file": io.StringIO("x")}, "result.file is a stream"),
    (lambda: {"a": Awaitable()}, "result.a is an awaitable (Awaitable)"),
])
@pytest.mark.parametrize("kind", ["async", "plain"])
def test_work_that_is_not_done_fails_the_run(kind, value, says):
    async def asynchronous(run: Run):
        return value()

    end = do(asynchronous if kind == "async" else lambda run: value())
    assert end.status == "failed" and end.result is None
    assert end.message == f"the handler returned unfinished work: {says}; finish it in the handler, and return its value"


def test_a_generator_is_no_handler_that_succeeds():
    async def stream(run: Run):
        yield 1

    def lazy(run: Run):
        yield 1

    assert do(stream).status == do(lazy).status == "failed"


@pytest.mark.parametrize("wrap", [lambda f: f, timed])
def test_what_is_awaited_ends_with_the_run_and_knows_why(wrap):
    why = []

    async def slow(run: Run):
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            why.append(type(run.ending))
            raise

    assert do(wrap(slow), timeout=0.05).status == "timed_out"
    assert do(wrap(slow), cancel_after=0.05).status == "cancelled"
    assert why == [TimedOut, Cancelled]


class Mute(Exception):
    def __str__(self):
        raise RuntimeError("no text")


def test_the_test_kit_ends_runs_as_an_executor_does():
    async def mute(run: Run):
        raise Mute

    async def itself(run: Run):
        raise asyncio.CancelledError

    assert (do(mute).status, do(mute).message) == ("failed", "Mute")
    assert (do(itself).status, do(itself).message) == ("failed", "the handler cancelled itself")
