"""Requests to this instance: run, kill, drain and the others."""

from __future__ import annotations

import json
import logging
import re
import time
from typing import TYPE_CHECKING, Any

from nats.aio.msg import Msg

from . import wire

if TYPE_CHECKING:
    from .instance import Instance

log = logging.getLogger("carillon.executor")


VERBS = frozenset({"run", "beat", "idle", "drain", "cordon", "uncordon", "set", "attempts", "kill", "consumers", "refused"})


MAX_CONSUMERS = 64
CONSUMER = re.compile(r"[A-Za-z0-9_-]{1,128}")


class Invalid(ValueError):
    """A request that makes no sense."""


class Requests:
    def __init__(self, instance: Instance) -> None:
        self._of = instance

    async def listen(self) -> None:
        of = self._of
        self._subject = f"exec.{of.group}.{of.instance}-{of.secret}."
        await of.nc.subscribe(self._subject + "*", cb=self._hear)
        await of.nc.flush(5)

    async def _hear(self, m: Msg) -> None:
        headers = m.headers or {}
        if not m.subject.startswith(self._subject) or headers.get(wire.MESSAGE) != "request.v1":
            return
        if any(name.lower().startswith("nats-") and name.lower() != "nats-request-info" for name in headers):
            return
        verb = m.subject[len(self._subject) :]
        act = getattr(self, "_" + verb) if verb in VERBS else None
        try:
            if act is None:
                raise Invalid(f"verb {verb!r} is not known")
            more = await act(m)
        except (LookupError, ValueError, TypeError, AttributeError) as e:
            await self._respond(m, {"fault": {"kind": "invalid", "text": str(e) or type(e).__name__}})
            return
        of = self._of
        value = {"instance": of.instance, "answer": "accepted", "state": of.state, "running": len(of.live), "slots": of.slots}
        if of.drain_by:
            value["drain_by"] = wire.instant(of.drain_by)
        await self._respond(m, {"value": value | more})

    async def _respond(self, m: Msg, value: dict[str, Any]) -> None:
        if m.reply:
            await self._of.nc.publish(m.reply, wire.dumps(value))

    def _body(self, m: Msg) -> dict[str, Any]:
        if not m.data:
            return {}
        body = json.loads(m.data)
        if not isinstance(body, dict):
            raise Invalid("the body must be an object")
        return body

    async def _run(self, m: Msg) -> dict[str, Any]:
        of, headers = self._of, m.headers or {}
        ack = headers.get(wire.ACK, "")
        delivered = wire.delivery(ack)[0] + (wire.PACK in headers)
        t = wire.decode(m.data, headers.get(wire.TOKEN, ""), delivered, of.group, headers.get(wire.TRACE, ""))
        live = of.live.get(t.key)
        if live is not None:
            live.reply = ack
            return {}
        if t.key in of.done:
            await of.nc.publish(ack, b"+ACK")
            return {}
        if wire.RESUME in headers:
            return {"answer": "gone"}
        kinds = [k for k in ("handler", "shell", "command", "http", "script") if t.raw["task"].get(k)]
        if kinds and kinds[0] != "handler":
            return {"answer": "unknown_kind", "detail": "this executor runs handlers"}
        if t.handler not in of.handlers:
            return {"answer": "unknown_handler", "detail": "handlers here: " + (", ".join(sorted(of.handlers)) or "none")}
        if of.state != "online":
            return {"answer": of.state}
        if ack not in of.reserved and of.free() < 1 or of.is_full(t.handler):
            return {"answer": "busy"}
        alone = self._alone(headers.get(wire.ALONE, ""))
        if alone and of.live or of.is_alone():
            return {"answer": "busy"}
        of.alone = (t.key, time.monotonic() + alone)
        if t.run_id in of.killed:
            of.begin(t, ack).conclude("cancelled", "cancelled before it began here")
        else:
            of.start(t, ack, headers.get(wire.ROUTE_REASON, ""))
        return {}

    @staticmethod
    def _alone(text: str) -> int:
        """For how many seconds the run wants the instance for itself."""
        if text and not (text.isascii() and text.isdigit() and 1 <= int(text) <= 3600):
            raise Invalid(f"{wire.ALONE} {text!r} must be a number of seconds from 1 to 3600")
        return int(text or 0)

    async def _beat(self, _: Msg) -> dict[str, Any]:
        return {} if self._of.state == "online" else {"answer": self._of.state}

    async def _idle(self, m: Msg) -> dict[str, Any]:
        of, job = self._of, self._body(m).get("job")
        if of.state != "online":
            return {"answer": of.state}
        busy = of.free() < 1 or any(a.trigger.job == job for a in of.live.values())
        return {"answer": "busy"} if busy else {}

    async def _drain(self, m: Msg) -> dict[str, Any]:
        within = self._body(m).get("within")
        self._of.drain(None if within is None else wire.seconds(within))
        return {}

    async def _cordon(self, _: Msg) -> dict[str, Any]:
        if self._of.state == "online":
            self._of.state = "cordoned"
        self._of.puller.release()
        self._of.changed()
        return {}

    async def _uncordon(self, _: Msg) -> dict[str, Any]:
        if self._of.stopping:
            return {"answer": "draining", "detail": "it is stopping"}
        self._of.state, self._of.drain_by = "online", None
        self._of.changed()
        return {}

    async def _set(self, m: Msg) -> dict[str, Any]:
        body = self._body(m)
        slots, labels = body.get("slots"), body.get("labels")
        if slots is not None and (isinstance(slots, bool) or not isinstance(slots, int) or not 1 <= slots <= 10_000):
            raise Invalid(f"slots {slots} must be between 1 and 10000")
        if labels is not None and not (isinstance(labels, dict) and all(isinstance(v, str) for v in labels.values())):
            raise Invalid("labels must be an object of texts")
        if labels is not None and (size := len(wire.dumps(labels))) > wire.MAX_LABELS:
            raise Invalid(f"labels have {size} bytes; at most {wire.MAX_LABELS} are allowed")
        if slots is not None:
            self._of.slots = slots
            self._of.puller.release()
        if labels is not None:
            self._of.labels = labels
        self._of.changed()
        return {}

    async def _consumers(self, m: Msg) -> dict[str, Any]:
        given = self._body(m).get("consumers")
        if not isinstance(given, list) or not 1 <= len(given) <= MAX_CONSUMERS:
            raise Invalid(f"consumers must be a list of 1 to {MAX_CONSUMERS}")
        consumers = [(c["stream"], c["consumer"]) for c in given]
        for pair in consumers:
            if not all(isinstance(name, str) and CONSUMER.fullmatch(name) for name in pair):
                raise Invalid(f"consumers: {pair} must be a stream and a consumer, of 1 to 128 letters, digits, hyphens and underscores")
        if len(set(consumers)) < len(consumers):
            raise Invalid("consumers: one is there twice")
        log.info("pulling from other consumers: %s", consumers)
        self._of.puller.pull_from(consumers)
        return {}

    async def _refused(self, m: Msg) -> dict[str, Any]:
        body = self._body(m)
        refusal = {name: body[name] for name in ("stream", "sequence", "subject", "reason", "at")}
        log.error("servers have refused a message of this executor: %(reason)s (stream %(stream)s, sequence %(sequence)s, subject %(subject)s)", refusal)
        self._of.refused += 1
        self._of.telemetry.count("messages_refused")
        self._of.refusal = refusal
        self._of.changed()
        return {}

    async def _attempts(self, m: Msg) -> dict[str, Any]:
        words = []
        for a in self._body(m).get("attempts", []):
            key = a["run_id"], a["attempt"], a.get("broadcast_index", 0)
            words.append("held" if key in self._of.live else "reported" if key in self._of.done else "none")
        return {"attempts": words}

    async def _kill(self, m: Msg) -> dict[str, Any]:
        body = self._body(m)
        if not isinstance(body.get("run_id"), str):
            raise Invalid("run_id is missing")
        who, why = body.get("by") or "somebody", body.get("reason")
        found = self._of.kill(body["run_id"], f"cancelled by {who}" + (f": {why}" if why else ""))
        if not found:
            return {"answer": "gone"}
        pieces = sorted(a.trigger.index for a in found if a.trigger.total > 0)
        return {"pieces": pieces} if pieces else {}
