"""A run, as its handler sees it."""

from __future__ import annotations

import contextvars
import logging
import math
import threading
from datetime import datetime
from typing import Any

from . import wire
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
