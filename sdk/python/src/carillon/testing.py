"""Run a handler in a unit test, without a broker.

>>> end = run_handler(app, "report", {"region": "north"})  # doctest: +SKIP
>>> assert end.status == "succeeded" and end.result == {"written": 1}  # doctest: +SKIP
"""

from __future__ import annotations

import asyncio
import json
import logging
import uuid
from dataclasses import dataclass, field
from typing import Any

from . import wire
from .errors import Final, RetryAfter, TimedOut
from .executor import Executor
from .run import Run, encode_result
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

    def logged(self, text: str) -> bool:
        return any(text in line for line in self.lines)


def run_handler(app: Executor, handler: str, params: Any = None, **run: Any) -> End:
    """Do one run with a handler of the app, from a test that is not async. See `run_handler_async`."""
    return asyncio.run(run_handler_async(app, handler, params, **run))


async def run_handler_async(app: Executor, handler: str, params: Any = None, *, attempt: int = 1, index: int = 0, total: int = 0, item: Any = None,
                            split: bool = False, timeout: float = 0, secrets: dict[str, str] | None = None, job: str = "test/job") -> End:
    """Do one run with a handler of the app, as an executor would."""
    now = wire.instant(wire.now())
    raw: dict[str, Any] = {"run_id": str(uuid.uuid4()), "job": job, "version": 1, "shard": 0, "attempt": attempt, "cause": "schedule", "fire_time": now,
                           "committed_at": now, "task": {"handler": handler}, "params": params, "item": item, "split": split}
    if total:
        raw |= {"broadcast_index": index, "broadcast_total": total}
    end = End("succeeded")
    lines: list[str] = []

    async def keep(batch: list[dict[str, Any]]) -> None:
        lines.extend(line["text"] for line in batch)

    log = RunLog(asyncio.get_running_loop(), keep, 1)
    run = Run(wire.Trigger(json.loads(json.dumps(raw)), ""), log, "test")
    run._secrets, log.mask = dict(secrets or {}), masker(secrets or {})
    progress = run.progress

    def note(percent: float, text: str = "") -> None:
        progress(percent, text)
        assert run._progress is not None
        end.progress.append(run._progress)

    run.progress = note  # type: ignore[method-assign]
    capture = CaptureHandler()
    logging.getLogger().addHandler(capture)
    try:
        work = app.handlers[handler].call(run)
        result = await (asyncio.wait_for(work, timeout) if timeout else work)
        end.result, end.message = encode_result(result, log.mask)
    except asyncio.TimeoutError:
        run._end(TimedOut("timeout"))
        end.status, end.message = "timed_out", f"took longer than its timeout of {wire.duration(timeout)}"
    except Exception as e:  # noqa: BLE001 - a handler may raise anything
        end.status, end.message, end.final = "failed", str(e) or type(e).__name__, isinstance(e, Final)
        end.retry_after = e.delay if isinstance(e, RetryAfter) else 0.0
    finally:
        logging.getLogger().removeHandler(capture)
    end.message = log.mask(end.message)
    await log.close()
    end.lines = lines
    return end
