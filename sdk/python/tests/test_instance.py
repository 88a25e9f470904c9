import asyncio
import gc
import json
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import nats
import pytest

from carillon import Cancelled, ConfigurationError, Executor, RetryAfter, Stopping, handlers, wire
from carillon.attempt import Attempt
from carillon.connection import Errors
from carillon.instance import Instance
from carillon.requests import Requests
from carillon.settings import Settings
from carillon.spool import Spool


class Message:
    def __init__(self, verb, body, secret):
        self.subject, self.data, self.reply = f"exec.g.i-{secret}.{verb}", body, "answer"
        self.headers = {wire.MESSAGE: "request.v1"}


class Client:
    """Keeps what is published, and acknowledges every request, as JetStream or a server."""

    is_connected, is_closed = True, False

    def __init__(self):
        self.sent = []
        self.max_payload = 1 << 20
        self.answer = asyncio.Event()  # to what is handed over
        self.answer.set()

    def new_inbox(self):
        return "inbox"

    async def subscribe(self, subject, cb):
        pass

    async def publish(self, subject, data, reply="", headers=None):
        self.sent.append((subject, data))

    async def flush(self, timeout=10):
        pass

    async def request(self, subject, data, timeout=5, headers=None):
        await asyncio.sleep(0)
        gc.collect()  # a task that nobody holds would be gone
        self.sent.append((subject, data))
        if subject == "hand.g":
            await self.answer.wait()

        class Answer:
            data = b'{"value":{}}' if subject == "hand.g" else b'{"stream":"EVT","seq":1}'

        return Answer


def instance(app):
    i = Instance(Settings(group="g", instance="i").complete({}), app.handlers, asyncio.Event())
    i.nc = Client()
    i.requests._subject = f"exec.g.i-{i.secret}."
    return i


def given(i, **more):
    raw = {"run_id": "019b8be1-f500-746c-9285-f6b4613a1707", "job": "g/a", "version": 1, "shard": 3, "attempt": 1, "cause": "api", "fire_time": "2026-01-05T02:00:00Z",
           "committed_at": "2026-01-05T02:00:00Z", "task": {"handler": "h"}} | more
    return wire.decode(json.dumps(raw).encode(), "token", 1, "g")


REPLY = "$JS.ACK.TRIG.any-g.1.17.9.1767578400000000000.0"


async def until(condition):
    for _ in range(2000):
        if condition():
            return
        await asyncio.sleep(0.005)
    raise AssertionError("it did not happen within 10 s")


@pytest.mark.parametrize(("verb", "body"), [
    ("attempts", b'{"attempts": [{}]}'), ("attempts", b'{"attempts": 7}'), ("attempts", b'{"attempts": ["x"]}'), ("kill", b"{}"), ("kill", b"[]"), ("set", b'{"slots": 0}'),
    ("set", b'{"slots": true}'), ("drain", b'{"within": 7}'), ("drain", b"no json"), ("idle", b'"x"'), ("run", b"{}"), ("dance", b""), ("_body", b""),
])
def test_a_request_that_makes_no_sense_is_answered_with_a_fault(verb, body):
    async def go():
        i = instance(Executor())
        await Requests._hear(i.requests, Message(verb, body, i.secret))
        assert [s for s, _ in i.nc.sent] == ["answer"] and json.loads(i.nc.sent[0][1])["fault"]["kind"] == "invalid"
        assert not i.live and i.state == "online"

    asyncio.run(go())


def test_the_end_of_a_run_is_reported_though_nobody_holds_its_task():
    async def go():
        app = Executor()

        @app.handler("h")
        async def h(run):
            run.log.info("one")
            return 7

        i = instance(app)
        i.start(given(i), REPLY)
        gc.collect()
        await until(lambda: (REPLY, b"+ACK") in i.nc.sent)
        assert not i.live and json.loads(next(d for s, d in i.nc.sent if s == "evt.3.g"))["result"] == 7

    asyncio.run(go())


