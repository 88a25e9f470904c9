"""One attempt, from its trigger to its acknowledgement."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import secrets as random
import time
from datetime import datetime
from typing import TYPE_CHECKING, Any

import nats.errors

from . import secrets as sealed
from . import starts, wire
from .ends import HEADROOM
from .errors import Ending, Failure, TimedOut
from .outcome import Outcome, abandoned, outcome_of
from .run import Run
from .runlog import MARK, RunLog
from .telemetry import NoSpan

if TYPE_CHECKING:
    from .instance import Instance

SIGN_OF_LIFE = 4.0
STARTED_AFTER = 1.0
PROGRESS_EVERY = 1.0
PATIENCE = 10.0
CLAIM_AGAIN = 0.25  # seconds until a claim is made again that was not answered
MAX_BATCH = 256 << 10  # of log lines
LEAST_LINE = 64  # what is left of a line that is cut, in bytes, at least

log = logging.getLogger("carillon.executor")


class Dropped(Exception):
    """Another instance has the attempt."""


class Attempt:
    def __init__(self, of: Instance, trigger: wire.Trigger, reply: str, route_reason: str = "") -> None:
        self.of, self.trigger, self.reply = of, trigger, reply
        self._reason = route_reason
        self.came = wire.now()
        self.started: datetime | None = None
        self._log = RunLog(asyncio.get_running_loop(), self._send_lines, trigger.delivered, of.settings.max_log_lines, of.settings.max_log_bytes)
        fence = wire.delivery(reply)[1] << 16 | min(trigger.delivered, 65535)
        self.run = Run(trigger, self._log, of.instance, fence)
        self.run._start = lambda wish: starts.ask(of.nc, of.group, trigger.token, self.reply, wish)
        self._span = NoSpan(trigger)
        self._life = self._sign = time.monotonic()
        self._told_started = False
        self._progressed = 0.0
        self._warned = False
        self._over = False  # its end is being told
        self.killed: Ending | None = None  # that was accepted, though the run may be ending for another reason
        self._task: asyncio.Task[Any] | None = None
        self._deadline: tuple[float, Ending] | None = None
        self._ended_at = 0.0
        self._claim: dict[str, Any] | None = None

    # --- the loop of the instance

    async def look(self) -> None:
        """Say that the attempt lives, and what else is due."""
        now = time.monotonic()
        if now - self._sign >= SIGN_OF_LIFE:
            self._sign = now
            with contextlib.suppress(nats.errors.Error):
                await self.of.nc.publish(self.reply, b"+WPI")
        if self._over or self.started is None:
            return
        if self._deadline and now >= self._deadline[0]:
            self.end(self._deadline[1])
        if now - self._life >= STARTED_AFTER and (self._claim is not None or not self.trigger.at_most_once):
            await self._tell_started()
            if self._told_started and self.run._progress and now - self._progressed >= PROGRESS_EVERY:
                percent, text = self.run._progress
                self.run._progress, self._progressed = None, now
                await self._event("progress", {"percent": percent, "text": text})
        warn = self.trigger.seconds("warn_after")
        if warn and not self._warned and now - self._life > warn:
            self._warned = True
            self._log.system("warn", f"the attempt takes longer than {self.trigger.raw['warn_after']}")
        if self._ended_at and now - self._ended_at > PATIENCE and not self._over:
            log.warning("run %s ignores that it has to end; it is left behind", self.run.id)
            self.of.telemetry.count("handlers_abandoned")
            self._finish(outcome_of(self.run, abandoned(PATIENCE), None))

    async def _tell_started(self) -> None:
        if not self._told_started:
            self._told_started = True
            await self._event("started", {"route_reason": self._reason} if self._reason else {})

    async def _event(self, kind: str, more: dict[str, Any]) -> None:
        """Publish a started or progress event; whether it is stored is not waited for."""
        e = self._about(kind) | more
        tail = f":{self.trigger.delivered}" if kind == "started" else ":" + _base36(int(wire.now().timestamp() * 1000))
        headers = self._headers("event.v1") | {wire.MSG_ID: f"{self.trigger.message_id(kind)}{tail}:{self.trigger.token}"}
        subject, data = self._subject, wire.dumps(e)

        async def tell() -> None:
            with contextlib.suppress(Exception):  # a later event, and the end, say more
                await self.of.stored(subject, data, headers)

        self.of.spawn(tell())

    def end(self, why: Ending) -> None:
        """Have the run end."""
        if self.run.ending is None and not self._over:
            self.run._end(why)
            self._ended_at = time.monotonic()
            if self._task is not None and self.run._awaits:
                self._task.cancel()

    def tell(self, level: str, text: str) -> None:
        """Say something about the run in its log. It may be called from any thread."""
        self._log.system(level, text)

    # --- the attempt's own task

    def start(self) -> None:
        """Call the handler."""
        self.started = wire.now()
        self.run._awaits = self.of.handlers[self.trigger.handler or ""].is_async
        timeout, by = self.trigger.seconds("timeout"), self.trigger.time("end_by")
        if timeout:
            self._deadline = time.monotonic() + timeout, TimedOut(f"took longer than its timeout of {self.trigger.raw['timeout']}")
        if by:
            left = time.monotonic() + (by - wire.now()).total_seconds()
            if self._deadline is None or left < self._deadline[0]:
                self._deadline = left, TimedOut(f"the run had to end by {wire.instant(by)}, with all its attempts")
        if self._reason:
            self.of.spawn(self._tell_started())
        self.of.spawn(self._work())

    async def _work(self) -> None:
        self._task = asyncio.current_task()  # from here on it can be cancelled, and say how it ended
        result: Any = None
        error: BaseException | None = None
        try:
            self.run.check()
            await self._open_secrets()
            if self.trigger.at_most_once:  # last: what is claimed and given back is begun by no other
                await self._claim_it()
            self._span = self.of.telemetry.span(self.trigger)
            self.run._trace_parent = self._span.trace_parent
            with self._span.current():
                result = await self.of.handlers[self.trigger.handler or ""].call(self.run, self.of.middleware)
        except Dropped:
            self._over = True
            await self.of.settled(self, known=False)
            return
        except asyncio.CancelledError:
            if self.of.over:  # the program ends its loop, and what becomes of the attempt is for a server to say
                raise
            error = self.run.ending or Failure("the handler cancelled itself")
        except Exception as e:  # noqa: BLE001 - a handler may raise anything
            error = e
        if not self._over:
            self._over = True
            await self._report(outcome_of(self.run, error, result))

    def conclude(self, status: str, message: str) -> None:
        """End an attempt that was not begun."""
        self._finish(Outcome(status, message))

    def _finish(self, outcome: Outcome) -> None:
        self._over = True
        self.of.spawn(self._report(outcome))

    async def _report(self, outcome: Outcome) -> None:
        mask = self._log.mask
        status, message, result, wishes = outcome.status, outcome.message, outcome.result, outcome.wishes
        if self.killed is not None and status in ("", "lost"):  # a stop was first
            status, message = "cancelled", str(self.killed)
        message = wire.cut(mask(message))
        give_back = status == ""
        if give_back:
            self._log.system("warn", "the executor is stopping; the run is given back, to be done again elsewhere")
        elif status != "succeeded":
            self._log.end(status, message)
        lines = self._log.shut()
        message = wire.cut("; ".join(filter(None, (message, self._log.note()))))
        if give_back:
            await self._settle_log()
            if self.killed is not None:  # meanwhile
                status, message = "cancelled", wire.cut(mask(str(self.killed)))
        self.of.telemetry.ended(self.trigger, status, self.came, self.started)
        self._span.end(status, message)
        if status == "":
            self._give_up_lines()
            await self.of.give_back(self.reply, wire.back_off(self.trigger.delivered))
            await self.of.settled(self, known=False)
            return
        finished = wire.now()
        e = self._about("finished") | {"finished_at": wire.instant(finished), "at": wire.instant(finished), "status": status}
        if message:
            e["message"] = message
        if result is not None:
            with contextlib.suppress(ValueError):  # a secret that was a number
                e["result"] = json.loads(mask(json.dumps(result, ensure_ascii=False))) if self.run._secrets else result
        if lines:
            e["log_lines"] = lines
        e |= wishes
        if not wishes.get("final") and (self.trigger.again(status) or self.run.split and status == "succeeded"):
            e["retry"] = True
        headers = self._headers("event.v1") | {wire.MSG_ID: f"{self.trigger.message_id('finished')}:{self.trigger.token}"}
        data = wire.dumps(e)
        kept = self.of.spool.keep(self._subject, data, headers)  # at once: the process may be about to end
        if not give_back:
            await self._settle_log()
        if await self.of.ends.until_stored(self.trigger.report, self._subject, data, headers):
            self.of.spool.remove(kept)
        else:
            log.error("the end of run %s is not reported: NATS has closed the connection%s", self.run.id, "" if kept is None else "; it is in the spool")
        with contextlib.suppress(nats.errors.Error):
            await self.of.nc.publish(self.reply, b"+ACK")
            if self._claim is not None:  # nobody waits for it: one that stays ends by itself, later
                await self.of.nc.publish(self._claim_subject, wire.dumps(self._claim | {"ended": True}), headers={"Nats-TTL": "10m"})
        self._give_up_lines()
        await self.of.settled(self, known=True)

    async def _settle_log(self) -> None:
        if not self.of.nc.is_closed:
            await self._log.settle()

    def _give_up_lines(self) -> None:
        self._log.abandon()
        self.of.telemetry.count("log_lines_dropped", self._log.dropped)

    # --- messages

    @property
    def _subject(self) -> str:
        return f"evt.{self.trigger.raw['shard']}.{self.of.group}"

    def _headers(self, kind: str) -> dict[str, str]:
        return {wire.MESSAGE: kind} | ({wire.TOKEN: self.trigger.token} if self.trigger.token else {})

    def _about(self, kind: str) -> dict[str, Any]:
        e = self.trigger.event(kind, self.of.instance)
        if self.started is not None:
            e |= {"delivered_at": wire.instant(self.came), "started_at": wire.instant(self.started)}
        return e

    async def _send_lines(self, lines: list[dict[str, Any]]) -> None:
        """Publish lines. Those that NATS does not take as one message come in several; a line that is too long is cut."""
        t = self.trigger
        body: dict[str, Any] = {"run_id": t.run_id, "job": t.job, "attempt": t.attempt, "instance": self.of.instance, "lines": lines}
        if t.total > 0:
            body |= {"broadcast_index": t.index, "broadcast_total": t.total}
        data = wire.dumps(body)
        excess = len(data) - min(MAX_BATCH, self.of.nc.max_payload - HEADROOM)
        if excess > 0 and len(lines) > 1:
            half = len(lines) // 2
            await self._send_lines(lines[:half])
            await self._send_lines(lines[half:])
            return
        if excess > 0 and (size := len(lines[0]["text"].encode())) > LEAST_LINE:
            text = wire.cut(lines[0]["text"], max(size - excess - len(MARK.encode()), size // 2 - len(MARK.encode())))
            await self._send_lines([lines[0] | {"text": text + MARK}])
            return
        await self.of.stored(f"log.{self.of.group}.{t.run_id}", data, self._headers("log.v1"))

    # --- before the handler

    @property
    def _claim_subject(self) -> str:
        t = self.trigger
        return f"$KV.CLAIM.{self.of.group}.{t.run_id}-{t.attempt}-{t.index}"

    async def _claim_it(self) -> None:
        """Store the claim, or find that another instance has it."""
        from .instance import Refused

        claim = {"instance": self.of.instance, "delivery": self.trigger.delivered, "try": random.token_hex(8)}
        headers = {wire.EXPECTED: "0", "Nats-TTL": "744h"}
        unanswered = False  # a try may have been stored whose answer got lost
        while True:
            self.run.check()  # a plain function cannot be cancelled
            try:
                await self.of.stored(self._claim_subject, wire.dumps(claim), headers)
                break
            except Refused as e:
                if e.code == 10071:  # with 10164, another claim is in flight, and may get lost
                    stands = await self._claimed_by() if unanswered else ""
                    if stands == claim["try"]:
                        break
                    if stands is not None:
                        raise Dropped from None
            except (nats.errors.Error, asyncio.TimeoutError, ValueError, OSError):
                pass
            unanswered = True
            await asyncio.sleep(CLAIM_AGAIN)
        self._claim = claim

    async def _claimed_by(self) -> str | None:
        """The try of the claim that stands; None if it cannot be read, as from a replica that lags behind."""
        try:
            m = await self.of.nc.request(f"$JS.API.DIRECT.GET.KV_CLAIM.{self._claim_subject}", b"", timeout=5)
        except (nats.errors.Error, asyncio.TimeoutError):
            return None
        if "Nats-Sequence" not in (m.headers or {}):
            return None
        try:
            return str(json.loads(m.data)["try"])
        except (LookupError, TypeError, ValueError):
            return ""  # whosever it is

    async def _open_secrets(self) -> None:
        wanted = self.trigger.raw["task"].get("secrets") or {}
        if not wanted:
            return
        if not self.of.key:
            raise Failure("the task asks for secrets, and this executor has no key for them: set CARILLON_SECRET_KEY_FILE")
        values = {}
        for variable, name in sorted(wanted.items()):
            m = await self.of.nc.request(f"$JS.API.DIRECT.GET.KV_SECRET.$KV.SECRET.{self.of.group}.{name}", b"", timeout=5)
            if not m.data:
                raise Failure(f"there is no secret {name!r} in group {self.of.group}")
            values[variable] = sealed.open_secret(self.of.key, self.of.group, name, json.loads(m.data)["sealed"])
        self.run._secrets, self._log.mask = values, sealed.masker(values)


def _base36(n: int) -> str:
    digits, text = "0123456789abcdefghijklmnopqrstuvwxyz", ""
    while n:
        n, r = divmod(n, 36)
        text = digits[r] + text
    return text or "0"
