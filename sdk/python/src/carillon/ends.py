"""Ends of runs on their way to JetStream: several in a message, if many runs end at once."""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets as random
from dataclasses import dataclass
from typing import TYPE_CHECKING

from . import wire

if TYPE_CHECKING:
    from .instance import Instance

HEADROOM = 4 << 10  # for headers, which count in NATS' limit
SHORT_MESSAGE = 1 << 10  # how long the message may be of an end that is too large
MAX_ENDS = 256  # of a pack
MAX_PACK = 256 << 10  # in bytes
MAX_END = 32 << 10  # of one end in a pack


class TooLarge(Exception):
    """NATS takes no message of this size any more."""


def fitted(end: bytes, max_payload: int) -> bytes:
    """The end of a run in JSON. One that NATS does not take would be refused for ever, so it is made shorter."""
    most = max_payload - HEADROOM
    if len(end) <= most:
        return end
    e = json.loads(end)
    e.pop("result", None)
    why = (f"the run's end event has {len(end)} bytes, but at most {most} fit into the max_payload of NATS: "
           "the result was left out and the message cut; set max_payload to at least 1MB")
    e["message"] = wire.cut("; ".join(filter(None, (why, e.get("message")))), SHORT_MESSAGE)
    return wire.dumps(e)


@dataclass
class End:
    """The end of an attempt, as an event."""

    subject: str
    data: bytes
    headers: dict[str, str]
    stored: asyncio.Future[bool]

    def line(self) -> bytes:
        """The end as a line of a pack."""
        return b'{"token":' + wire.dumps(self.headers.get(wire.TOKEN, "")) + b"," + self.data[1:]


class Ends:
    """Stores the ends of attempts.

    An end for which nobody waits is sent at once while no other is on its way. Else it waits until that one is
    stored, and goes with what has come meanwhile.
    """

    def __init__(self, of: Instance) -> None:
        self._of = of
        self._waiting: dict[str, list[End]] = {}  # by the subject of packs; one that is being sent to has an entry

    async def until_stored(self, report: str, subject: str, data: bytes, headers: dict[str, str]) -> bool:
        """Publish an end until JetStream has it; False means that the connection is closed for good.

        report is where it may go in a pack; without, it goes alone.
        """
        end = End(subject, data, headers, asyncio.get_running_loop().create_future())
        if not report:
            return await self._alone(end)
        if report in self._waiting:
            self._waiting[report].append(end)
        else:
            self._waiting[report] = [end]
            self._of.spawn(self._send(report))
        return await end.stored

    async def _send(self, report: str) -> None:
        """Send what waits, message after message."""
        ends: list[End] = []
        try:
            while waiting := self._waiting[report]:
                ends, lines = self._take(waiting)
                for end, stored in zip(ends, await self._store(report, ends, lines)):
                    if not end.stored.done():  # else nobody waits any more
                        end.stored.set_result(stored)
        except Exception as e:  # noqa: BLE001 - whoever waits for it is told
            for end in [*ends, *self._waiting[report]]:
                if not end.stored.done():
                    end.stored.set_exception(e)
        finally:
            del self._waiting[report]

    async def _store(self, report: str, ends: list[End], lines: list[bytes]) -> list[bool]:
        if len(ends) > 1:
            with contextlib.suppress(TooLarge):
                return [await self._pack(report, lines)] * len(ends)
        return [await self._alone(end) for end in ends]

    def _take(self, waiting: list[End]) -> tuple[list[End], list[bytes]]:
        """Take out the first ends that fit into a pack, with their lines; one at least."""
        room = self._room() - len(self._head(MAX_ENDS))
        lines: list[bytes] = []
        for end in waiting[:MAX_ENDS]:
            line = end.line()
            room -= len(line) + 1
            if lines and (room < 0 or len(line) > MAX_END):
                break
            lines.append(line)
            if room < 0 or len(line) > MAX_END:
                break  # it goes alone
        ends = waiting[: len(lines)]
        del waiting[: len(lines)]
        return ends, lines

    def _room(self) -> int:
        return min(MAX_PACK, self._of.nc.max_payload - HEADROOM)

    def _head(self, ends: int) -> bytes:
        return wire.dumps({"instance": self._of.instance, "ends": ends})

    async def _pack(self, report: str, lines: list[bytes]) -> bool:
        pack = b"\n".join([self._head(len(lines)), *lines])

        def data() -> bytes:
            if len(pack) > self._room():
                raise TooLarge
            return pack

        return await self._of.until_stored(report, data, {wire.MESSAGE: "events.v1", wire.MSG_ID: "p:" + random.token_urlsafe(16)})

    async def _alone(self, end: End) -> bool:
        return await self._of.until_stored(end.subject, lambda: fitted(end.data, self._of.nc.max_payload), end.headers)