@pytest.mark.parametrize(("finishes", "answer"), [(True, b"+ACK"), (False, b"-NAK")])
def test_a_run_that_ends_well_while_the_executor_stops_counts_and_any_other_is_given_back(finishes, answer):
    async def go():
        app, begun = Executor(), asyncio.Event()

        @app.handler("h")
        async def h(run):
            begun.set()
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                if not finishes:
                    raise
            return "done"

        i = instance(app)
        i.start(given(i), REPLY)
        await begun.wait()
        attempt: Attempt = next(iter(i.live.values()))
        attempt.end(Stopping("the executor is stopping"))
        await until(lambda: any(s == REPLY and d.startswith(answer) for s, d in i.nc.sent))
        assert not i.live and bool([s for s, _ in i.nc.sent if s == "evt.3.g"]) is finishes

    asyncio.run(go())


def test_the_log_does_not_tell_the_secret_that_nats_quotes(caplog):
    violation = 'nats: permissions violation for subscription to "exec.billing.web1-0123456789abcdef0123456789abcdef01234567.*"'
    errors = Errors(Settings(group="g"))
    errors.connected()
    asyncio.run(errors.hear(nats.errors.Error(violation)))
    assert "exec.billing.…" in caplog.text
    assert "0123456789abcdef" not in caplog.text


def test_handlers_are_announced_once_a_day():
    async def go():
        app = Executor()

        @app.handler("h")
        async def h(run):
            return None

        i = instance(app)
        i._introduced, i._beaten = True, time.monotonic()
        now = i._beaten
        announced = lambda: [s for s, _ in i.nc.sent if s.startswith("$KV.HANDLER.")]  # noqa: E731
        for at, want in [(now, 1), (now + 86_000, 1), (now + 86_401, 2)]:
            await i._keep_known(at)
            await until(lambda: len(announced()) == want)

    asyncio.run(go())


def test_a_handler_whose_slots_are_taken_gets_no_more_runs():
    async def go():
        app, free = Executor(), asyncio.Event()

        @app.handler("h", slots=1)
        async def h(run):
            await free.wait()

        i = instance(app)
        i.start(given(i), REPLY)
        second = Message("", b"", i.secret)
        second.data, second.reply, second.headers = json.dumps(given(i).raw | {"attempt": 2}).encode(), REPLY, {wire.TOKEN: "token", wire.MESSAGE: "trigger.v1"}
        await i.take(second)
        await until(lambda: "hand.g" in [s for s, _ in i.nc.sent])
        assert i.is_full("h") and len(i.live) == 1
        free.set()
        await until(lambda: not i.live)
        assert not i.is_full("h")

    asyncio.run(go())


def test_a_trigger_of_a_version_that_is_not_known_is_handed_over_unread():
    async def go():
        i = instance(Executor())
        i.kill(given(i).run_id, "wrong day")
        for body in (b'{"v2": true}', json.dumps(given(i).raw).encode()):
            i.nc.sent.clear()
            m = Message("", b"", i.secret)
            m.data, m.reply, m.headers = body, REPLY, {wire.MESSAGE: "trigger.v2"}
            await i.take(m)
            assert i.free() == i.slots - 1  # a server may offer it back
            await until(lambda: i.nc.sent)
            assert [s for s, _ in i.nc.sent] == ["hand.g"]
        assert not i.live

    asyncio.run(go())


@pytest.mark.parametrize("answer", [b"", b"{}", b"[]", b"7", b'{"value":{}}', b"half"])
def test_an_end_is_stored_once_a_stream_says_so(monkeypatch, answer):
    monkeypatch.setattr("carillon.instance.STORE_AGAIN", 0.005)

    async def go():
        app, answers = Executor(), [answer]
        app.handler("h")(lambda run: None)
        i = instance(app)
        request = i.nc.request

        async def somebody(subject, *more, **options):
            m = await request(subject, *more, **options)
            if subject == "evt.3.g" and answers:
                m.data = answers.pop()
            return m

        i.nc.request = somebody
        i.start(given(i), REPLY)
        await until(lambda: not i.live)
        assert [s for s, _ in i.nc.sent] == ["evt.3.g", "evt.3.g", REPLY]

    asyncio.run(go())


