"""The client for code that waits in a thread."""

from __future__ import annotations

import os
import ssl
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, TypeVar
from urllib.parse import urlsplit

from .calls import Call, Calls, Clock, RunRequest, Send, State
from .errors import ClientError, invalid
from .transport import Answer, Broken, Transport, http_transport

DEFAULT_SERVER = "http://127.0.0.1:8822"  # where "carillon dev" listens

T = TypeVar("T")


@dataclass
class Accepted:
    """A run that a server has accepted. ``status`` is what it was then."""

    id: str
    job: str
    version: int
    status: str
    due: datetime | None = None
    existed: bool = False  # a request before this one made it
    reason: str = ""  # why it is queued or skipped


@dataclass
class Run(Accepted):
    """A run that a server has accepted, and that can be waited for."""

    _client: Client = field(repr=False, compare=False, kw_only=True)

    def wait(self, timeout: float | None = None) -> State:
        """Wait for the end of the run, as ``Client.wait`` does."""
        return self._client.wait(self, timeout)

    def cancel(self, reason: str = "") -> None:
        """Cancel the run, as ``Client.cancel`` does."""
        self._client.cancel(self, reason)


class Base:
    """What both clients have."""

    def __init__(self, server: str = DEFAULT_SERVER, token: str = "", *, context: ssl.SSLContext | None = None) -> None:
        """Make a client, which sends nothing yet. ``context`` is for certificates of your own."""
        server = (server if "://" in server else "http://" + server).rstrip("/")
        parts = urlsplit(server)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise invalid("server", "must be an address such as https://carillon.example.com")
        self.server = server
        self._transport: Transport = http_transport(server, token, context)
        self._calls = Calls(server, Clock(time.time, time.monotonic))

    @staticmethod
    def _environment() -> tuple[str, str]:
        return os.environ.get("CARILLON_SERVER") or DEFAULT_SERVER, os.environ.get("CARILLON_TOKEN", "")

    def _exchange(self, step: Send) -> Answer | str:
        try:
            return self._transport(step.method, step.path, step.body, step.timeout)
        except Broken as error:
            return str(error)


class Client(Base):
    """Runs jobs by the HTTP API. It can be used from several threads."""

    @classmethod
    def from_environment(cls) -> Client:
        """Return a client for the server in CARILLON_SERVER with the token in CARILLON_TOKEN."""
        return cls(*cls._environment())

    def run(
        self,
        job: str,
        params: Any = None,
        *,
        at: datetime | None = None,
        in_: timedelta | float | None = None,
        expires: datetime | timedelta | float | None = None,
        labels: dict[str, str] | None = None,
        key: str | None = None,
        reset: bool = False,
    ) -> Run:
        """Make a run of a job, ``group/name``. It is stored when this returns, and goes on without this program.

        ``params`` replace those of the job, unless they are None: anything that JSON can express,
        a dataclass or a pydantic model. The run begins ``at`` an instant, or ``in_`` a while, and
        is missed if it has not begun when it ``expires``. Numbers are seconds. For a ``key`` of 1 to
        256 bytes the job makes one run, until seven days after that was due and while it is alive:
        further calls return it. With ``reset``, they make another one if it has ended.
        """
        return Run(**self._drive(self._calls.run(RunRequest(job, params, at, in_, expires, labels, key, reset))), _client=self)

    def run_many(self, requests: Iterable[RunRequest]) -> list[Run | ClientError]:
        """Make up to 500 runs with one request, and return a run or an error for each, in that order.

        Raises an error only if no server answered for any of them.
        """
        results = self._drive(self._calls.run_many(requests))
        return [r if isinstance(r, ClientError) else Run(**r, _client=self) for r in results]

    def status(self, run: Run | str) -> State:
        """Return what a run is like now."""
        return self._drive(self._calls.status(run if isinstance(run, str) else run.id))

    def wait(self, run: Run | str, timeout: float | None = None) -> State:
        """Wait for the end of a run. It goes on while servers are away.

        After ``timeout`` seconds, it raises a TimeoutError, and the run goes on. Without one, it
        waits for ever.
        """
        return self._drive(self._calls.wait(run if isinstance(run, str) else run.id, timeout))

    def cancel(self, run: Run | str, reason: str = "") -> None:
        """Cancel a run that waits or runs. ``reason`` is for the audit log."""
        id, job = (run, "") if isinstance(run, str) else (run.id, run.job)
        self._drive(self._calls.cancel(id, job, reason))

    def cancel_key(self, job: str, key: str, reason: str = "") -> None:
        """Cancel the run of a job that has a key. Raises ``NotFound`` if no run has it."""
        self._drive(self._calls.cancel_key(job, key, reason))

    def waiting(self, job: str) -> Iterator[Run]:
        """List the runs of a job that wait for their time, the latest first."""
        cursor = ""
        while True:
            page, cursor = self._drive(self._calls.waiting(job, cursor))
            for fields in page:
                yield Run(**fields, _client=self)
            if not cursor:
                return

    def _drive(self, call: Call[T]) -> T:
        """Carry out the steps of a call."""
        reply: Any = None
        try:
            while True:
                step, reply = call.send(reply), None
                if isinstance(step, Send):
                    reply = self._exchange(step)
                else:
                    self._pause(step.seconds)
        except StopIteration as end:
            result: T = end.value
            return result

    def _pause(self, seconds: float) -> None:
        time.sleep(seconds)
