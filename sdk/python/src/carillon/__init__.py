"""Handlers for Carillon in Python.

>>> from carillon import Executor, Run
>>> app = Executor(group="billing")
>>> @app.handler("report")
... async def report(run: Run, params: dict) -> dict:
...     run.log.info("begun")
...     return {"written": 1}
>>> app.run()  # doctest: +SKIP
"""

from .errors import Cancelled, ConfigurationError, Final, RetryAfter, StartRefused, Stopping, TimedOut
from .executor import Executor
from .run import Run, current_run

__all__ = [
    "Cancelled",
    "ConfigurationError",
    "Executor",
    "Final",
    "RetryAfter",
    "Run",
    "StartRefused",
    "Stopping",
    "TimedOut",
    "current_run",
]
