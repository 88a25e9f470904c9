"""An executor made with flask-xxljob, as its README shows, which reports the end of each run."""

import os
import threading
import time

from flask import Flask
from flask_xxljob import FlaskXXLJob, XXLJobResponse

app = Flask(__name__)
app.config.update(
    XXL_JOB_ADMIN_ADDRESSES=[os.environ["XXL_ADMIN"]],
    XXL_JOB_ACCESS_TOKEN=os.environ["XXL_TOKEN"],
    XXL_JOB_EXECUTOR_APP_NAME=os.environ["XXL_APPNAME"],
    XXL_JOB_EXECUTOR_ADDRESS="http://127.0.0.1:" + os.environ["XXL_PORT"],
)
xxl_job = FlaskXXLJob(app)


def later(report):
    def work():
        with app.app_context():
            report()

    threading.Thread(target=work).start()
    return XXLJobResponse.success(content="job received")


@xxl_job.on_run("success")
def success(r):
    return later(
        lambda: xxl_job.callback_success(log_id=r.log_id, log_date_time=r.log_date_time, message=r.executor_params)
    )


@xxl_job.on_run("failure")
def failure(r):
    return later(
        lambda: xxl_job.callback_failure(log_id=r.log_id, log_date_time=r.log_date_time, message="磁盘已满")
    )


@xxl_job.on_run("slow")
def slow(r):
    def report():
        time.sleep(int(r.executor_params))
        xxl_job.callback_success(log_id=r.log_id, log_date_time=r.log_date_time, message="slept")

    return later(report)


app.run(host="127.0.0.1", port=int(os.environ["XXL_PORT"]))
