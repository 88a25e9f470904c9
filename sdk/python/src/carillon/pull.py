"""Pull requests: asking the group's consumer for as many triggers as there are free slots."""

from __future__ import annotations

import contextlib
import logging
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import nats.errors
from nats.aio.msg import Msg

from . import wire

if TYPE_CHECKING:
    from .executor import Instance

EXPIRES = 30.0
HEARTBEAT = 3.0
SILENCE = 2 * HEARTBEAT + 0.5
PAUSE_MIN, PAUSE_MAX = 0.25, 2.0
AT_MOST = 8  # requests at once

log = logging.getLogger("carillon.executor")


@dataclass
class Request:
    left: int
    heard: float
    sub: Any = None


class Puller:
    """Keeps requests out for the free slots that none has been made for."""

    def __init__(self, instance: Instance) -> None:
        self._of = instance
        self._requests: list[Request] = []
        self._pause, self._not_before, self._refused = PAUSE_MIN, 0.0, False

    async def look(self) -> None:
        """Give up requests that have died unseen, and ask for what is free."""
        now = time.monotonic()
        for r in [r for r in self._requests if now - r.heard > SILENCE]:
            self._close(r)
        n = self._of.free() - sum(r.left for r in self._requests)
        if n > 0 and len(self._requests) < AT_MOST and now >= self._not_before and self._of.nc.is_connected:
            with contextlib.suppress(nats.errors.Error):
                await self._ask(n)

    async def _ask(self, n: int) -> None:
        nc, r = self._of.nc, Request(n, time.monotonic())
        inbox = nc.new_inbox()

        async def heard(m: Msg) -> None:
            await self._hear(r, m)

        r.sub = await nc.subscribe(inbox, cb=heard)
        self._requests.append(r)
        body = wire.dumps({"batch": n, "expires": int(EXPIRES * 1e9), "idle_heartbeat": int(HEARTBEAT * 1e9)})
        await nc.publish(f"$JS.API.CONSUMER.MSG.NEXT.TRIG.any-{self._of.group}", body, reply=inbox)

    async def _hear(self, r: Request, m: Msg) -> None:
        r.heard = time.monotonic()
        status = (m.headers or {}).get("Status", "").strip()[:3]
        if not status or m.data:
            r.left -= 1
            if r.left <= 0:
                self._close(r)
            self._accepted()
            await self._of.take(m)
        elif status == "100":
            self._accepted()
        elif status in ("404", "408"):
            self._close(r)
            self._accepted()
        else:
            self._close(r)
            self._not_before = time.monotonic() + self._pause
            self._pause = min(2 * self._pause, PAUSE_MAX)
            if not self._refused:
                log.info("waiting for triggers to be available (%s)", status)
            self._refused = True

    def _accepted(self) -> None:
        self._pause = PAUSE_MIN
        if self._refused:
            log.info("triggers are available")
        self._refused = False

    def _close(self, r: Request) -> None:
        if r in self._requests:
            self._requests.remove(r)
            self._of.spawn(_unsubscribe(r.sub))

    def release(self) -> None:
        """Give up all requests."""
        for r in list(self._requests):
            self._close(r)


async def _unsubscribe(sub: Any) -> None:
    with contextlib.suppress(Exception):  # the connection is gone, and the subscription with it
        await sub.unsubscribe()
