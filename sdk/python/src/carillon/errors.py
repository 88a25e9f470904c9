"""What handlers raise, and why a run is told to end."""

from __future__ import annotations

from datetime import timedelta


class ConfigurationError(ValueError):
    """A setting is wrong. The message names it and says what would be right."""


class Final(Exception):
    """Raise it when no attempt may follow, whatever the job's retry rule says."""


class RetryAfter(Exception):
    """Raise it when you know when another try makes sense: ``RetryAfter(90, "the API is busy")``.

    ``delay`` is in seconds, or a timedelta, at most seven days. The job's rule still says whether
    there is another attempt.
    """

    def __init__(self, delay: float | timedelta, message: str = "") -> None:
        super().__init__(message)
        seconds = delay.total_seconds() if isinstance(delay, timedelta) else float(delay)
        self.delay = min(max(seconds, 0.0), 7 * 24 * 3600.0)


class StartRefused(RuntimeError):
    """A run was not started. ``kind`` is ``invalid``, ``not_found``, ``conflict``, ``too_many`` or ``unavailable``."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class Failure(RuntimeError):
    """Why a run fails, in words that need no class in front."""


class Ending(Exception):
    """Why a run has to end. See its subclasses."""


class TimedOut(Ending):
    """The run took longer than its timeout."""


class Cancelled(Ending):
    """Somebody cancelled the run."""


class Stopping(Ending):
    """The executor stops. A run that raises now is given back, and another instance does it."""
