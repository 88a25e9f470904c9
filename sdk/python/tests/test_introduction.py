import asyncio
import json
import logging
from types import SimpleNamespace

import nats.errors
import pytest
from test_instance import REPLY, given, instance, until

from carillon import Executor, attempt, wire
from carillon.connection import Errors
from carillon.instance import Conflict, Refused


class Bucket:
    """Answers what an instance asks of the bucket of heartbeats."""

    def __init__(self, i):
        self.beats = []  # what was to be stored, by the sequence that was expected
        self.answers = asyncio.Event()
        self.answers.set()
        self.shows = []  # what replicas show in turn: sequence and heartbeat; the last one stays
        self.sequence = 0  # of the heartbeat that stands
        self.seconds = 0  # that have passed: one for each look
        self._of, self._request = i, i.nc.request
        i.nc.request = self.request

    async def request(self, subject, data, timeout=5, headers=None):
        class Answer:
            headers, data = {}, b""

        if subject.startswith("$JS.API.DIRECT.GET.KV_INST."):
            self.seconds += 1
            sequence, beat = self.shows.pop(0) if len(self.shows) > 1 else self.shows[0]
            if sequence:
                Answer.headers, Answer.data = {"Nats-Sequence": str(sequence)}, json.dumps(beat).encode()
            elif beat is None:
                Answer.headers = {"Status": "404"}
            else:
                raise beat
        elif subject.startswith("$KV.INST."):
            expected = headers.get("Nats-Expected-Last-Subject-Sequence")
            self.beats.append(expected and int(expected))
            await self.answers.wait()
            wrong = self.beats[-1] not in (None, self.sequence)
            Answer.data = b'{"error": {"err_code": 10071}}' if wrong else b'{"stream":"KV_INST","seq":1}'
        else:
            return await self._request(subject, data, timeout, headers)
        return Answer


@pytest.fixture
def soon(monkeypatch):
    monkeypatch.setattr("carillon.instance.LOOK_AGAIN", 0)


def count_looks(b, monkeypatch):
    """Have a second pass with each look at the bucket."""
    monkeypatch.setattr("carillon.instance.time", SimpleNamespace(monotonic=lambda: b.seconds))


def test_runs_are_kept_alive_while_the_instance_is_introduced(monkeypatch):
    monkeypatch.setattr(attempt, "SIGN_OF_LIFE", 0.01)

    async def go():
        app, free = Executor(), asyncio.Event()

        @app.handler("h")
        async def h(run):
            await free.wait()

        i = instance(app)
        Bucket(i).answers = asyncio.Event()  # never
        i.start(given(i), REPLY)
        working = asyncio.ensure_future(i._work())
        await until(lambda: i.nc.sent.count((REPLY, b"+WPI")) > 3)
        assert not [s for s, _ in i.nc.sent if s.startswith(("$JS.API.CONSUMER", "$KV"))]  # it has to be known first
        i._stop.set()
        await asyncio.wait_for(working, 5)
        free.set()
        await until(lambda: not i.live)

    asyncio.run(go())


def test_an_instance_that_finds_its_name_taken_gives_its_runs_back_and_leaves_the_heartbeat_alone():
    async def go():
        app, begun = Executor(), asyncio.Event()

        @app.handler("h")
        async def h(run):
            begun.set()
            await asyncio.sleep(60)

        async def introduce():
            raise Conflict("another lives")

        i = instance(app)
        i.settings.grace, i._introduce, i._known = 0, introduce, True
        i.start(given(i), REPLY)
        await begun.wait()
        await asyncio.wait_for(i._work(), 5)
        await i._leave()
        assert (REPLY, b'-NAK {"delay": 1000000000}') in i.nc.sent
        assert not [s for s, _ in i.nc.sent if s.startswith("$KV.INST.")]
        assert str(i._conflict) == "another lives"

    asyncio.run(go())


