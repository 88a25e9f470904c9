"""A handler that computes for long without a pause keeps everything else in its event loop from going on."""

from __future__ import annotations

import logging
import sys
import threading
import time
import traceback
from collections.abc import Callable

ALARM = 8.0  # seconds; well before the 15 s after which others get the runs
ADVICE = (
    "After 15 s its runs are given to other instances. Leave out `async` of a handler that computes or waits without `await`, "
    "and it runs in a thread"
)

log = logging.getLogger("carillon.executor")


class Blocked:
    """Notices from a thread of its own that the event loop stands still, and says where."""

    def __init__(self, tell: Callable[[str], None], alarm: float = ALARM) -> None:
        """What is said is also told to `tell`, for the logs of the runs that are live."""
        self._tell, self._alarm = tell, alarm
        self._turned = time.monotonic()
        self._over = threading.Event()
        self._loop = threading.get_ident()

    def start(self) -> None:
        threading.Thread(target=self._watch, name="carillon-blocked", daemon=True).start()

    def stop(self) -> None:
        self._over.set()

    def turn(self) -> None:
        """The loop goes on."""
        self._turned = time.monotonic()

    def _watch(self) -> None:
        said = 0.0
        while not self._over.wait(self._alarm / 8):
            turned = self._turned
            if turned == said or time.monotonic() - turned < self._alarm:
                continue
            said = turned
            frame = sys._current_frames().get(self._loop)
            at = "".join(traceback.format_stack(frame)[-3:]).rstrip() if frame else ""
            text = f"the event loop has been blocked for {self._alarm:g} s: this executor can neither report nor be cancelled"
            log.warning("%s. %s. It is at:\n%s", text, ADVICE, at)
            self._tell(f"{text}; a handler of this program does not await")
