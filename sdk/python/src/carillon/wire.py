"""The messages of docs/reference/protocol.md: subjects, ids, durations, instants."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from typing import Any

MAX_MESSAGE = 16 << 10
MAX_RESULT = 64 << 10
MAX_LOG_TEXT = 32 << 10
MAX_ANNOUNCEMENT = 32 << 10
MAX_HANDLER_NAMES = 16 << 10
MAX_LABELS = 8 << 10
MAX_VERSION = 255
ACK_WAIT = 15.0

MESSAGE = "Carillon-Message"
TRIGGER = "trigger.v1"
TOKEN = "Carillon-Token"
ACK = "Carillon-Ack"
INSTANCE = "Carillon-Instance"
ROUTE_REASON = "Carillon-Route-Reason"
RESUME = "Carillon-Resume"
ALONE = "Carillon-Alone"
PACK = "Carillon-Pack"
MSG_ID = "Nats-Msg-Id"
EXPECTED = "Nats-Expected-Last-Subject-Sequence"
TRACE = "traceparent"

SLUG = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")
_UNITS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
_PART = re.compile(r"(\d+(?:\.\d+)?)(h|ms|m|s|us|µs|ns|d)")


class Garbage(ValueError):
    """A message that is no trigger of the group."""


_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


def dumps(value: Any, default: Callable[[Any], Any] | None = None) -> bytes:
    """JSON in UTF-8. NaN and Infinity, which JSON does not have, are a ValueError. `default` makes JSON of what has none."""
    if default is not None:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=default).encode()
    return _encode(value).encode()


def instant(at: datetime) -> str:
    """An instant as the protocol writes it, in milliseconds."""
    utc = at if at.tzinfo is timezone.utc else at.astimezone(timezone.utc)
    return utc.isoformat(timespec="milliseconds")[:-6] + "Z"


def parse_instant(text: str) -> datetime:
    """Read an RFC 3339 instant, with any number of decimals."""
    head, _, zone = text.partition("Z") if text.endswith("Z") else (text[:-6], "", text[-6:])
    base, _, fraction = head.partition(".")
    micro = int((fraction + "000000")[:6]) if fraction else 0
    at = datetime.fromisoformat(base + (zone if zone and zone != "Z" else "+00:00"))
    return at.replace(microsecond=micro)


def now() -> datetime:
    """The time by NATS' clock, as far as this machine's own is known to be wrong."""
    return CLOCK.now()


class Clock:
    """Corrects the clock of this machine, if that is wrong: instants of the protocol are those of NATS."""

    TOLERANCE = 2.0  # seconds that clocks differ by, anyhow

    def __init__(self) -> None:
        self.offset = 0.0  # seconds by which this machine's clock is ahead of NATS'; 0 within the tolerance

    @staticmethod
    def own() -> datetime:
        """What this machine's clock says."""
        return datetime.now(timezone.utc)

    def now(self) -> datetime:
        return self.own() - timedelta(seconds=self.offset) if self.offset else self.own()

    def compare(self, own: datetime, stored: datetime) -> bool:
        """Learn that NATS stored at one instant what was sent at another by this machine's clock. True if that changes much."""
        ahead = (own - stored).total_seconds()
        ahead = ahead if abs(ahead) > self.TOLERANCE else 0.0
        if abs(ahead - self.offset) <= self.TOLERANCE / 2:
            return False
        self.offset = ahead
        return True


CLOCK = Clock()


def seconds(text: str) -> float:
    """Read a duration such as 90s, 1h30m, 250ms or 2d."""
    if text in ("", "0"):
        return 0.0
    total, end = 0.0, 0
    for m in _PART.finditer(text):
        if m.start() != end:
            break
        total += float(m.group(1)) * (86400.0 if m.group(2) == "d" else _UNITS[m.group(2)])
        end = m.end()
    if end != len(text):
        raise ValueError(f"{text!r} must be a duration such as 90s or 1h30m")
    return total


def duration(value: float) -> str:
    """Write seconds as a duration."""
    return f"{round(value * 1000)}ms"


def cut(text: str, most: int = MAX_MESSAGE) -> str:
    """As much of a text as that many bytes hold, in valid UTF-8."""
    return text.encode("utf-8", "replace")[:most].decode("utf-8", "ignore")


