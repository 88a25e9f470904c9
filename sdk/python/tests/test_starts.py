import asyncio
import json
from datetime import datetime, timedelta, timezone

import pytest
from test_instance import REPLY, given, instance, until

from carillon import Executor, StartRefused, starts, wire
from carillon.testing import run_handler


class Servers:
    """Answer requests to start runs in turn; None is no answer."""

    def __init__(self, i, answers):
        self.answers, self.asked, self.headers = answers, [], []
        self._request = i.nc.request
        i.nc.request = self.request

    async def request(self, subject, data, timeout=5, headers=None):
        if subject != "start.g":
            return await self._request(subject, data, timeout, headers)
        self.asked.append(json.loads(data))
        self.headers.append(headers)
        answer = self.answers.pop(0) if self.answers else {"value": {"run_id": f"run{len(self.asked)}"}}
        if answer is None:
            raise asyncio.TimeoutError

        class Answer:
            data = json.dumps(answer).encode()

        return Answer


def fault(kind):
    return {"fault": {"kind": kind, "text": f"it is {kind}"}}


def asked_by(handler, answers):
    """Does an attempt with a handler; returns what servers were asked, with which headers, and the event of its end."""

    async def go():
        app = Executor()
        app.handler("h")(handler)
        i = instance(app)
        servers = Servers(i, answers)
        i.start(given(i), REPLY)
        await until(lambda: not i.live)
        return servers, next(e for s, d in i.nc.sent if s.startswith("evt.") and (e := json.loads(d)).get("kind") == "finished")

    return asyncio.run(go())


@pytest.fixture(autouse=True)
def soon(monkeypatch):
    monkeypatch.setattr(starts, "AGAIN", 0.001)


def test_a_start_is_counted_by_its_job_and_params_and_bound_to_the_attempt():
    async def h(run):
        await run.start("g/b", {"y": 1, "x": 2}, in_=timedelta(hours=1), expires=60)
        await run.start("g/b", {"x": 2, "y": 1})
        await run.start("g/b")
        return await run.start("g/c", {"x": 2, "y": 1}, at=datetime(2026, 3, 1, 12, tzinfo=timezone.utc), labels={"zone": "eu"})

    servers, end = asked_by(h, [])
    assert servers.asked == [
        {"job": "g/b", "params": {"x": 2, "y": 1}, "in": "3600000ms", "expires": "60000ms", "count": 0},
        {"job": "g/b", "params": {"x": 2, "y": 1}, "count": 1},
        {"job": "g/b", "count": 0},
        {"job": "g/c", "params": {"x": 2, "y": 1}, "at": "2026-03-01T12:00:00.000Z", "labels": {"zone": "eu"}, "count": 0},
    ]
    assert servers.headers[0] == {wire.TOKEN: "token", wire.ACK: REPLY}
    assert end["result"] == "run4"


def test_a_start_without_an_answer_is_repeated_with_its_count():
    def h(run):  # in a thread
        return run.start_and_wait("g/b")

    servers, end = asked_by(h, [None, fault("unavailable")])
    assert servers.asked == [{"job": "g/b", "count": 0}] * 3
    assert end["result"] == "run3"


def test_a_start_that_is_refused_raises():
    async def h(run):
        with pytest.raises(StartRefused) as e:
            await run.start("g/b")
        return e.value.kind, str(e.value)

    servers, end = asked_by(h, [fault("conflict")])
    assert len(servers.asked) == 1 and end["result"] == ["conflict", "it is conflict"]


def test_a_start_that_no_server_answers_raises_at_last(monkeypatch):
    monkeypatch.setattr(starts, "PATIENCE", 0.01)

    async def h(run):
        await run.start("g/b")

    _, end = asked_by(h, [None] * 100)
    assert end["status"] == "failed" and "no server answers" in end["message"]


def test_the_test_kit_records_what_a_handler_wants_to_start():
    app = Executor()

    @app.handler("h")
    def h(run):
        return run.start_and_wait("g/b", {"n": 1})

    end = run_handler(app, "h")
    assert end.started == [{"job": "g/b", "params": {"n": 1}, "count": 0}] and end.result
