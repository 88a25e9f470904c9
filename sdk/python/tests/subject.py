"""The executor for `carillon conformance`."""

import asyncio
import logging
import sys
import time

from carillon import Executor, Run, runlog

runlog.shared.most = 1 << 20  # so that lines are dropped where a case wants that
logging.basicConfig(level=logging.INFO, stream=sys.stderr)
app = Executor(slots=4, grace=2)


@app.handler
async def echo(run: Run, params):
    return params


@app.handler
async def item(run: Run, params):
    return run.item


@app.handler
async def fail(run: Run, params):
    raise RuntimeError(params["message"])


@app.handler
async def sleep(run: Run, params):
    end = time.monotonic() + params["seconds"]
    while time.monotonic() < end:
        run.progress(50, "asleep")
        await asyncio.sleep(min(0.2, max(end - time.monotonic(), 0)))


@app.handler
def lines(run: Run, params):
    for i in range(params["count"]):
        run.log.info("line %d", i + 1)


@app.handler
async def long(run: Run):
    run.log.info("x" * 100_000)


@app.handler
async def large(run: Run, params):
    text = "x" * params["bytes"]
    run.progress(50, text)
    await asyncio.sleep(params["seconds"])
    return text


@app.handler
def stubborn(run: Run, params):
    time.sleep(params["seconds"])


@app.handler
async def start(run: Run, params):
    return [await run.start(job, {"n": 1}) for job in params["jobs"]]


@app.handler
async def nan(run: Run):
    return {"ratio": float("nan")}


if __name__ == "__main__":
    app.run()
