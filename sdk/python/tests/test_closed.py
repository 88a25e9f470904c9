import asyncio
import gc
import json
import subprocess
import sys

import nats.errors
import pytest
from fakenats import Nats
from test_instance import REPLY, given, instance, until
from test_pull import HEADERS, requests

from carillon import Executor
from carillon.instance import ConnectionLost
from carillon.spool import Spool


async def serving(server, spool, finishes):
    """An executor that is served, with one run."""
    app, begun = Executor(group="g", nats=server.url, instance="i", spool=str(spool)), asyncio.Event()

    @app.handler("h")
    async def h(run):
        run.log.info("one")
        begun.set()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            if not finishes:
                raise
        return "done"

    task = asyncio.ensure_future(app.serve())
    await until(lambda: requests(server))
    server.deliver(requests(server)[0], REPLY, HEADERS, json.dumps(given(None).raw))
    await begun.wait()
    return task


@pytest.mark.parametrize("finishes", [True, False])
def test_a_connection_that_nats_closes_for_good_ends_the_executor_and_keeps_what_has_ended(tmp_path, finishes):
    async def go():
        async with Nats() as server:
            task = await serving(server, tmp_path, finishes)
            server.send("-ERR 'User Authentication Revoked'\r\n")
            with pytest.raises(ConnectionLost, match="closed the connection: .*revoked"):
                await asyncio.wait_for(task, 8)
            spool = Spool(str(tmp_path))
            assert [json.loads(spool.read(path)[1])["result"] for path in spool.paths()] == (["done"] if finishes else [])

    asyncio.run(go())


def test_a_program_that_ends_its_loop_says_of_no_run_that_it_failed(tmp_path):
    async def go():
        async with Nats() as server:
            task = await serving(server, tmp_path, False)
            task.cancel()
            await asyncio.wait({task})
            assert not [s for s, _, _ in server.published if s.startswith("evt.")]

    asyncio.run(asyncio.wait_for(go(), 20))  # it cancels what is left
    assert not Spool(str(tmp_path)).paths()


def test_an_executor_whose_connection_is_closed_for_good_ends_with_1(monkeypatch, caplog):
    app = Executor(group="g")

    async def serve(signals=()):
        raise ConnectionLost("NATS has closed the connection")

    monkeypatch.setattr(app, "serve", serve)
    with pytest.raises(SystemExit, match="1"):
        app.run()
    assert "NATS has closed the connection" in caplog.text


STUCK = """
import asyncio, threading
from carillon import Executor, testing

app, begun = Executor(group="g"), threading.Event()

@app.handler
def stuck(run):
    begun.set()
    threading.Event().wait()

async def serve(signals=()):
    left_behind.append(asyncio.ensure_future(testing.run_handler_async(app, "stuck")))
    await asyncio.get_running_loop().run_in_executor(None, begun.wait)

left_behind, app.serve = [], serve
app.run()
"""


def test_a_plain_function_that_never_returns_does_not_keep_the_process():
    done = subprocess.run([sys.executable, "-c", STUCK], capture_output=True, text=True, timeout=20)
    assert done.returncode == 0 and "the process ends without plain functions that have not returned: test/job" in done.stderr


def test_what_is_announced_is_given_up_with_the_connection_without_a_word(caplog):
    async def go():
        app = Executor()
        app.handler("h")(lambda run: None)
        i = instance(app)

        async def closed(*_, **__):
            raise nats.errors.ConnectionClosedError

        i.nc.request = closed
        await i._announce()
        await until(lambda: not i._tasks)
        gc.collect()

    asyncio.run(go())
    assert not caplog.text
