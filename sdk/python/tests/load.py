"""The executor for load: see internal/e2e/load/main.go, which has the same handlers."""

import asyncio
import os

from carillon import Executor, Run

app = Executor()


@app.handler
async def noop(run: Run):
    pass


@app.handler
async def journal(run: Run, params):
    with open(os.environ["JOURNAL"], "ab", buffering=0) as file:
        file.write(f"{run.id} {run.delivered}\n".encode())
    run.log.info("journal written")
    await asyncio.sleep(params["seconds"])
    if run.attempt < params["attempts"]:
        raise RuntimeError("this attempt has to fail")


@app.handler
async def halt(run: Run):
    with open(os.environ["JOURNAL"], "ab", buffering=0) as file:
        file.write(f"{run.id} {run.delivered}\n".encode())
    os._exit(3)


if __name__ == "__main__":
    app.run()