def test_an_executor_has_started_once_its_heartbeat_is_stored(caplog):
    async def go():
        i, stored = instance(Executor()), asyncio.Event()
        i._introduce = stored.wait
        await i._turn()
        await asyncio.sleep(0)
        assert "executor started" not in caplog.text
        stored.set()
        await until(lambda: i._introduced)
        assert caplog.text.count("executor started: group g, instance i, 32 slots") == 1

    with caplog.at_level(logging.INFO):
        asyncio.run(go())


def test_a_heartbeat_that_a_credential_may_not_store_is_said_to_need_another(caplog):
    async def go():
        i = instance(Executor())
        i._errors = Errors(i.settings)
        i._errors.connected()
        await i._errors.hear(nats.errors.Error('nats: permissions violation for publish to "$kv.inst.g.i"'))
        i.stored = denied
        introducing = asyncio.ensure_future(i._introduce())
        while "the heartbeat is not stored" not in caplog.text:
            await asyncio.sleep(0.01)
        introducing.cancel()
        assert "is the credential for group g? Each is for one group" in caplog.text and "is a Carillon server" not in caplog.text

    async def denied(*_, **__):
        raise nats.errors.TimeoutError

    asyncio.run(go())


def test_a_connection_that_comes_back_has_the_instance_introduced_anew():
    async def go():
        i = instance(Executor())
        asked = []

        async def introduce():
            asked.append(asyncio.current_task())
            await asyncio.sleep(0 if len(asked) > 1 else 60)

        i._introduce, i._errors = introduce, type("Errors", (), {"connected": lambda self: None})()
        await i._turn()
        await until(lambda: asked)
        await i._on_reconnected()
        await i._turn()
        await until(lambda: i._introduced)
        assert len(asked) == 2 and asked[0].cancelled()

    asyncio.run(go())


def other(n=0):
    return {"control_secret": "another", "host": "web7", "pid": 4711, "at": n}


def test_a_replica_that_lags_behind_is_asked_again_and_is_no_sign_of_life(soon):
    async def go():
        i = instance(Executor())
        b = Bucket(i)
        b.sequence = 9
        b.shows = [(7, other()), (8, other()), (9, {"control_secret": i.secret})]
        await asyncio.wait_for(i._introduce(), 5)
        assert b.beats == [0, 0, 0, 9]

    asyncio.run(go())


def test_another_instance_that_lives_is_named(soon):
    async def go():
        i = instance(Executor())
        b = Bucket(i)
        b.sequence = 9
        b.shows = [(n, other(n)) for n in range(5, 9)]
        with pytest.raises(Conflict, match="web7, process 4711.*CARILLON_INSTANCE"):
            await asyncio.wait_for(i._introduce(), 5)

    asyncio.run(go())


def removed(i):
    return ("$KV.INST.g.i", b"") in i.nc.sent


def test_a_stop_removes_a_heartbeat_that_may_be_stored_though_no_answer_has_come():
    async def go():
        i = instance(Executor())
        b = Bucket(i)
        b.answers.clear()
        await i._turn()
        await until(lambda: b.beats)
        await i._leave()
        assert removed(i)

    asyncio.run(go())


@pytest.mark.parametrize(("known", "shown", "leaves"), [(True, True, False), (False, True, False), (True, False, True), (False, False, False)])
def test_a_stop_removes_no_heartbeat_of_another_instance(known, shown, leaves):
    async def go():
        i = instance(Executor())
        b = Bucket(i)
        i._known, b.sequence = known, 7  # by an earlier connection
        b.shows = [(7, other()) if shown else (0, None)] * 2
        await i._turn()
        await until(lambda: len(b.shows) == 1)
        await i._leave()
        assert removed(i) is leaves

    asyncio.run(go())


