import asyncio
import json
import re
from types import SimpleNamespace

import pytest

from carillon import wire
from carillon.ends import MAX_PACK, Ends

PACKS = "evt.p0.g"


class Instance:
    """Holds what is published until it is answered."""

    instance = "i"

    def __init__(self):
        self.nc = SimpleNamespace(max_payload=1 << 20)
        self.sent, self.tasks, self.answers = [], [], asyncio.Queue()

    def spawn(self, work):
        self.tasks.append(asyncio.ensure_future(work))

    async def until_stored(self, subject, data, headers):
        self.sent.append((subject, data(), headers))
        while not (stored := await self.answers.get()):  # not stored, and tried again
            data()
        if isinstance(stored, Exception):
            raise stored
        return stored == "stored"


async def reported(ends, *sizes, report=PACKS):
    """Report ends of so many bytes and more, and return the tasks that wait for them."""
    tasks = []
    for n, size in enumerate(sizes):
        data = wire.dumps({"kind": "finished", "run_id": str(n), "message": "x" * size})
        tasks.append(asyncio.ensure_future(ends.until_stored(report, "evt.3.g", data, {wire.TOKEN: f"token-{n}"})))
        await asyncio.sleep(0)
    await idle()
    return tasks


async def idle():
    for _ in range(10):
        await asyncio.sleep(0)


def runs(message):
    """The runs whose ends a message has."""
    subject, data, headers = message
    if subject != PACKS:
        return [json.loads(data)["run_id"]]
    head, *lines = map(json.loads, data.split(b"\n"))
    assert head == {"instance": "i", "ends": len(lines)} and headers[wire.MESSAGE] == "events.v1"
    assert re.fullmatch(r"p:[A-Za-z0-9_-]{22}", headers[wire.MSG_ID]) and wire.TOKEN not in headers
    assert all(line["token"] == f"token-{line['run_id']}" and line["kind"] == "finished" for line in lines)
    return [line["run_id"] for line in lines]


def test_a_lone_end_goes_at_once_and_what_comes_meanwhile_in_one_message():
    async def go():
        i = Instance()
        tasks = await reported(Ends(i), 0, 0, 0)
        assert [runs(m) for m in i.sent] == [["0"]] and not tasks[0].done()
        i.answers.put_nowait("stored")
        await idle()
        assert [runs(m) for m in i.sent] == [["0"], ["1", "2"]] and [t.done() for t in tasks] == [True, False, False]
        i.answers.put_nowait("stored")
        await idle()
        assert [await t for t in tasks] == [True] * 3

    asyncio.run(go())


def test_ends_that_somebody_waits_for_go_alone():
    async def go():
        i = Instance()
        await reported(Ends(i), 0, 0, report="")
        assert [runs(m) for m in i.sent] == [["0"], ["1"]]

    asyncio.run(go())


@pytest.mark.parametrize(("sizes", "first", "most"), [
    ([0] * 300, 256, 1 << 20), ([20_000] * 20, 13, 1 << 20), ([20_000] * 20, 2, 48 << 10), ([0, 40_000, 0], 1, 1 << 20), ([40_000, 0, 0], 1, 1 << 20),
])
def test_a_pack_has_bounds(sizes, first, most):
    async def go():
        i = Instance()
        i.nc.max_payload = most
        await reported(Ends(i), 0, *sizes)
        for _ in sizes:
            i.answers.put_nowait("stored")
            await idle()
        assert len(runs(i.sent[1])) == first and sum(len(runs(m)) for m in i.sent) == 1 + len(sizes)
        assert max(len(data) for _, data, _ in i.sent[1:]) <= min(MAX_PACK, most - (4 << 10))

    asyncio.run(go())


def test_a_pack_falls_apart_if_nats_comes_back_with_a_smaller_limit():
    async def go():
        i = Instance()
        tasks = await reported(Ends(i), 0, 20_000, 20_000)
        i.answers.put_nowait("stored")
        await idle()
        i.nc.max_payload = 32 << 10
        for answer in ("", "stored", "stored"):
            i.answers.put_nowait(answer)
        await idle()
        assert [runs(m) for m in i.sent] == [["0"], ["1", "2"], ["1"], ["2"]] and all([await t for t in tasks])

    asyncio.run(go())


def test_ends_are_not_stored_if_the_connection_is_closed():
    async def go():
        i = Instance()
        tasks = await reported(Ends(i), 0, 0, 0)
        i.answers.put_nowait("closed")
        i.answers.put_nowait("closed")
        assert [await t for t in tasks] == [False] * 3

    asyncio.run(go())


def test_an_error_that_nobody_expects_stops_no_later_end():
    async def go():
        i = Instance()
        ends = Ends(i)
        tasks = await reported(ends, 0, 0)
        i.answers.put_nowait(MemoryError("test"))
        for task in tasks:
            with pytest.raises(MemoryError):
                await task
        await reported(ends, 0)
        assert [runs(m) for m in i.sent] == [["0"], ["0"]]

    asyncio.run(go())
