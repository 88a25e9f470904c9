import asyncio
import json

import pytest
from test_instance import REPLY, Message, given, instance, until

from carillon import Executor, Stopping
from carillon.spool import Spool


def beats(i):
    """The heartbeats that were published; the last is empty once the executor has left."""
    return [json.loads(d or b"{}") for s, d in i.nc.sent if s == "$KV.INST.g.i"]


async def busy(grace):
    """An instance with one run, which ends when the event is set."""
    app, begun, free = Executor(), asyncio.Event(), asyncio.Event()

    @app.handler("h")
    async def h(run):
        begun.set()
        await free.wait()

    i = instance(app)
    i.settings.grace, i._introduced, i._known = grace, True, True
    i.start(given(i), REPLY)
    await begun.wait()
    return i, free


def test_an_executor_that_stops_says_that_it_lives_until_its_last_run_has_ended(monkeypatch):
    monkeypatch.setattr("carillon.instance.BEAT", 0.01)

    async def go():
        i, free = await busy(grace=60)
        leaving = asyncio.ensure_future(i._leave())
        await until(lambda: len(beats(i)) > 5)
        assert {(b["state"], b["running"]) for b in beats(i)} == {("draining", 1)}
        free.set()
        await leaving
        assert beats(i)[-1] == {}

    asyncio.run(go())


def test_a_second_stop_gives_runs_back_at_once(caplog):
    async def go():
        i, free = await busy(grace=3600)
        i._stop.set()
        leaving = asyncio.ensure_future(i._leave())
        await until(lambda: beats(i))
        i._hurry.set()
        await asyncio.wait_for(leaving, 20)
        assert b'-NAK {"delay": 1000000000}' in answers(i)
        assert beats(i)[-1] == {}

    with caplog.at_level("INFO"):
        asyncio.run(go())
    assert "a second signal gives them back at once" in caplog.text and "stopped again: 1 runs" in caplog.text


def test_the_second_call_of_stop_is_the_one_in_a_hurry():
    app = Executor()
    app._stop, app._hurry = asyncio.Event(), asyncio.Event()
    app.stop()
    assert app._stop.is_set() and not app._hurry.is_set()
    app.stop()
    assert app._hurry.is_set()


def answers(i):
    return [d for s, d in i.nc.sent if s == REPLY]


@pytest.mark.parametrize(("within", "answer"), [(1800, b"+ACK"), (0.5, b'-NAK {"delay": 1000000000}'), (0, b'-NAK {"delay": 1000000000}')])
def test_a_stop_during_a_drain_gives_runs_their_grace_and_no_more_time_than_the_drain(within, answer):
    async def go():
        i, free = await busy(grace=60)
        i.drain(within)
        i._stop.set()
        await asyncio.wait_for(i._work(), 5)
        leaving = asyncio.ensure_future(i._leave())
        await until(lambda: beats(i))
        if answer == b"+ACK":
            free.set()
        await asyncio.wait_for(leaving, 10)
        assert answers(i) == [answer]

    asyncio.run(go())


@pytest.mark.parametrize(("verb", "body", "answer"), [("uncordon", b"", "draining"), ("drain", b'{"within": "30m"}', "accepted"), ("cordon", b"", "accepted")])
def test_no_request_undoes_a_stop(verb, body, answer):
    async def go():
        i, free = await busy(grace=60)
        leaving = asyncio.ensure_future(i._leave())
        await until(lambda: beats(i))
        await i.requests._hear(Message(verb, body, i.secret))
        value = json.loads(next(d for s, d in i.nc.sent if s == "answer"))["value"]
        assert (value["answer"], value["state"]) == (answer, "draining") and "drain_by" not in value
        free.set()
        await leaving
        assert {b["state"] for b in beats(i)[:-1]} == {"draining"}

    asyncio.run(go())


@pytest.mark.parametrize("drained", [True, False])
def test_a_stop_waits_until_triggers_are_handed_over(drained):
    async def go():
        i = instance(Executor())
        i.nc.answer, i._introduced, i._known = asyncio.Event(), True, True
        i._hand_over(REPLY)
        await until(lambda: "hand.g" in [s for s, _ in i.nc.sent])
        if drained:
            i.drain(None)
            leaving = asyncio.ensure_future(i._work())
        else:
            leaving = asyncio.ensure_future(i._leave())
        beating = len(beats(i))
        await until(lambda: len(beats(i)) > beating)
        for _ in range(100):
            await asyncio.sleep(0)
        assert not leaving.done()
        i.nc.answer.set()
        await asyncio.wait_for(leaving, 5)
        assert not answers(i)  # a server has it

    asyncio.run(go())


@pytest.mark.parametrize(("in_handler", "delivery"), [(True, None), (False, None), (True, "at_most_once")])
def test_a_run_that_is_killed_while_a_stop_ends_it_is_cancelled_and_not_given_back(in_handler, delivery):
    async def go():
        app, begun, told, logs = Executor(), asyncio.Event(), asyncio.Event(), asyncio.Event()

        @app.handler("h")
        async def h(run):
            begun.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                if in_handler:
                    await told.wait()
                raise

        i = instance(app)
        request, waiting = i.nc.request, []

        async def slow_logs(subject, *more, **options):
            if subject.startswith("log."):
                waiting.append(subject)
                await logs.wait()
            return await request(subject, *more, **options)

        i.nc.request = slow_logs
        i.start(given(i, delivery=delivery) if delivery else given(i), REPLY)
        await begun.wait()
        next(iter(i.live.values())).end(Stopping("the executor is stopping"))
        if not in_handler:
            await until(lambda: waiting)
        await i.requests._hear(Message("kill", json.dumps({"run_id": given(i).run_id, "by": "ann", "reason": "wrong day"}).encode(), i.secret))
        assert json.loads(next(d for s, d in i.nc.sent if s == "answer"))["value"]["answer"] == "accepted"
        told.set()
        logs.set()
        await until(lambda: not i.live)
        end = json.loads(next(d for s, d in i.nc.sent if s == "evt.3.g"))
        assert (end["status"], end["message"], end["log_lines"]) == ("cancelled", "cancelled by ann: wrong day", 1) and answers(i) == [b"+ACK"]

    asyncio.run(go())


def test_an_end_is_in_the_spool_before_its_log_lines_are_waited_for(tmp_path):
    async def go():
        app = Executor()

        @app.handler("h")
        async def h(run):
            run.log.info("one")
            return 7

        i = instance(app)
        i.spool, request = Spool(str(tmp_path)), i.nc.request

        async def without_logs(subject, *more, **options):
            if subject.startswith("log."):
                await logs.wait()
            return await request(subject, *more, **options)

        i.nc.request, logs = without_logs, asyncio.Event()
        i.start(given(i), REPLY)
        await until(i.spool.paths)
        _, end, _ = i.spool.read(i.spool.paths()[0])
        assert json.loads(end)["result"] == 7 and json.loads(end)["log_lines"] == 1 and not answers(i)
        logs.set()
        await until(lambda: answers(i) == [b"+ACK"])
        assert not i.spool.paths()

    asyncio.run(go())
