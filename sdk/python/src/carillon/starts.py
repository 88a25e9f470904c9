"""Runs of other jobs that a handler starts."""

from __future__ import annotations

import asyncio
import json
import time
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import nats.errors

from . import wire
from .errors import StartRefused

if TYPE_CHECKING:
    from nats.aio.client import Client

ANSWER = 10.0  # seconds in which a server answers
PATIENCE = 60.0  # for how long a request is repeated that no server can answer
AGAIN = 0.2  # seconds before the first repetition


def wish_of(job: str, params: Any, at: datetime | None, in_: timedelta | float | None, expires: timedelta | float | None,
            labels: dict[str, str] | None) -> dict[str, Any]:
    """The request for a run, but for its count. Equal parameters have the same text, whatever the order of their keys."""
    wish: dict[str, Any] = {"job": job}
    if params is not None:
        wish["params"] = json.loads(json.dumps(params, sort_keys=True, allow_nan=False))
    if at is not None:
        if at.tzinfo is None:
            raise ValueError(f"{at} has no time zone: use datetime.now(timezone.utc), or .astimezone()")
        wish["at"] = wire.instant(at)
    for field, value in (("in", in_), ("expires", expires)):
        if value is not None:
            wish[field] = wire.duration(value.total_seconds() if isinstance(value, timedelta) else value)
    if labels:
        wish["labels"] = labels
    return wish


def key_of(wish: dict[str, Any]) -> tuple[str, bytes]:
    """What equal requests have in common."""
    return wish["job"], wire.dumps(wish["params"]) if "params" in wish else b""


async def ask(nc: Client, group: str, token: str, ack: str, wish: dict[str, Any]) -> str:
    """Have a server start a run, and return its id."""
    data, until, wait = wire.dumps(wish), time.monotonic() + PATIENCE, AGAIN
    while True:
        try:
            m = await nc.request(f"start.{group}", data, timeout=ANSWER, headers={wire.TOKEN: token, wire.ACK: ack})
            answer = json.loads(m.data)
        except (nats.errors.Error, asyncio.TimeoutError, ValueError) as e:
            answer = {"fault": {"kind": "unavailable", "text": f"no server answers: {e or 'timeout'}"}}
        if "fault" not in answer:
            return str(answer["value"]["run_id"])
        kind, text = str(answer["fault"].get("kind", "")), str(answer["fault"].get("text", ""))
        if kind != "unavailable" or time.monotonic() + wait > until:
            raise StartRefused(kind, text)
        await asyncio.sleep(wait)
        wait = min(2 * wait, 5.0)
