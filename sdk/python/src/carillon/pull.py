"""Pull requests: asking the group's consumers for as many triggers as there are free slots."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import nats.errors
from nats.aio.msg import Msg

from . import wire

if TYPE_CHECKING:
    from .instance import Instance

EXPIRES = 30.0
HEARTBEAT = 3.0
TURN = 1.0  # how long a request waits while there are several consumers, which share the slots
SILENCE = 2 * HEARTBEAT + 0.5
PAUSE_MIN, PAUSE_MAX = 0.25, 2.0
AT_MOST = 8  # requests to a consumer at once
PUZZLING = 15.0  # how long there may be no consumer before somebody should look

log = logging.getLogger("carillon.executor")


@dataclass(eq=False)
class Consumer:
    """A consumer that triggers are pulled from."""

    stream: str
    name: str
    asked: float = 0.0  # when the last request was made
    pause: float = PAUSE_MIN
    not_before: float = 0.0
    refused_since: float = 0.0
    warned: bool = False
    requests: list[Request] = field(default_factory=list)

    def ordered(self) -> int:
        return sum(r.left for r in self.requests)

    def accepted(self) -> None:
        self.pause = PAUSE_MIN
        if self.refused_since:
            log.info("triggers are available (consumer %s of %s)", self.name, self.stream)
        self.refused_since, self.warned = 0.0, False

    def refuse(self, status: str) -> None:
        now = time.monotonic()
        self.not_before = now + self.pause
        self.pause = min(2 * self.pause, PAUSE_MAX)
        if not self.refused_since:
            self.refused_since = now
            log.info("waiting for triggers to be available (consumer %s of %s, %s)", self.name, self.stream, status)
        elif not self.warned and now - self.refused_since > PUZZLING:
            self.warned = True
            log.warning("still no triggers (consumer %s of %s): is a Carillon server running on this NATS, and the group's name right?", self.name, self.stream)


@dataclass(eq=False)
class Request:
    of: Consumer
    left: int
    heard: float
    sub: Any = None


class Puller:
    """Keeps requests out for the free slots that none has been made for.

    Each consumer without a request is asked for one trigger, and the one that brought the last
    trigger for all that the slots allow.
    """

    def __init__(self, instance: Instance) -> None:
        self._of, self._looking = instance, False
        self._leaving: set[asyncio.Task[None]] = set()  # requests that are given up, and may still bring triggers
        self._consumers: list[Consumer] = []
        self.pull_from([("TRIG", f"any-{instance.group}")])

    def pull_from(self, consumers: list[tuple[str, str]]) -> None:
        """Replace the list of consumers, as pairs of stream and name."""
        self.release()
        self._consumers = [Consumer(stream, name) for stream, name in consumers]
        self._busiest = self._consumers[0]

    async def slot_free(self) -> None:
        """Ask for what is free, unless it is little and more is on order: `look` does that soon."""
        ordered = sum(c.ordered() for c in self._consumers)
        if self._of.free() - ordered >= max(ordered, 1):
            await self.look()

    async def look(self) -> None:
        """Give up requests that have died unseen, and ask for what is free."""
        if self._looking:
            return
        self._looking = True
        try:
            await self._look()
        finally:
            self._looking = False

    async def _look(self) -> None:
        now = time.monotonic()
        for r in [r for c in self._consumers for r in c.requests if now - r.heard > SILENCE]:
            self._give_up(r)
        if sum(c.ordered() for c in self._consumers) > self._of.free():  # offered runs have taken slots that were asked for
            self.release()
        n = self._of.free() - sum(c.ordered() for c in self._consumers)
        if n <= 0 or not self._of.nc.is_connected:
            return
        due = [c for c in self._consumers if now >= c.not_before]
        with contextlib.suppress(nats.errors.Error):
            if len(self._consumers) > 1:
                for c in sorted((c for c in due if not c.requests), key=lambda c: c.asked)[:n]:
                    await self._ask(c, 1)
                    n -= 1
            if n > 0 and self._busiest in due and len(self._busiest.requests) < AT_MOST:
                await self._ask(self._busiest, n)

    async def _ask(self, c: Consumer, n: int) -> None:
        nc, r = self._of.nc, Request(c, n, time.monotonic())
        inbox = nc.new_inbox()

        async def heard(m: Msg) -> None:
            await self._hear(r, m)

        r.sub = await nc.subscribe(inbox, cb=heard)
        if c not in self._consumers:  # others are asked since
            await _unsubscribe(r.sub)
            return
        c.requests.append(r)
        c.asked = r.heard
        lasts, beat = (EXPIRES, HEARTBEAT) if len(self._consumers) == 1 else (TURN, TURN / 2)
        body = wire.dumps({"batch": n, "expires": int(lasts * 1e9), "idle_heartbeat": int(beat * 1e9)})
        await nc.publish(f"$JS.API.CONSUMER.MSG.NEXT.{c.stream}.{c.name}", body, reply=inbox)

    async def _hear(self, r: Request, m: Msg) -> None:
        r.heard = time.monotonic()
        status = (m.headers or {}).get("Status", "").strip()[:3]
        if not status or m.data:
            r.left -= 1
            if r.left <= 0:
                self._close(r)
            r.of.accepted()
            if r.of in self._consumers:
                self._busiest = r.of
            await self._of.take(m)
        elif status == "100":
            r.of.accepted()
        elif status in ("404", "408"):
            self._close(r)
            r.of.accepted()
        elif r in r.of.requests:
            self._close(r)
            r.of.refuse(status)

    def _close(self, r: Request) -> None:
        """End a request that the server has ended."""
        if r in r.of.requests:
            r.of.requests.remove(r)
            self._of.spawn(_unsubscribe(r.sub))

    def _give_up(self, r: Request) -> None:
        """End a request that the server may still have. What it has sent by the time that it learns of it is taken."""
        r.of.requests.remove(r)
        leaving = self._of.spawn(_drain(r.sub))
        self._leaving.add(leaving)
        leaving.add_done_callback(self._leaving.discard)

    def release(self) -> None:
        """Give up all requests."""
        for r in [r for c in self._consumers for r in c.requests]:
            self._give_up(r)

    async def drained(self, within: float) -> None:
        """Wait until all that requests have brought which were given up is taken, so many seconds at most."""
        if self._leaving:
            await asyncio.wait(self._leaving, timeout=within)


async def _drain(sub: Any) -> None:
    """What `sub.drain` does, but with the PING behind the UNSUB: `flush` sends it ahead of all that waits to be sent."""
    nc = sub._conn
    try:
        await nc._send_unsubscribe(sub._id)
        await nc._flush_pending(force_flush=True)
        await nc.flush()
        await sub._pending_queue.join()
        sub._stop_processing()
        nc._remove_sub(sub._id)
        sub._closed = True
    except Exception:  # noqa: BLE001 - NATS does not answer; the subscription would come back with the connection
        await _unsubscribe(sub)


async def _unsubscribe(sub: Any) -> None:
    with contextlib.suppress(Exception):  # the connection is gone, and the subscription with it
        await sub.unsubscribe()
