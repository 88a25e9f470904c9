import asyncio
import json
import threading

import pytest
from test_instance import REPLY, given, instance, until

from carillon import Executor, Stopping, attempt


class Claims:
    """Answers claims in turn, and then what stands: None cannot be read yet, True is the claim itself."""

    def __init__(self, i, answers, stands):
        self.answers, self.stands, self.claims = answers, stands, []
        self._of, self._request = i, i.nc.request
        i.nc.request = self.request

    async def request(self, subject, data, timeout=5, headers=None):
        class Answer:
            headers, data = {}, b""

        if subject.startswith("$KV.CLAIM."):
            self.claims.append(json.loads(data))
            answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
            if answer == "lost":
                raise asyncio.TimeoutError
            Answer.data = json.dumps({"error": {"err_code": answer}} if answer else {"stream": "KV_CLAIM", "seq": 1}).encode()
        elif subject.startswith("$JS.API.DIRECT.GET.KV_CLAIM."):
            what = self.stands.pop(0)
            if what is None:
                Answer.headers = {"Status": "404", "Description": "Message Not Found"}
            else:
                Answer.headers = {"Nats-Sequence": "7"}
                Answer.data = json.dumps(self.claims[0] if what is True else {"instance": "other", "try": "theirs"}).encode()
        else:
            return await self._request(subject, data, timeout, headers)
        return Answer


def claimed(answers, stands):
    """Does an attempt that has to be claimed; returns how often the handler was called, and what was published."""

    async def go():
        app, called = Executor(), []

        @app.handler("h")
        async def h(run):
            called.append(run)

        i = instance(app)
        Claims(i, answers, stands)
        i.start(given(i, delivery="at_most_once"), REPLY)
        await until(lambda: not i.live)
        assert [json.loads(d)["ended"] for s, d in i.nc.sent if s.startswith("$KV.CLAIM.")] == [True] * len(called)  # the connection may be closed now
        return len(called), [d for s, d in i.nc.sent if s == REPLY]

    return asyncio.run(go())


@pytest.fixture(autouse=True)
def soon(monkeypatch):
    monkeypatch.setattr(attempt, "CLAIM_AGAIN", 0.005)


def test_an_attempt_that_is_claimed_is_done():
    assert claimed([0], []) == (1, [b"+ACK"])


def test_an_attempt_that_another_has_claimed_is_dropped():
    assert claimed([10071], []) == (0, [])
    assert claimed(["lost", 10071], [False]) == (0, [])


def test_a_claim_that_meets_another_in_flight_is_tried_again():
    assert claimed([10164, 10164, 0], []) == (1, [b"+ACK"])
    assert claimed([10164, 10071], [False]) == (0, [])
    assert claimed(["lost", 10164, 10071], [True]) == (1, [b"+ACK"])


def test_a_claim_that_cannot_be_read_yet_is_asked_for_again():
    assert claimed(["lost", 10071], [None, None, True]) == (1, [b"+ACK"])
    assert claimed(["lost", 10071], [None, False]) == (0, [])


def test_a_claim_that_was_refused_for_another_reason_may_have_been_stored():
    assert claimed([10077, 10071], [True]) == (1, [b"+ACK"])


def test_a_claim_that_is_gone_is_made_again():
    assert claimed(["lost", 10071, 0], [None]) == (1, [b"+ACK"])


def test_an_attempt_that_is_not_claimed_yet_has_not_started(monkeypatch):
    monkeypatch.setattr(attempt, "STARTED_AFTER", 0)

    async def go():
        app = Executor()
        app.handler("h")(lambda run: None)
        i = instance(app)
        claims = Claims(i, ["lost", 10071], [False])
        i.start(given(i, delivery="at_most_once"), REPLY)
        await until(lambda: claims.claims)
        await next(iter(i.live.values())).look()
        await until(lambda: not i.live)
        assert not [d for s, d in i.nc.sent if s == "evt.3.g"]

    asyncio.run(go())


def test_a_plain_function_whose_run_has_to_end_is_claimed_no_more():
    async def go():
        app, called = Executor(), []
        app.handler("h")(lambda run: called.append(run))
        i = instance(app)
        claims = Claims(i, ["lost"], [])
        i.start(given(i, delivery="at_most_once"), REPLY)
        await until(lambda: len(claims.claims) > 1)
        next(iter(i.live.values())).end(Stopping("the executor is stopping"))
        await until(lambda: not i.live)
        assert i.nc.sent[-1] == (REPLY, b'-NAK {"delay": 1000000000}') and not called
        assert not [s for s, _ in i.nc.sent if s == "evt.3.g"]

    asyncio.run(go())


@pytest.mark.parametrize("is_async", [True, False])
def test_an_attempt_that_a_stop_ends_is_lost_only_if_its_function_was_called(is_async):
    async def go():
        app, called, stopped = Executor(), threading.Event(), threading.Event()

        async def asynchronous(run):
            called.set()
            await asyncio.Event().wait()

        def plain(run):
            called.set()
            stopped.wait()
            run.check()

        app.handler("h")(asynchronous if is_async else plain)
        i = instance(app)
        i.start(given(i, delivery="at_most_once"), REPLY)
        await until(called.is_set)
        next(iter(i.live.values())).end(Stopping("the executor is stopping"))
        stopped.set()
        await until(lambda: (REPLY, b"+ACK") in i.nc.sent)
        assert json.loads(next(d for s, d in i.nc.sent if s == "evt.3.g"))["status"] == "lost"

    asyncio.run(go())


def test_an_attempt_is_claimed_only_once_its_secrets_are_there():
    async def go():
        app, called = Executor(), []
        app.handler("h")(lambda run: called.append(run))
        i = instance(app)
        i.key, request, asked = b"k" * 32, i.nc.request, asyncio.Event()

        async def silent(subject, *more, **options):
            if not subject.startswith("$JS.API.DIRECT.GET.KV_SECRET."):
                return await request(subject, *more, **options)
            asked.set()
            await asyncio.Event().wait()

        i.nc.request = silent
        i.start(given(i, delivery="at_most_once", task={"handler": "h", "secrets": {"TOKEN": "token"}}), REPLY)
        await asked.wait()
        assert not [s for s, _ in i.nc.sent if s.startswith("$KV.CLAIM.")]  # or no other instance could do it after a stop

    asyncio.run(go())
