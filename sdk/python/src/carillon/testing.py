"""Run a handler in a unit test, without a broker.

>>> end = run_handler(app, "report", {"region": "north"})  # doctest: +SKIP
>>> assert end.status == "succeeded" and end.result == {"written": 1}  # doctest: +SKIP
"""

from __future__ import annotations

import asyncio
import json
import logging
import uuid
from collections.abc import Coroutine
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from . import wire
from .attempt import PATIENCE
from .errors import Cancelled, ConfigurationError, Ending, Failure, TimedOut
from .executor import Executor
from .outcome import Outcome, abandoned, outcome_of
from .run import Run
from .runlog import CaptureHandler, RunLog
from .secrets import masker


@dataclass
class End:
    """How a run ended, and what it said."""

    status: str
    message: str = ""
    result: Any = None
    final: bool = False
    retry_after: float = 0.0
    lines: list[str] = field(default_factory=list)
    progress: list[tuple[float, str]] = field(default_factory=list)
    started: list[dict[str, Any]] = field(default_factory=list)
    """The runs that the handler wanted to start, as their requests: ``job``, ``params``, ``at``, ``in`` …"""

    def logged(self, text: str) -> bool:
        return any(text in line for line in self.lines)


def run_handler(app: Executor, handler: str, params: Any = None, **run: Any) -> End:
    """Do one run with a handler of the app, from a test that is not async. See `run_handler_async`."""
    return asyncio.run(run_handler_async(app, handler, params, **run))


async def run_handler_async(app: Executor, handler: str, params: Any = None, *, attempt: int = 1, index: int = 0, total: int = 0, item: Any = None,
                            split: bool = False, timeout: float = 0, cancel_after: float | None = None, fire_time: datetime | None = None,
                            cause: str = "", step: str = "", secrets: dict[str, str] | None = None, job: str = "test/job") -> End:
    """Do one run with a handler of the app, as an executor would.

    ``timeout`` and ``cancel_after`` are in seconds. A run that has to end and ignores it is left
    behind after 10 s. ``fire_time`` has a time zone, and is now by default. ``cause`` is ``schedule`` by
    default, and ``step`` for a step.
    """
    if handler not in app.handlers:
        raise ConfigurationError(f"there is no handler {handler!r}; there are: {', '.join(sorted(app.handlers)) or 'none'}")
    now = wire.now()
    raw: dict[str, Any] = {"run_id": str(uuid.uuid4()), "job": job, "version": 1, "shard": 0, "attempt": attempt, "cause": cause or ("step" if step else "schedule"),
                           "fire_time": wire.instant(fire_time or now), "committed_at": wire.instant(now), "task": {"handler": handler}, "params": params,
                           "item": item, "split": split, "step": step}
    if total:
        raw |= {"broadcast_index": index, "broadcast_total": total}
    lines: list[str] = []
    said: list[tuple[float, str]] = []

    async def keep(batch: list[dict[str, Any]]) -> None:
        lines.extend(line["text"] for line in batch)

    log = RunLog(asyncio.get_running_loop(), keep, 1)
    run = Run(wire.Trigger(json.loads(json.dumps(raw)), ""), log, "test")
    run._secrets, log.mask = dict(secrets or {}), masker(secrets or {})
    progress = run.progress

    def note(percent: float, text: str = "") -> None:
        progress(percent, text)
        assert run._progress is not None
        said.append(run._progress)

    run.progress = note  # type: ignore[method-assign]
    started: list[dict[str, Any]] = []

    async def start(wish: dict[str, Any]) -> str:
        started.append(wish)
        return str(uuid.uuid4())

    run._start = start
    capture = CaptureHandler()
    logging.getLogger().addHandler(capture)
    try:
        o = await _do(app.handlers[handler].call(run, app.middleware), run, app.handlers[handler].is_async, timeout, cancel_after)
    finally:
        logging.getLogger().removeHandler(capture)
    await log.close()
    after = wire.seconds(o.wishes.get("retry_after", ""))
    result = json.loads(log.mask(json.dumps(o.result, ensure_ascii=False))) if secrets else o.result
    message = "; ".join(filter(None, (log.mask(o.message), log.note())))
    return End(o.status, message, result, bool(o.wishes.get("final")), after, lines, said, started)


async def _do(call: Coroutine[Any, Any, Any], run: Run, awaits: bool, timeout: float, cancel_after: float | None) -> Outcome:
    """Call a handler, end its run when it has to, and leave it behind if it ignores that."""
    loop = asyncio.get_running_loop()
    run._awaits = awaits
    work = asyncio.ensure_future(call)
    told = asyncio.Event()

    def end(why: Ending) -> None:
        run._end(why)
        told.set()
        if run._awaits:
            work.cancel()

    limits = [loop.call_later(timeout, end, TimedOut(f"took longer than its timeout of {wire.duration(timeout)}"))] if timeout else []
    if cancel_after is not None:
        limits.append(loop.call_later(cancel_after, end, Cancelled("the run was cancelled")))
    waiting = asyncio.ensure_future(told.wait())
    await asyncio.wait({work, waiting}, return_when=asyncio.FIRST_COMPLETED)
    if not work.done():
        await asyncio.wait({work}, timeout=PATIENCE)
    waiting.cancel()
    for limit in limits:
        limit.cancel()
    if not work.done():
        return outcome_of(run, abandoned(PATIENCE), None)
    if work.cancelled():
        return outcome_of(run, run.ending or Failure("the handler cancelled itself"), None)
    error = work.exception()
    return outcome_of(run, error, None if error else work.result())
