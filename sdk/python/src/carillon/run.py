"""A run, as its handler sees it."""

from __future__ import annotations

import asyncio
import contextvars
import logging
import math
import threading
from collections import Counter
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import Any

from . import starts, wire
from .errors import Ending
from .runlog import LinesHandler, RunLog, level_of

_making = threading.Lock()  # what runs make when they are asked for it

_current: contextvars.ContextVar[Run | None] = contextvars.ContextVar("carillon_run", default=None)


def current_run() -> Run | None:
    """The run whose handler calls, also from its threads that copy the context."""
    return _current.get()


class Run:
    """One attempt of a run. Its methods may be called from any thread."""

    def __init__(self, trigger: wire.Trigger, log: RunLog, instance: str, fence: int = 0) -> None:
        self.trigger, self.instance, self.fence = trigger, instance, fence
        self._log = log
        self._secrets: dict[str, str] = {}
        self._progress: tuple[float, str] | None = None
        self._called = False  # its handler was
        self._awaits = False  # its work is awaited in the event loop, where it can be cancelled
        self._ending: Ending | None = None
        self._cancelled: threading.Event | None = None  # for those who ask for it
        self._logger: logging.Logger | None = None
        self._trace_parent = trigger.trace
        self._starts: Counter[tuple[str, bytes]] = Counter()  # equal starts of other runs
        self._start: Callable[[dict[str, Any]], Awaitable[str]] | None = None  # asks a server

    @property
    def id(self) -> str:
        return self.trigger.run_id

    @property
    def job(self) -> str:
        return self.trigger.job

    @property
    def attempt(self) -> int:
        """Counts the tries of the run, from 1."""
        return self.trigger.attempt

    @property
    def delivered(self) -> int:
        """Counts how often this attempt has reached an executor, from 1."""
        return self.trigger.delivered

    @property
    def fire_time(self) -> datetime:
        """The instant that the schedule named. Lateness and retries do not move it."""
        return wire.parse_instant(self.trigger.raw["fire_time"])

    @property
    def cause(self) -> str:
        return str(self.trigger.raw.get("cause", ""))

    @property
    def step(self) -> str:
        """The name of the workflow's step that this run does; "" if it does none."""
        return str(self.trigger.raw.get("step") or "")

    @property
    def params(self) -> Any:
        """The parameters as JSON has them; None without any."""
        return self.trigger.raw.get("params")

    @property
    def item(self) -> Any:
        """What this piece of a split run is about."""
        return self.trigger.raw.get("item")

    @property
    def piece(self) -> tuple[int, int]:
        """Which piece of how many; (0, 1) in a run without pieces."""
        return self.trigger.index, max(self.trigger.total, 1)

    @property
    def split(self) -> bool:
        """Whether this attempt lists the run's pieces, as its result, instead of its work."""
        return bool(self.trigger.raw.get("split"))

    @property
    def log(self) -> logging.Logger:
        """A logger whose records become lines of the run's log, and nothing else."""
        with _making:
            if self._logger is None:
                self._logger = logging.Logger(f"carillon.run.{self.id}", logging.DEBUG)
                self._logger.addHandler(_Lines(self._log))
            return self._logger

    @property
    def cancelled(self) -> threading.Event:
        """Set when the run has to end, for functions that are not async."""
        with _making:
            if self._cancelled is None:
                self._cancelled = threading.Event()
                if self._ending is not None:
                    self._cancelled.set()
            return self._cancelled

    @property
    def trace_parent(self) -> str:
        """The W3C trace context for what the handler calls; "" without a trace."""
        return self._trace_parent

    def secret(self, variable: str) -> str:
        """A secret of the job's task, by its variable; "" without."""
        return self._secrets.get(variable, "")

    def progress(self, percent: float, text: str = "") -> None:
        """Say how far the run is. The latest is published, at most once a second."""
        percent = 0.0 if math.isnan(percent) else min(max(float(percent), 0.0), 100.0)
        self._progress = percent, wire.cut(self._log.mask(text))

    async def flush(self) -> None:
        """Wait until the lines logged so far are stored, for as long as NATS takes lines.

        For async handlers that log thousands of lines at once: what waits has a bound, beyond which
        the oldest lines are dropped. In a thread the log waits by itself.
        """
        await self._log.flush()

    async def start(self, job: str, params: Any = None, *, at: datetime | None = None, in_: timedelta | float | None = None,
                    expires: timedelta | float | None = None, labels: dict[str, str] | None = None) -> str:
        """Start a run of a job of the group, and return its id. Its parent is this run.

        ``params`` and ``labels`` are in the place of the job's. The run is due now, at ``at``, or after ``in_``;
        with ``expires``, it is missed if it has not begun that long after it was due. Durations are in seconds,
        or timedeltas.

        A further attempt of this run that starts the same job with the same params gets the run that was started
        before. So give params that are the same in each attempt, without the time of day. Two such calls within
        an attempt start two runs. It raises StartRefused, after a minute if no server answers.
        """
        wish = starts.wish_of(job, params, at, in_, expires, labels)
        with _making:
            key = starts.key_of(wish)
            wish["count"] = self._starts[key]
            self._starts[key] += 1
        assert self._start is not None
        return await self._start(wish)

    def start_and_wait(self, job: str, params: Any = None, **options: Any) -> str:
        """Do what ``start`` does, in a function that is not async. It waits until the run is started."""
        return asyncio.run_coroutine_threadsafe(self.start(job, params, **options), self._log.loop).result()

    @property
    def ending(self) -> Ending | None:
        """Why the run has to end; None while it need not."""
        return self._ending

    def check(self) -> None:
        """Raise if the run has to end. Call it between two steps of a function that is not async."""
        if self._ending is not None:
            raise self._ending

    def _end(self, why: Ending) -> None:
        with _making:
            if self._ending is None:
                self._ending = why
                if self._cancelled is not None:
                    self._cancelled.set()


class _Lines(LinesHandler):
    """Makes lines of the records of a run's own logger."""

    def __init__(self, log: RunLog) -> None:
        super().__init__()
        self._to = log

    def emit(self, record: logging.LogRecord) -> None:
        self._to.add("log", level_of(record.levelno), self.format(record))
