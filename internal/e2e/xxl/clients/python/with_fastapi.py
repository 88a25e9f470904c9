"""An executor made with fastapi-xxljob, as its README shows, which reports the end of each run."""

import asyncio
import os

import uvicorn
from fastapi import FastAPI
from fastapi_xxljob import FastAPIXXLJob, XXLJobResponse

app = FastAPI()
xxljob = FastAPIXXLJob(
    app,
    {
        "XXL_JOB_ADMIN_ADDRESSES": os.environ["XXL_ADMIN"],
        "XXL_JOB_ACCESS_TOKEN": os.environ["XXL_TOKEN"],
        "XXL_JOB_EXECUTOR_APP_NAME": os.environ["XXL_APPNAME"],
        "XXL_JOB_EXECUTOR_ADDRESS": "http://127.0.0.1:" + os.environ["XXL_PORT"],
    },
)
tasks = set()


def later(report):
    tasks.add(asyncio.get_running_loop().create_task(report))
    return XXLJobResponse.success(content="job received")


@xxljob.on_run("success")
async def success(r):
    return later(xxljob.callback_success(log_id=r.log_id, log_date_time=r.log_date_time, message=r.executor_params))


@xxljob.on_run("failure")
async def failure(r):
    return later(xxljob.callback_failure(log_id=r.log_id, log_date_time=r.log_date_time, message="磁盘已满"))


async def report_late(r):
    await asyncio.sleep(int(r.executor_params))
    await xxljob.callback_success(log_id=r.log_id, log_date_time=r.log_date_time, message="slept")


@xxljob.on_run("slow")
async def slow(r):
    return later(report_late(r))


uvicorn.run(app, host="127.0.0.1", port=int(os.environ["XXL_PORT"]))
