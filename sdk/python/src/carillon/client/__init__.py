"""Runs jobs from the code of an application, by the HTTP API. It needs the standard library only.

>>> from carillon.client import Client, Unavailable
>>> client = Client.from_environment()
>>> run = client.run("mail/welcome", {"user": 42}, expires=3600)  # doctest: +SKIP
>>> end = run.wait(timeout=60)  # doctest: +SKIP
>>> end.status, end.result  # doctest: +SKIP
('succeeded', {'sent': True})

A call of ``run`` makes one run. It sends a random ``run_id`` and repeats the request with it, for
30 s, while servers are away or the connection breaks; servers remember a ``run_id`` for five
minutes. Calls with the same ``key`` make one run, too. ``Unavailable`` leaves open whether there is
a run. After other errors there is none.
"""

from .aio import AsyncClient, AsyncRun
from .calls import RunRequest, State
from .errors import ClientError, Ended, Forbidden, InvalidParams, KeyInUse, NotFound, TooMany, Unavailable
from .memory import Memory, Wish
from .sync import Client, Run

__all__ = [
    "AsyncClient",
    "AsyncRun",
    "Client",
    "ClientError",
    "Ended",
    "Forbidden",
    "InvalidParams",
    "KeyInUse",
    "Memory",
    "NotFound",
    "Run",
    "RunRequest",
    "State",
    "TooMany",
    "Unavailable",
    "Wish",
]