def test_an_executor_that_is_asked_to_stop_does_not_wait_for_ends_that_nobody_stores(tmp_path):
    (tmp_path / "end.json").write_text('{"subject": "evt.3.g", "data": "{}", "headers": {}}')

    async def go():
        i = Instance(Settings(group="g", instance="i", spool=str(tmp_path)).complete({}), {}, asyncio.Event())
        i.nc = Client()
        i.nc.request = never
        waiting = asyncio.ensure_future(i._unless_stopped(i._report_spooled()))
        await asyncio.sleep(0)
        i._stop.set()
        assert await asyncio.wait_for(waiting, 5) is False
        assert (tmp_path / "end.json").exists()

    async def never(*_, **__):
        await asyncio.Event().wait()

    asyncio.run(go())


@pytest.mark.parametrize("kept", ['{"subject": "evt.3.g", "headers": {}, "data": {}}', '{"subject": "evt.3.g", "headers": {}, "data": "half"}', "[]", "half"])
def test_what_is_no_end_is_set_aside(tmp_path, kept):
    (tmp_path / "a.json").write_text(kept)

    async def go():
        i = instance(Executor())
        i.spool = Spool(str(tmp_path))
        await i._report_spooled()
        assert [p.name for p in tmp_path.iterdir()] == ["a.refused"] and not i.nc.sent

    asyncio.run(go())


def test_an_end_of_an_earlier_process_that_nats_does_not_take_is_made_shorter(tmp_path):
    end = json.dumps({"run_id": "r", "status": "succeeded", "result": "x" * 20_000})
    (tmp_path / "end.json").write_text(json.dumps({"subject": "evt.3.g", "headers": {}, "data": end}))

    async def go():
        i = instance(Executor())
        i.spool, i.nc.max_payload = Spool(str(tmp_path)), 16 << 10
        await i._report_spooled()
        told = json.loads(next(d for s, d in i.nc.sent if s == "evt.3.g"))
        assert told["status"] == "succeeded" and "result" not in told and "set max_payload to at least" in told["message"]
        assert not list(tmp_path.iterdir())

    asyncio.run(go())


def test_slots_of_a_handler_below_one_are_refused():
    with pytest.raises(ConfigurationError, match="slots of handler 'h' must be 1 or more"):
        Executor().handler("h", slots=0)(lambda run: None)


def test_slots_that_become_free_are_asked_for_at_once():
    async def go():
        app = Executor()

        @app.handler("h")
        async def h(run):
            pass

        i = instance(app)
        i._introduced, i.slots = True, 8
        for n in range(8):
            i.start(given(i, run_id=f"019b8be1-f500-746c-9285-f6b4613a170{n}"), REPLY)
        await i.puller.slot_free()
        assert not asked(i)  # no slot is free
        await until(lambda: not i.live)
        assert sum(asked(i)) == 8 and len(asked(i)) < 8  # not one by one

    asyncio.run(go())


def asked(i):
    """The sizes of the pull requests that were made."""
    return [json.loads(d)["batch"] for s, d in i.nc.sent if s.startswith("$JS.API.CONSUMER.MSG.NEXT.")]


def test_a_result_that_nats_does_not_take_is_left_out_and_the_run_says_so():
    async def go():
        app = Executor()

        @app.handler("h")
        async def h(run):
            return "x" * 20_000

        i = instance(app)
        i.nc.max_payload = 16 << 10
        i.start(given(i), REPLY)
        await until(lambda: (REPLY, b"+ACK") in i.nc.sent)
        end = json.loads(next(d for s, d in i.nc.sent if s == "evt.3.g"))
        assert end["status"] == "succeeded" and "result" not in end and "set max_payload to at least" in end["message"]

    asyncio.run(go())


