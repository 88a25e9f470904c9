"""An executor made with pyxxl, or with pyxxljob, which is like it, as their READMEs show."""

import asyncio
import os
import sys

if sys.argv[1] == "pyxxl":
    from pyxxl import ExecutorConfig, PyxxlRunner
    from pyxxl.ctx import g

    listen = {"executor_listen_port": int(os.environ["XXL_PORT"]), "executor_listen_host": "127.0.0.1"}
else:
    from pyxxljob import ExecutorConfig, PyxxlRunner
    from pyxxljob.ctx import g

    listen = {"executor_port": int(os.environ["XXL_PORT"]), "executor_host": "127.0.0.1"}

app = PyxxlRunner(
    ExecutorConfig(
        xxl_admin_baseurl=os.environ["XXL_ADMIN"] + "/api/",
        executor_app_name=os.environ["XXL_APPNAME"],
        access_token=os.environ["XXL_TOKEN"],
        **listen,
    )
)
register = app.register if sys.argv[1] == "pyxxl" else app.handler.register


@register(name="success")
async def success():
    if sys.argv[1] != "pyxxl":  # which has logs, in pages of 1,000 lines
        return g.xxl_run_data.executorParams
    for n in range(2500):
        g.logger.info("line %d", n)
    g.logger.info("收到 %s", g.xxl_run_data.executorParams)
    return 42


@register(name="failure")
async def failure():
    raise ValueError("磁盘已满")


@register(name="slow")
async def slow():
    await asyncio.sleep(int(g.xxl_run_data.executorParams))


app.run_executor()