def fire_trace(run_id: str, attempt: int) -> str:
    """The W3C trace context of an attempt whose trigger has none, as servers compute it: the trace id is the run id."""
    raw, span = bytes.fromhex(run_id.replace("-", "")), 0xCBF29CE484222325
    for byte in raw + str(attempt).encode():  # FNV-1a
        span = (span ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return f"00-{raw.hex()}-{span | 1:016x}-01"


def delivery(reply: str) -> tuple[int, int]:
    """How often a trigger has been delivered, and its sequence on TRIG, from its reply subject."""
    parts = reply.split(".")
    at = 6 if len(parts) >= 11 else 4
    if len(parts) != 10 and len(parts) > 8 and parts[at].isdecimal() and parts[at + 1].isdecimal():
        return int(parts[at]), int(parts[at + 1])
    raise Garbage(f"the reply subject {reply!r} is not one of JetStream's")


def back_off(count: int) -> int:
    """After how many seconds a trigger that is given back comes again: 1 at first, doubling up to 15."""
    return min(1 << max(min(count, 5) - 1, 0), 15)


def nak(seconds: int) -> bytes:
    """The answer that gives a trigger back."""
    return b'-NAK {"delay": %d}' % (seconds * 1_000_000_000)


def _whole(value: Any, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


@dataclass
class Trigger:
    """One attempt that was given to this executor."""

    raw: dict[str, Any]
    token: str
    delivered: int = 1
    trace: str = ""  # the W3C trace context of the fire
    run_id: str = field(init=False)
    job: str = field(init=False)
    attempt: int = field(init=False)
    index: int = field(init=False)
    total: int = field(init=False)

    def __post_init__(self) -> None:
        r = self.raw
        self.run_id, self.job = r.get("run_id"), r.get("job")  # type: ignore[assignment]
        self.attempt = r.get("attempt")  # type: ignore[assignment]
        self.index, self.total = r.get("broadcast_index", 0), r.get("broadcast_total", 0)
        if not isinstance(self.run_id, str) or not re.fullmatch(r"[0-9a-f-]{36}", self.run_id):
            raise Garbage("run_id is missing or wrong")
        if not isinstance(self.job, str) or self.job.count("/") != 1:
            raise Garbage("job is missing or wrong")
        if not (_whole(self.attempt, 1) and _whole(self.total, 0) and _whole(self.index, 0) and self.index < max(self.total, 1)):
            raise Garbage("attempt, broadcast_index or broadcast_total is missing or wrong")
        if not isinstance(r.get("task"), dict) or not _whole(r.get("shard"), 0):
            raise Garbage("task or shard is missing or wrong")
        if not isinstance(r["task"].get("secrets") or {}, dict):
            raise Garbage("task.secrets must be an object")
        rule = r.get("retry") or {}
        if not isinstance(rule, dict) or not _whole(rule.get("limit", 0), 0) or not isinstance(rule.get("on") or [], list):
            raise Garbage("retry is wrong")
        if not isinstance(self.report, str) or not re.fullmatch(rf"(evt\.p[0-9]+\.{re.escape(self.group)})?", self.report):
            raise Garbage(f"report {self.report!r} must be evt.p<partition>.{self.group}")
        try:  # so that nothing goes wrong later, when the attempt is known
            for name in ("fire_time", "committed_at", "start_by", "end_by"):
                self.time(name)
            for name in ("timeout", "warn_after"):
                self.seconds(name)
        except (ValueError, TypeError, AttributeError) as e:
            raise Garbage(f"{name}: {e}") from e

    @property
    def key(self) -> tuple[str, int, int]:
        return self.run_id, self.attempt, self.index

    @property
    def group(self) -> str:
        return self.job.partition("/")[0]

    @property
    def report(self) -> str:
        """Where the end may go in a pack; empty if somebody waits for it."""
        return self.raw.get("report", "")

    @property
    def handler(self) -> str | None:
        return self.raw["task"].get("handler")

    @property
    def at_most_once(self) -> bool:
        return self.raw.get("delivery") == "at_most_once"

    def time(self, name: str) -> datetime | None:
        return parse_instant(self.raw[name]) if self.raw.get(name) else None

    def seconds(self, name: str) -> float:
        return seconds(self.raw.get(name) or "")

    def message_id(self, kind: str) -> str:
        """The Nats-Msg-Id of an event, without what its kind adds and without the token."""
        piece = f"{self.attempt}.{self.index}" if self.total > 0 else str(self.attempt)
        return f"{self.run_id}:{piece}:{kind}"

    def again(self, status: str, exit_code: int | None = None) -> bool:
        """Whether the job's rule has another attempt follow."""
        rule = self.raw.get("retry") or {}
        if self.attempt > rule.get("limit", 0) or status not in (rule.get("on") or []):
            return False
        codes = rule.get("exit_codes")
        return not codes or status != "failed" or exit_code in codes

    def event(self, kind: str, instance: str) -> dict[str, Any]:
        """An event with what it copies from the trigger."""
        copied = ("run_id", "job", "version", "shard", "attempt", "cause", "fire_time", "committed_at")
        e: dict[str, Any] = {"kind": kind} | {n: self.raw[n] for n in copied if n in self.raw}
        if self.total > 0:
            e |= {"broadcast_index": self.index, "broadcast_total": self.total}
        return e | {"instance": instance, "delivery": self.delivered, "at": instant(now())}


def check_finite(value: Any, name: str) -> None:
    """Refuse a value that has a number beyond the range of a float, which json reads as infinity."""
    if isinstance(value, float) and math.isinf(value):
        raise ValueError(f"{name} is a number that is too large for a float; send it as text")
    if isinstance(value, list):
        for i, part in enumerate(value):
            check_finite(part, f"{name}[{i}]")
    elif isinstance(value, dict):
        for key, part in value.items():
            check_finite(part, f"{name}.{key}")


def decode(data: bytes, token: str, count: int, group: str, trace: str = "") -> Trigger:
    """Read a trigger of the group. Anything else is Garbage."""
    try:
        raw = json.loads(data)
    except ValueError as e:
        raise Garbage(f"not JSON: {e}") from e
    if not isinstance(raw, dict):
        raise Garbage("not an object")
    t = Trigger(raw, token, count, trace)
    if t.group != group:
        raise Garbage(f"job {t.job} is of another group")
    return t