def test_a_message_that_nats_does_not_take_is_cut_and_the_run_says_so():
    async def go():
        app = Executor()

        @app.handler("h")
        async def h(run):
            raise RuntimeError("boom " * 3000)

        i = instance(app)
        i.nc.max_payload = 8 << 10
        i.start(given(i), REPLY)
        await until(lambda: (REPLY, b"+ACK") in i.nc.sent)
        end = json.loads(next(d for s, d in i.nc.sent if s == "evt.3.g"))
        assert end["status"] == "failed" and "set max_payload to at least" in end["message"] and "boom" in end["message"]
        assert len(end["message"]) <= 1024

    asyncio.run(go())


@pytest.mark.parametrize("text", ["x" * 20_000, "ü" * 10_000, "\x01" * 20_000])
def test_lines_that_nats_does_not_take_as_one_message_come_in_several_and_one_that_is_too_long_is_cut(text):
    async def go():
        app = Executor()

        @app.handler("h")
        async def h(run):
            for n in range(150):
                run.log.info("line %d %s", n, "y" * 50)
            run.log.info(text)

        i = instance(app)
        i.nc.max_payload = 12 << 10
        i.start(given(i), REPLY)
        await until(lambda: (REPLY, b"+ACK") in i.nc.sent)
        batches = [d for s, d in i.nc.sent if s.startswith("log.g.")]
        assert len(batches) > 2 and max(map(len, batches)) <= 8 << 10
        lines = [line for batch in batches for line in json.loads(batch)["lines"]]
        assert [line["seq"] for line in lines] == list(range(1, 152))
        assert lines[7]["text"] == "line 7 " + "y" * 50
        cut = lines[-1]["text"]
        assert cut.endswith("…") and text.startswith(cut[:-1]) and len(cut) > 500

    asyncio.run(go())


@pytest.mark.parametrize("is_async", [True, False])
def test_a_handler_that_ends_its_process_fails_its_run(is_async):
    async def go():
        app = Executor()

        def plain(run):
            sys.exit("no such file")

        async def asynchronous(run):
            sys.exit("no such file")

        app.handler("h")(asynchronous if is_async else plain)
        i = instance(app)
        i.start(given(i), REPLY)
        await until(lambda: (REPLY, b"+ACK") in i.nc.sent)
        end = json.loads(next(d for s, d in i.nc.sent if s == "evt.3.g"))
        assert end["status"] == "failed" and "SystemExit('no such file')" in end["message"]

    asyncio.run(go())


class Unspeakable(RuntimeError):
    def __str__(self):
        raise KeyError("it has no text")


class NoDelay(RetryAfter):
    def __init__(self):
        pass


@pytest.mark.parametrize(("error", "ending", "status"), [
    (Unspeakable(), None, "failed"), (NoDelay(), None, "failed"), (Unspeakable(), Stopping("stop"), ""), (Unspeakable(), Cancelled("cancelled by ann"), "cancelled"),
])
def test_an_exception_whose_methods_raise_ends_its_run(error, ending, status):
    async def go():
        app = Executor()

        @app.handler("h")
        async def h(run):
            if ending is not None:
                run._end(ending)
            raise error

        i = instance(app)
        i.start(given(i), REPLY)
        await until(lambda: not i.live)
        if not status:
            assert (REPLY, b'-NAK {"delay": 1000000000}') in i.nc.sent
            return
        end = json.loads(next(d for s, d in i.nc.sent if s == "evt.3.g"))
        assert end["status"] == status and type(error).__name__ in end["message"]

    asyncio.run(go())