def test_a_read_that_fails_is_no_sight_of_an_instance_that_died(soon, monkeypatch):
    async def go():
        i = instance(Executor())
        b = Bucket(i)
        count_looks(b, monkeypatch)
        b.sequence = 7
        b.shows = [(0, None), (0, None), (7, other())]
        await asyncio.wait_for(i._introduce(), 5)
        assert b.beats[-1] == 7
        assert b.seconds > wire.ACK_WAIT

    asyncio.run(go())


@pytest.mark.parametrize("why", [None, nats.errors.NoRespondersError(), nats.errors.TimeoutError()])
def test_a_heartbeat_that_cannot_be_read_counts_as_gone_after_a_while(soon, monkeypatch, caplog, why):
    caplog.set_level(logging.INFO, logger="carillon.executor")

    async def go():
        i = instance(Executor())
        b = Bucket(i)
        count_looks(b, monkeypatch)
        b.sequence, b.shows = 7, [(0, why)]
        await asyncio.wait_for(i._introduce(), 5)
        assert b.beats == [0] * 15 + [None]
        assert [(r.levelname, r.getMessage()) for r in caplog.records] == [
            ("INFO", "waiting: the heartbeat of instance i cannot be read; if that lasts 15 s, the instance counts as gone")]

    asyncio.run(go())


def test_a_heartbeat_that_was_read_does_not_count_as_gone_for_as_long(soon, monkeypatch):
    async def go():
        i = instance(Executor())
        b = Bucket(i)
        count_looks(b, monkeypatch)
        b.sequence, b.shows = 7, [(0, None)] * 10 + [(7, other())] + [(0, None)]
        await asyncio.wait_for(i._introduce(), 5)
        assert b.beats == [0] * 26 + [None]

    asyncio.run(go())


def test_a_heartbeat_that_is_removed_while_it_cannot_be_read_is_expected_no_more(soon, monkeypatch):
    async def go():
        i = instance(Executor())
        b = Bucket(i)
        count_looks(b, monkeypatch)
        b.sequence, b.shows = 7, [(6, {"control_secret": i.secret}), (0, None)]
        stored = i.stored

        async def store(subject, data, headers):
            if b.seconds == 3:
                b.sequence = 0  # it was removed
            await stored(subject, data, headers)

        i.stored = store
        await asyncio.wait_for(i._introduce(), 5)
        assert b.beats == [0, 6, 0, 0]

    asyncio.run(go())


def test_a_heartbeat_that_nats_does_not_store_restarts_the_wait(soon, monkeypatch):
    async def go():
        i = instance(Executor())
        b = Bucket(i)
        count_looks(b, monkeypatch)
        b.sequence, b.shows = 7, [(0, None)]
        stored, failed = i.stored, []

        async def fail_once(subject, data, headers):
            if b.seconds >= 15 and not failed:
                failed.append(headers)
                raise nats.errors.NoRespondersError
            await stored(subject, data, headers)

        i.stored = fail_once
        await asyncio.wait_for(i._introduce(), 5)
        assert failed == [{}]
        assert b.beats == [0] * 30 + [None]

    asyncio.run(go())


def test_a_warning_says_why_jetstream_refuses_a_heartbeat(caplog):
    async def go():
        i = instance(Executor())
        tries = []

        async def stored(subject, data, headers):
            tries.append(headers)
            if len(tries) == 1:
                raise Refused({"err_code": 10077, "description": "maximum bytes exceeded"})

        i.stored = stored
        await asyncio.wait_for(i._introduce(), 5)
        assert tries == [{wire.EXPECTED: "0"}] * 2
        assert "not stored (maximum bytes exceeded)" in caplog.text

    asyncio.run(go())


def test_no_heartbeat_is_kept_for_the_next_connection():
    async def go():
        i = instance(Executor())
        i._introduced, i.nc.is_connected = True, False
        i.changed()
        await i._turn()
        assert not i.nc.sent
        i.nc.is_connected = True
        await i._turn()
        assert "$KV.INST.g.i" in [s for s, _ in i.nc.sent]

    asyncio.run(go())
