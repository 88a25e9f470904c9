"""What becomes of an attempt: its status, message, result and wishes, from what its handler did."""

from __future__ import annotations

import builtins
import traceback
from dataclasses import dataclass, field
from typing import Any

from . import wire
from .errors import Ending, Failure, Final, RetryAfter, Stopping, TimedOut
from .results import Unfinished, encode_result
from .run import Run

LOST = "the executor stopped before the run could end, and delivery at_most_once forbids to run it again"


@dataclass
class Outcome:
    """How an attempt ended; status "" gives it back."""

    status: str
    message: str = ""
    result: Any = None
    wishes: dict[str, Any] = field(default_factory=dict)


def outcome_of(run: Run, error: BaseException | None, result: Any) -> Outcome:
    """What follows from what a handler raised or returned. It raises nothing."""
    try:
        return _outcome(run, error, result)
    except Exception as e:  # noqa: BLE001 - the methods of a handler's error or result may raise, too
        wrong = e if error is None else error
        return _outcome(run, Failure(type(wrong).__name__).with_traceback(wrong.__traceback__), None)


def _outcome(run: Run, error: BaseException | None, result: Any) -> Outcome:
    why = run.ending
    said = "" if error is None or (why is not None and isinstance(error, Ending)) else text_of(error)
    if isinstance(why, Stopping):
        if error is not None:
            return Outcome("lost", "; ".join(filter(None, (LOST, said)))) if run.trigger.at_most_once and run._called else Outcome("")
    elif why is not None:
        return Outcome("timed_out" if isinstance(why, TimedOut) else "cancelled", "; ".join(filter(None, (str(why), said))))
    if error is not None:
        return Outcome("failed", said, None, _wishes(run, error))
    value, note = encode_result(result, run._log.mask)
    return Outcome("succeeded", note, value)


def _wishes(run: Run, error: BaseException) -> dict[str, Any]:
    if isinstance(error, Final):
        return {"final": True}
    if isinstance(error, RetryAfter):
        return {"retry_after": wire.duration(error.delay)}
    if not isinstance(error, Unfinished):
        run._log.add("stderr", "error", "".join(traceback.format_exception(type(error), error, error.__traceback__)).rstrip())
    return {}


def abandoned(patience: float) -> Failure:
    """What is said of a handler that ignores that its run has to end."""
    return Failure(f"the handler did not stop within {patience:g}s and was abandoned")


GROUPS: Any = getattr(builtins, "BaseExceptionGroup", ())  # of Python 3.11 and newer
PARTS = 10  # of a group that are named


def text_of(error: BaseException) -> str:
    """What an error says, with its class; of a group also what its parts say."""
    text, name = str(error), type(error).__name__
    if isinstance(error, (Failure, Final, RetryAfter, Ending)):
        return text or name
    said = f"{name}: {text}" if text else name
    if isinstance(error, GROUPS):
        parts: Any = error
        more = ["…"] if len(parts.exceptions) > PARTS else []
        said += ": " + "; ".join([text_of(part) for part in parts.exceptions[:PARTS]] + more)
    return said