def test_a_plain_function_whose_run_was_ended_while_it_waited_for_a_thread_does_not_begin(monkeypatch):
    threads, free, called = ThreadPoolExecutor(max_workers=1), threading.Event(), []
    monkeypatch.setattr(handlers, "_threads", lambda: threads)

    async def go():
        app = Executor()
        app.handler("h")(lambda run: called.append(run))
        threads.submit(free.wait)
        i = instance(app)
        i.start(given(i), REPLY)
        await until(lambda: threads._work_queue.qsize())
        assert i.kill(given(i).run_id, "wrong day")
        free.set()
        await until(lambda: (REPLY, b"+ACK") in i.nc.sent)
        assert json.loads(next(d for s, d in i.nc.sent if s == "evt.3.g"))["status"] == "cancelled" and not called

    asyncio.run(go())


@pytest.mark.parametrize("is_async", [True, False])
def test_a_handler_whose_run_is_ended_right_after_its_start_does_not_begin(is_async):
    async def go():
        app, called = Executor(), []

        async def asynchronous(run):
            called.append(run)

        app.handler("h")(asynchronous if is_async else lambda run: called.append(run))
        i = instance(app)
        i.start(given(i), REPLY)
        next(iter(i.live.values())).end(Stopping("the executor is stopping"))
        await until(lambda: (REPLY, b'-NAK {"delay": 1000000000}') in i.nc.sent)
        assert not i.live and not called

    asyncio.run(go())


@pytest.mark.parametrize("kept", [False, True])
def test_an_end_is_made_to_fit_at_each_try_for_nats_may_come_back_with_another_limit(tmp_path, monkeypatch, kept):
    async def go():
        app, limits, sizes = Executor(), [1 << 20, 16 << 10, 8 << 10, 1 << 20], []

        @app.handler("h")
        async def h(run):
            return "x" * 20_000

        i = instance(app)
        request = i.nc.request

        async def away(subject, data, *more, **options):
            if subject != "evt.3.g":
                return await request(subject, data, *more, **options)
            sizes.append(len(data))
            i.nc.max_payload = limits.pop(0)
            if limits:
                raise asyncio.TimeoutError
            return await request(subject, data, *more, **options)

        i.nc.request = away
        if kept:
            i.spool = Spool(str(tmp_path))
            i.spool.keep("evt.3.g", json.dumps({"status": "succeeded", "result": "x" * 20_000}).encode(), {})
            await i._report_spooled()
        else:
            i.start(given(i), REPLY)
            await until(lambda: not i.live)
        assert [size > 20_000 for size in sizes] == [True, True, False, False] and "max_payload" in json.loads(i.nc.sent[-2 + kept][1])["message"]

    monkeypatch.setattr("carillon.instance.STORE_AGAIN", 0.005)
    asyncio.run(go())


def test_beside_a_run_whose_executor_died_no_other_begins():
    async def go():
        app = Executor()

        @app.handler("h")
        async def h(run):
            await asyncio.sleep(60)

        async def offer(attempt, **more):
            body = json.dumps({**given(i).raw, "attempt": attempt}).encode()
            m = Message("run", body, i.secret)
            m.headers = {**(m.headers or {}), wire.ACK: REPLY, **more}
            i.nc.sent.clear()
            await Requests._hear(i.requests, m)
            answer = json.loads(next(d for s, d in i.nc.sent if s == "answer"))
            return answer["value"]["answer"] if "value" in answer else answer["fault"]["kind"]

        i = instance(app)
        for wrong in ("x", "0", "3601", "-1"):
            assert await offer(1, **{wire.ALONE: wrong}) == "invalid"
        assert await offer(1, **{wire.ALONE: "60"}) == "accepted"
        assert i.free() == 0 and await offer(2) == "busy"
        i.alone = (i.alone[0], 0.0)  # its time is over
        assert i.free() > 0 and await offer(2) == "accepted"
        assert await offer(3, **{wire.ALONE: "60"}) == "busy"

    asyncio.run(go())
