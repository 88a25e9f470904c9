"""One life of an executor, from its connection to its last acknowledgement."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import logging
import os
import platform
import secrets as random
import time
from collections.abc import Callable, Coroutine, Sequence
from datetime import datetime, timedelta, timezone
from functools import partial
from typing import Any

import nats.errors
from nats.aio.client import Client
from nats.aio.msg import Msg

from . import connection, wire
from . import secrets as sealed
from .attempt import Attempt
from .blocked import Blocked
from .connection import Errors, Warnings
from .ends import Ends
from .errors import Cancelled, Stopping
from .handlers import Handler, Middleware
from .load import load
from .pull import Puller
from .recent import Recent
from .requests import Requests
from .settings import Settings
from .spool import Spool
from .telemetry import Telemetry

SDK = "carillon-python/0.1.0"
PROTOCOL = 3
BEAT = 5.0
DAY = 86400.0  # handlers are forgotten after 30
REMEMBER = 3600.0  # how long ended attempts are known
HAND_OVER_AGAIN = 5  # seconds until a trigger comes again that no server took
LOOK_AGAIN = 1.0  # how often it is looked whether another instance of this name lives
STORE_AGAIN = 0.25  # seconds until what is not stored is published again; doubles up to 5
COMPARE_EVERY = 15.0  # how often this machine's clock is compared with NATS'
COMPARE_WITHIN = 1.0  # a heartbeat that takes longer says too little
LAST_WORDS = 2  # how long a stopping executor waits for answers from NATS
PATIENCE = 10.0  # how long a run may take to end once it is told to

log = logging.getLogger("carillon.executor")


class Conflict(Exception):
    """Another instance of this name lives."""


class ConnectionLost(Exception):
    """NATS has closed the connection for good."""


class Instance:
    """One life of an executor: from its connection to its last acknowledgement."""

    def __init__(self, settings: Settings, handlers: dict[str, Handler], stop: asyncio.Event, hurry: asyncio.Event | None = None,
                 middleware: Sequence[Middleware] = ()) -> None:
        self.settings, self.handlers, self._stop, self.middleware = settings, handlers, stop, middleware
        self._hurry = hurry or asyncio.Event()  # live runs are given back at once
        self.group, self.instance, self.slots = settings.group, settings.instance, settings.slots
        self.labels = dict(settings.labels or {})
        self.state = "online"
        self.drain_by: datetime | None = None
        self.refused, self.refusal = 0, dict[str, Any]()  # messages of this instance, by servers, and the last of them
        self.secret = random.token_hex(20)
        self.live: dict[tuple[str, int, int], Attempt] = {}
        self.done: Recent[tuple[str, int, int]] = Recent(REMEMBER)
        self.killed: Recent[str] = Recent(60.0)
        self.alone: tuple[Any, float] = (None, 0.0)  # the attempt beside which none may begin, and until when
        self.reserved: Recent[str] = Recent(2.0)  # by reply subject: handed over; a server may offer it back
        self.key = sealed.key_of(settings.secret_key, self.group) if settings.secret_key else b""
        self.began = wire.now()
        self._changed = asyncio.Event()
        self._introduced = False  # a heartbeat of this connection is stored: nothing is pulled before
        self._introducing: asyncio.Task[None] | None = None
        self._started = False  # it was introduced once
        self._conflict: Conflict | None = None
        self._known = False  # the heartbeat that is stored may be ours
        self.over = False  # nothing is said any more
        self.stopping = False  # no request undoes that
        self._tasks: set[asyncio.Task[Any]] = set()
        self._handing: set[asyncio.Task[None]] = set()  # triggers to servers
        self._announced = -DAY  # when the handlers were announced
        self._beaten = 0.0
        self._compared = time.monotonic()  # when the clock was compared with NATS'
        self._blocked = Blocked(self._tell_live)
        self._errors = Errors(settings)
        self.telemetry = Telemetry(self.group, self.instance, lambda: (self.slots, len(self.live)))
        self.spool = Spool(settings.spool, settings.spool_bytes)
        self.ends = Ends(self)
        self.puller = Puller(self)
        self.requests = Requests(self)

    nc: Client

    # --- life

    async def serve(self) -> None:
        self.nc = await self._connect()
        if self.nc is None:
            return
        try:
            if not await self._unless_stopped(self._report_spooled()):
                return
            await self.requests.listen()
            self._blocked.start()
            await self._work()
            await self._leave()
            if self._conflict is not None:
                raise self._conflict
            if self.nc.is_closed:
                raise nats.errors.ConnectionClosedError
        except nats.errors.ConnectionClosedError:
            why = connection.explain(self.nc.last_error or nats.errors.ConnectionClosedError(), self.settings)
            raise ConnectionLost(f"NATS has closed the connection: {why}") from None
        finally:
            self._blocked.stop()
            self.telemetry.close()
            self.over = True
            await self.nc.close()

    async def _unless_stopped(self, work: Coroutine[Any, Any, None]) -> bool:
        """Whether work came to its end before the executor was asked to stop."""
        doing, stopping = asyncio.ensure_future(work), asyncio.ensure_future(self._stop.wait())
        try:
            await asyncio.wait({doing, stopping}, return_when=asyncio.FIRST_COMPLETED)
            if doing.done():
                doing.result()  # raises what it raised
            return doing.done()
        finally:
            doing.cancel()
            stopping.cancel()

    async def _connect(self) -> Any:
        """A connection. While NATS is away, or refuses us, it tries again."""
        pause, warnings = 0.25, Warnings()
        while not self._stop.is_set():
            nc, errors = Client(), Errors(self.settings)
            options = connection.options(self.settings, errors)
            try:
                if not await self._unless_stopped(nc.connect(**options, reconnected_cb=self._on_reconnected, disconnected_cb=self._on_disconnected)):
                    return None
                connection.keep(nc)
                errors.connected()
                self._errors = errors
                return nc
            except (OSError, nats.errors.Error, asyncio.TimeoutError) as e:
                warnings.warn(connection.why_not(errors.last or e, self.settings, connection.asks_for_certificate(nc)) + " (trying again)")
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._stop.wait(), pause)
            pause = min(2 * pause, 5.0)
        return None

    async def _on_disconnected(self) -> None:
        if not self.over:
            log.warning("disconnected from NATS")

    async def _on_reconnected(self) -> None:
        log.info("connected to NATS again")
        self._errors.connected()
        self.puller.release()
        self._introduced = False
        self._stop_introducing()

    async def _work(self) -> None:
        while not self._stop.is_set() and self._conflict is None and not self.nc.is_closed:
            if self.state == "draining" and self._is_idle():
                return
            if self.drain_by and wire.now() >= self.drain_by:
                return
            await self._turn()
            if self._introduced:
                await self.puller.look()
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._stop.wait(), 0.1)

    async def _turn(self) -> None:
        """Do what is due without a message, for as long as there may be runs."""
        self._blocked.turn()
        if not self._introduced and self._introducing is None and self._conflict is None and self.nc.is_connected:
            self._introducing = self.spawn(self._get_known())  # it may take a while, in which runs have to be kept alive
        for attempt in list(self.live.values()):
            await attempt.look()
        await self._keep_known(time.monotonic())

    async def _keep_known(self, now: float) -> None:
        """Publish what others know of this instance, as it is due."""
        if not self._introduced or not self.nc.is_connected:  # another may have the name by then
            return
        if now - self._announced >= DAY:
            self._announced = now
            await self._announce()
        if self._changed.is_set() or now - self._beaten >= BEAT:
            self._changed.clear()
            self._beaten = now
            if now - self._compared >= COMPARE_EVERY:
                self._compared = now
                self.spawn(self._compare_clocks())
            else:
                await self._publish(self._beat_subject, self._beat())

    async def _leave(self) -> None:
        """Take no more, let live runs end for a while, end the rest, and remove the heartbeat."""
        grace = 0 if self.nc.is_closed else self.settings.grace  # if it is, others are about to be given the runs
        if self.drain_by is not None:  # the drain that was asked for leaves them no more time than that
            grace = min(grace, max((self.drain_by - wire.now()).total_seconds(), 0))
        self.state, self.stopping = "draining", True
        self.changed()
        await self._keep_known(time.monotonic())
        self.puller.release()
        await self.puller.drained(LAST_WORDS)
        log.info("executor stopping: %d runs%s", len(self.live), "; a second signal gives them back at once" if self.live else "")
        end = time.monotonic() + grace
        await self._until_idle(end, self._hurry)
        if self._hurry.is_set() and self.live:
            log.warning("stopped again: %d runs are cancelled and given back", len(self.live))
        for attempt in list(self.live.values()):
            attempt.end(Stopping("the executor is stopping"))
        end = time.monotonic() + PATIENCE + 5
        await self._until_idle(end)
        self._stop_introducing()
        with contextlib.suppress(nats.errors.Error):
            if self._known:
                await self.nc.publish(self._beat_subject, b"", headers={"KV-Operation": "DEL"})
            await self.nc.flush(LAST_WORDS)
        log.info("executor stopped")

    def _is_idle(self) -> bool:
        return not self.live and not self._handing

    async def _until_idle(self, end: float, hurry: asyncio.Event | None = None) -> None:
        """Wait until no run is left, and none is on its way to a server; until then at most, or until somebody is in a hurry."""
        while not self._is_idle() and time.monotonic() < end and not (hurry is not None and hurry.is_set()):
            await self._turn()
            await asyncio.sleep(0.05)

    # --- triggers

    def free(self) -> int:
        """How many runs may begin."""
        return 0 if self.state != "online" or self.is_alone() else max(self.slots - len(self.live) - len(self.reserved), 0)

    def is_alone(self) -> bool:
        """Whether a run is here beside which no other may begin yet: an executor died that had it."""
        key, until = self.alone
        return key in self.live and time.monotonic() < until

    def is_full(self, handler: str) -> bool:
        """Whether as many runs of a handler are here as it may have."""
        slots = self.handlers[handler].slots if handler in self.handlers else None
        return slots is not None and sum(a.trigger.handler == handler for a in self.live.values()) >= slots

    async def take(self, m: Msg) -> None:
        """A trigger that was pulled."""
        headers = m.headers or {}
        if headers.get(wire.MESSAGE, wire.TRIGGER) != wire.TRIGGER:
            self._hand_over(m.reply)  # a newer instance may know this version
            return
        try:
            t = wire.decode(m.data, headers.get(wire.TOKEN, ""), wire.delivery(m.reply)[0], self.group, headers.get(wire.TRACE, ""))
        except wire.Garbage as e:
            self.telemetry.count("triggers_rejected")
            log.warning("a message that is no trigger: %s", e)
            await self.nc.publish(m.reply, b"+TERM")
            return
        live = self.live.get(t.key)
        if live is not None:
            live.reply, live.trigger.delivered = m.reply, max(live.trigger.delivered, t.delivered)
        elif t.key in self.done:
            await self.nc.publish(m.reply, b"+ACK")
        elif t.run_id in self.killed:
            self.begin(t, m.reply).conclude("cancelled", "cancelled before it began here")
        elif t.delivered > 1 or t.handler not in self.handlers or self.is_full(t.handler):
            self._hand_over(m.reply)
        elif self.state != "online" or len(self.live) >= self.slots or self.is_alone():
            await self.give_back(m.reply, wire.back_off(t.delivered))
        else:
            self.start(t, m.reply)

    def _hand_over(self, reply: str) -> None:
        self.reserved.add(reply)
        handing = self.spawn(self._handed_over(reply))  # the triggers behind it do not wait
        self._handing.add(handing)
        handing.add_done_callback(self._handing.discard)

    async def _handed_over(self, reply: str) -> None:
        try:
            m = await self.nc.request(f"hand.{self.group}", b"", timeout=2, headers={wire.ACK: reply, wire.INSTANCE: self.instance})
            if "value" in json.loads(m.data):
                self.telemetry.count("triggers_handed_over")
                return
        except (nats.errors.Error, asyncio.TimeoutError, ValueError):
            pass
        self.reserved.discard(reply)
        await self.give_back(reply, HAND_OVER_AGAIN)

    async def give_back(self, reply: str, seconds: int) -> None:
        """Have a trigger delivered again, after so many seconds."""
        self.telemetry.count("runs_given_back")
        with contextlib.suppress(nats.errors.Error):
            await self.nc.publish(reply, wire.nak(seconds))

    def begin(self, t: wire.Trigger, reply: str, route_reason: str = "") -> Attempt:
        """Begin to know an attempt."""
        self.reserved.discard(reply)
        attempt = Attempt(self, t, reply, route_reason)
        self.live[t.key] = attempt
        return attempt

    def start(self, t: wire.Trigger, reply: str, route_reason: str = "") -> None:
        """Do an attempt, unless it is too late for it."""
        attempt = self.begin(t, reply, route_reason)
        by, end_by = t.time("start_by"), t.time("end_by")
        if by and wire.now() > by:
            attempt.conclude("missed", f"no instance was free to begin it by {wire.instant(by)}")
        elif end_by and wire.now() > end_by:
            attempt.conclude("timed_out", f"the run had to end by {wire.instant(end_by)}, with all its attempts")
        else:
            attempt.start()

    def kill(self, run_id: str, reason: str) -> list[Attempt]:
        """End a run, in any attempt and piece, also one that is still to come."""
        self.killed.add(run_id)
        found = [a for a in self.live.values() if a.trigger.run_id == run_id]
        for a in found:
            a.killed = Cancelled(reason)
            a.end(a.killed)
        return found

    def _tell_live(self, text: str) -> None:
        for attempt in list(self.live.values()):
            attempt.tell("warn", text)

    async def settled(self, attempt: Attempt, known: bool) -> None:
        """An attempt is over; known says that it must not be done again here."""
        self.live.pop(attempt.trigger.key, None)
        if known:
            self.done.add(attempt.trigger.key)
        if self._introduced:
            await self.puller.slot_free()

    def spawn(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Start a task and hold it: the loop holds tasks only weakly."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def changed(self) -> None:
        """Have the next heartbeat sent at once."""
        self._changed.set()

    # --- messages

    async def stored(self, subject: str, data: bytes, headers: dict[str, str], timeout: float = 5.0) -> dict[str, Any]:
        """Publish once and return JetStream's acknowledgement; an error of it is a RuntimeError."""
        m = await self.nc.request(subject, data, timeout=timeout, headers=headers)
        answer: dict[str, Any] = json.loads(m.data)
        if not isinstance(answer, dict) or not answer.keys() & {"stream", "error"}:  # of somebody else who listens there
            raise ValueError("the answer is not JetStream's")
        if "error" in answer:
            raise Refused(answer["error"])
        return answer

    async def until_stored(self, subject: str, data: Callable[[], bytes], headers: dict[str, str]) -> bool:
        """Publish until JetStream has it; False means that the connection is closed for good.

        data is asked for at each try: NATS may come back with another max_payload. It may raise TooLarge.
        """
        pause = STORE_AGAIN
        while True:
            try:
                await self.stored(subject, data(), headers)
                return True
            except nats.errors.ConnectionClosedError:
                return False
            except (nats.errors.Error, asyncio.TimeoutError, Refused, ValueError, OSError) as e:
                log.warning("not stored by NATS, tried again: %s: %s", subject, e or type(e).__name__)
                if subject.startswith("evt."):
                    self.telemetry.count("event_publish_retries")
            await asyncio.sleep(pause)
            pause = min(2 * pause, 5.0)

    async def _publish(self, subject: str, data: bytes) -> None:
        with contextlib.suppress(nats.errors.Error):
            await self.nc.publish(subject, data)

    # --- heartbeats

    @property
    def _beat_subject(self) -> str:
        return f"$KV.INST.{self.group}.{self.instance}"

    def _beat(self, at: datetime | None = None) -> bytes:
        beat: dict[str, Any] = {
            "executor_group": self.group, "instance": self.instance, "state": self.state, "kinds": ["handler"], "handlers": sorted(self.handlers), "slots": self.slots,
            "running": len(self.live), "labels": self.labels, "protocol": PROTOCOL, "version": self.settings.version, "sdk": SDK, "host": platform.node() or "host",
            "pid": os.getpid(), "started_at": wire.instant(self.began), "at": wire.instant(at or wire.CLOCK.own()), "control_secret": self.secret,
        }
        beat["load"] = load()
        if "zone" in self.labels:
            beat["zone"] = self.labels["zone"]
        if self.drain_by:
            beat["drain_by"] = wire.instant(self.drain_by)
        if self.refused:
            beat["refused"], beat["refusal"] = self.refused, self.refusal
        return wire.dumps(beat)

    async def _get_known(self) -> None:
        """Have the first heartbeat of a connection stored, or find that another has the name."""
        ours = asyncio.current_task()
        try:
            await self._introduce()
            await self._compare_clocks()
            if self._introducing is ours:  # the connection is still the same
                self._introduced = True
                self.changed()  # it may have taken a while
                if not self._started:
                    self._started = True
                    log.info("executor started: group %s, instance %s, %d slots, handlers %s", self.group, self.instance, self.slots, ", ".join(sorted(self.handlers)))
        except Conflict as e:
            self._conflict, self._known = e, False
        finally:
            if self._introducing is ours:
                self._introducing = None

    def _stop_introducing(self) -> None:
        if self._introducing is not None:
            self._introducing.cancel()
            self._introducing = None

    async def _introduce(self) -> None:
        """Publish the first heartbeat; another instance of this name must not live."""
        expected: int | None = 0  # None: whatever is there
        heard, said = time.monotonic(), False  # when one could be read last, and whether it was said that none can
        seen, since, looked, warnings = 0, 0.0, 0, Warnings()
        known = self._known
        while True:
            try:
                self._known = True  # though its answer may not come
                await self.stored(self._beat_subject, self._beat(), {} if expected is None else {wire.EXPECTED: str(expected)})
                return
            except (Refused, nats.errors.Error, asyncio.TimeoutError, ValueError, OSError) as e:
                if not isinstance(e, Refused) or e.code != 10071:
                    warnings.warn(f"the heartbeat is not stored ({e or type(e).__name__}): {self._errors.ask()} (trying again)")
                    await asyncio.sleep(0.5)
                    expected, heard = 0, time.monotonic()  # meanwhile another may have come
                    continue
            self._known = known
            sequence, other = await self._present()
            if other is not None and other.get("control_secret") != self.secret:
                self._known = known = False
            if sequence:
                heard = time.monotonic()
            if not sequence and time.monotonic() - heard < wire.ACK_WAIT:
                expected = 0  # it may have been removed meanwhile
                if not said:
                    said = True
                    log.info("waiting: the heartbeat of instance %s cannot be read; if that lasts %d s, the instance counts as gone", self.instance, wire.ACK_WAIT)
            elif not sequence:
                expected = None
                continue
            elif other is None or other.get("control_secret") == self.secret:
                if expected != sequence:
                    expected = sequence
                    continue
            elif looked < 2:  # a replica that lags behind may have shown an older one
                looked, seen, since = looked + 1, sequence, time.monotonic()
                log.info("waiting: a heartbeat of instance %s is there; it may be of one that died", self.instance)
            elif sequence != seen:
                raise Conflict(f"instance {self.instance} of group {self.group} lives on host {other.get('host')}, process {other.get('pid')}: "
                               "give each instance a name of its own (CARILLON_INSTANCE), or none, so that one is made")
            elif time.monotonic() - since > wire.ACK_WAIT:
                expected = sequence
                continue
            await asyncio.sleep(LOOK_AGAIN)

    async def _compare_clocks(self) -> None:
        """Have a heartbeat stored, and read when that was, by NATS' clock. Without an answer nothing changes."""
        self._compared = time.monotonic()
        try:
            sent, began = wire.CLOCK.own(), time.monotonic()
            await self.stored(self._beat_subject, self._beat(sent), {}, timeout=COMPARE_WITHIN)
            took = time.monotonic() - began
            m = await self.nc.request(f"$JS.API.DIRECT.GET.KV_INST.{self._beat_subject}", b"", timeout=COMPARE_WITHIN)
            stored = (m.headers or {}).get("Nats-Time-Stamp", "")
            if not stored or took > COMPARE_WITHIN or json.loads(m.data).get("at") != wire.instant(sent):
                return  # it is another heartbeat, or nobody knows when this one was sent
            if wire.CLOCK.compare(sent, wire.parse_instant(stored)):
                off = wire.CLOCK.offset
                log.warning("the clock of this machine is %s NATS' clock, by which times are corrected: check NTP",
                            f"{abs(off):.1f} s {'ahead of' if off > 0 else 'behind'}" if off else "in line again with")
        except Exception as e:  # noqa: BLE001 - it is only a measurement
            log.debug("clocks not compared: %s", e)

    async def _present(self) -> tuple[int, dict[str, Any] | None]:
        """The last heartbeat of this name: its sequence, and what it says; None if it has left. 0 if it cannot be read, as from a replica that lags behind."""
        try:
            m = await self.nc.request(f"$JS.API.DIRECT.GET.KV_INST.{self._beat_subject}", b"", timeout=5)
            headers = m.headers or {}
            sequence = int(headers.get("Nats-Sequence", 0))
            return sequence, None if "KV-Operation" in headers or not m.data else json.loads(m.data)
        except (nats.errors.Error, asyncio.TimeoutError, ValueError):
            return 0, None

    async def _announce(self) -> None:
        for h in self.handlers.values():
            about: dict[str, Any] = {"executor_group": self.group, "handler": h.name, "instance": self.instance, "at": wire.instant(wire.now())}
            if h.description:
                about["description"] = h.description
            if h.schema is not None:
                about["params_schema"] = h.schema
            if h.result_schema is not None:
                about["result_schema"] = h.result_schema
            name = base64.urlsafe_b64encode(h.name.encode()).rstrip(b"=").decode()
            data = wire.dumps(about)
            if len(data) > wire.MAX_ANNOUNCEMENT:
                log.error("handler %s is not announced: its description and schemas make %d bytes, and at most %d are allowed: shorten its schemas", h.name, len(data), wire.MAX_ANNOUNCEMENT)
                continue
            self.spawn(self.until_stored(f"$KV.HANDLER.{self.group}.{name}", partial(wire.dumps, about), {}))

    # --- ends that outlive a restart

    async def _report_spooled(self) -> None:
        for path in self.spool.paths():
            if (end := self.spool.read(path)) is None:
                continue
            subject, data, headers = end
            if await self.ends.until_stored("", subject, data, headers):
                self.spool.remove(path)

    def drain(self, within: float | None) -> None:
        """Take no more work, and leave when there is none; by then at the latest."""
        if self.stopping:  # with a limit of its own
            return
        self.state = "draining"
        self.drain_by = None if within is None else datetime.now(timezone.utc) + timedelta(seconds=within)
        self.puller.release()
        self.changed()


class Refused(Exception):
    """JetStream has refused a message."""

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(error.get("description", "refused"))
        self.code = int(error.get("err_code", 0))
