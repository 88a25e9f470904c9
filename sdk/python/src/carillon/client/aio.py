"""The client for asyncio. Its requests wait in threads of the event loop's executor."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, TypeVar

from .calls import Call, RunRequest, Send, State
from .errors import ClientError
from .sync import Accepted, Base

T = TypeVar("T")


@dataclass
class AsyncRun(Accepted):
    """A run that a server has accepted, and that can be waited for."""

    _client: AsyncClient = field(repr=False, compare=False, kw_only=True)

    async def wait(self, timeout: float | None = None) -> State:
        """Wait for the end of the run, as ``AsyncClient.wait`` does."""
        return await self._client.wait(self, timeout)

    async def cancel(self, reason: str = "") -> None:
        """Cancel the run, as ``AsyncClient.cancel`` does."""
        await self._client.cancel(self, reason)


class AsyncClient(Base):
    """Runs jobs by the HTTP API: the same as ``Client``, for asyncio."""

    @classmethod
    def from_environment(cls) -> AsyncClient:
        """Return a client for the server in CARILLON_SERVER with the token in CARILLON_TOKEN."""
        return cls(*cls._environment())

    async def run(
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
    ) -> AsyncRun:
        """Make a run of a job, as ``Client.run`` does."""
        return AsyncRun(**await self._drive(self._calls.run(RunRequest(job, params, at, in_, expires, labels, key, reset))), _client=self)

    async def run_many(self, requests: Iterable[RunRequest]) -> list[AsyncRun | ClientError]:
        """Make up to 500 runs with one request, as ``Client.run_many`` does."""
        results = await self._drive(self._calls.run_many(requests))
        return [r if isinstance(r, ClientError) else AsyncRun(**r, _client=self) for r in results]

    async def status(self, run: AsyncRun | str) -> State:
        """Return what a run is like now."""
        return await self._drive(self._calls.status(run if isinstance(run, str) else run.id))

    async def wait(self, run: AsyncRun | str, timeout: float | None = None) -> State:
        """Wait for the end of a run, as ``Client.wait`` does."""
        return await self._drive(self._calls.wait(run if isinstance(run, str) else run.id, timeout))

    async def cancel(self, run: AsyncRun | str, reason: str = "") -> None:
        """Cancel a run that waits or runs. ``reason`` is for the audit log."""
        id, job = (run, "") if isinstance(run, str) else (run.id, run.job)
        await self._drive(self._calls.cancel(id, job, reason))

    async def cancel_key(self, job: str, key: str, reason: str = "") -> None:
        """Cancel the run of a job that has a key, as ``Client.cancel_key`` does."""
        await self._drive(self._calls.cancel_key(job, key, reason))

    async def waiting(self, job: str) -> AsyncIterator[AsyncRun]:
        """List the runs of a job that wait for their time, the latest first."""
        cursor = ""
        while True:
            page, cursor = await self._drive(self._calls.waiting(job, cursor))
            for fields in page:
                yield AsyncRun(**fields, _client=self)
            if not cursor:
                return

    async def _drive(self, call: Call[T]) -> T:
        """Carry out the steps of a call."""
        reply: Any = None
        try:
            while True:
                step, reply = call.send(reply), None
                if isinstance(step, Send):
                    reply = await asyncio.to_thread(self._exchange, step)
                else:
                    await self._pause(step.seconds)
        except StopIteration as end:
            result: T = end.value
            return result

    async def _pause(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
