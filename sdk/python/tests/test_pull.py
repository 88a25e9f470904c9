import asyncio
import json

import nats.errors
import pytest
from fakenats import Nats
from nats.aio.client import Client
from test_instance import REPLY, Message, given, instance, until

from carillon import Executor, connection, wire
from carillon.connection import Errors

HEADERS = {wire.MESSAGE: wire.TRIGGER, wire.TOKEN: "token"}


async def pulling(server, slots=0, **handlers):
    """An instance that is connected and has a pull request at the server, and the inbox of that."""
    app = Executor()
    for name, handler in handlers.items():
        app.handler(name)(handler)
    i = instance(app)
    i.settings.nats, i.slots = server.url, slots or i.slots
    i.nc, i._introduced, i._known = Client(), True, True
    await i.nc.connect(**connection.options(i.settings, Errors(i.settings)))
    await i.puller.look()
    await until(lambda: requests(server))
    return i, requests(server)[0]


def requests(server):
    """The inboxes of the pull requests that were made."""
    return [reply for subject, reply, _ in server.published if subject.startswith("$JS.API.CONSUMER.MSG.NEXT.")]


def answers(server):
    return [data for subject, _, data in server.published if subject == REPLY]


def late(server, i, inbox):
    """Have the server deliver a trigger just before it learns that the request is given up."""

    def deliver(sid):
        if server.subjects.get(sid) == inbox:
            server.deliver(inbox, REPLY, HEADERS, json.dumps(given(i).raw))

    server.on_unsubscribe = deliver


def test_a_trigger_that_has_come_by_a_request_which_a_stop_gives_up_is_given_back():
    async def go():
        async with Nats() as server:
            i, inbox = await pulling(server, h=lambda run: None)
            late(server, i, inbox)
            await asyncio.wait_for(i._leave(), 10)
            await until(lambda: server.published[-1][0] == "$KV.INST.g.i")
            assert answers(server) == [b'-NAK {"delay": 1000000000}']
            await i.nc.close()

    asyncio.run(go())


@pytest.mark.parametrize("give_up", ["reconnection", "slots", "consumers", "silence"])
def test_a_trigger_that_has_come_by_a_request_which_is_given_up_is_done(give_up):
    async def go():
        async with Nats() as server:
            done = asyncio.Event()

            async def h(run):
                done.set()

            i, inbox = await pulling(server, h=h)
            late(server, i, inbox)
            if give_up == "consumers":
                i.puller.pull_from([("TRIG2", "any-g")])
            elif give_up == "silence":
                i.puller._consumers[0].requests[0].heard -= 60
                await i.puller.look()
            elif give_up == "slots":
                m = Message("set", b'{"slots": 4}', i.secret)
                m.reply = ""
                await i.requests._hear(m)
            else:
                i._errors = Errors(i.settings)
                await i._on_reconnected()
            await asyncio.wait_for(done.wait(), 10)
            await until(lambda: inbox not in server.subjects.values())
            await i.nc.close()

    asyncio.run(go())


@pytest.mark.parametrize("slots", [1, 3])
def test_a_request_whose_slots_offered_runs_have_taken_is_given_up(slots):
    async def go():
        async with Nats() as server:
            free = asyncio.Event()

            async def h(run):
                await free.wait()

            i, inbox = await pulling(server, slots=slots, h=h)
            i.start(given(i), REPLY)
            await i.puller.look()
            ordered = sum(c.ordered() for c in i.puller._consumers)
            free.set()
            assert ordered == slots - 1
            await until(lambda: inbox not in server.subjects.values())
            await until(lambda: not i.live)
            await i.puller.look()
            assert sum(c.ordered() for c in i.puller._consumers) == slots
            await i.nc.close()

    asyncio.run(go())


def test_what_has_come_by_a_request_is_asked_for_once_nats_knows_that_it_is_given_up():
    async def go():
        async with Nats() as server:
            i, _ = await pulling(server)
            server.verbs.clear()
            i.puller.release()
            await i.puller.drained(10)
            await until(lambda: "UNSUB" in server.verbs)
            assert "PING" in server.verbs[server.verbs.index("UNSUB") :]  # its answer comes behind what NATS has sent
            await i.nc.close()

    asyncio.run(go())


def test_a_request_is_given_up_although_nats_does_not_answer(monkeypatch):
    async def go():
        async with Nats() as server:
            i, inbox = await pulling(server)

            async def flush(timeout=10):
                raise nats.errors.FlushTimeoutError

            i.nc.flush = flush
            i.puller.release()
            await i.puller.drained(10)
            await until(lambda: inbox not in server.subjects.values())
            assert inbox not in [s.subject for s in i.nc._subs.values()]  # or it would come back with the connection
            await i.nc.close()

    asyncio.run(go())
