"""The log of one run: numbered lines, in batches, one batch on its way at a time."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import re
import threading
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any

from . import wire

BATCH_LINES = 200
BATCH_BYTES = 64 << 10
DELAY = 0.1  # how old the first line of a batch may get
ROOM = 16 << 20  # bytes of lines that wait, of all runs of the process
OWN = 64 << 10  # bytes of a run's lines that may wait whatever those of others take
COST = 128  # of a line, beside its text
STALL = 1.0  # how long the stream may take before lines are dropped
LINGER = 15.0  # how long the end of a run waits for its lines
PARTS = 20  # of a message that are searched for in what the run printed
TAIL = 8 << 10  # characters of what the run printed last that are kept for the last line
MARK = "…"

Send = Callable[[list[dict[str, Any]]], Awaitable[None]]


class Room:
    """How many bytes of lines wait, of all runs that share it. It may be used from any thread."""

    def __init__(self, most: int = ROOM) -> None:
        self.most, self._used, self._lock = most, 0, threading.Lock()

    def take(self, cost: int, own: int) -> bool:
        """Take room for a line of a run whose lines have so many bytes already. False if there is none."""
        with self._lock:
            if self._used + cost > self.most and own + cost > OWN and own > 0:
                return False
            self._used += cost
            return True

    def give(self, cost: int) -> None:
        with self._lock:
            self._used -= cost


shared = Room()


class RunLog:
    """Lines of one attempt. `add` may be called from any thread."""

    def __init__(self, loop: asyncio.AbstractEventLoop, send: Send, delivered: int, max_lines: int = 1_000_000, max_bytes: int = 64 << 20,
                 room: Room = shared) -> None:
        self._loop, self._send, self._room = loop, send, room
        self._thread = threading.get_ident()  # of the loop, which must not wait
        self._lock = threading.Lock()
        self._moved = threading.Condition(self._lock)  # lines have left, or are not waited for
        self._flushing: set[asyncio.Future[None]] = set()
        self._lines: deque[dict[str, Any]] = deque()
        self._size = self._dropped = self.count = 0
        self.dropped = 0  # given up, in all
        self._sending = 0  # lines on their way
        self._base = self._seq = (delivered - 1) * 1_000_000_000
        self._room_lines, self._room_bytes, self._full, self._over = max_lines, max_bytes, False, 0
        self._notice = f"the log of this attempt is full: it may have {max_lines} lines and {max_bytes} bytes; what follows is counted and dropped"
        self._stalled = self._closed = self._given_up = False
        self._tail: deque[str] = deque()
        self._tail_size = 0
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self.mask: Callable[[str], str] = lambda text: text

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """The loop of the instance."""
        return self._loop

    def add(self, output: str, level: str, text: str) -> None:
        """Log a text, a line for each of its lines. It never raises.

        In a thread of its own it waits while there is no room and the stream takes lines; in the loop it does not.
        """
        at = wire.instant(wire.now())
        for line in self.mask(text).encode("utf-8", "replace").decode("utf-8").replace("\r\n", "\n").split("\n"):
            for piece in _pieces(line):
                self._append(output, level, piece, at)
        self._nudge()

    def _nudge(self) -> None:
        """Have the loop send lines, unless it is closed: a thread may outlive it."""
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._start)

    def system(self, level: str, text: str) -> None:
        """Log what the executor has to say about the run."""
        self.add("system", level, wire.cut(text))

    def end(self, status: str, message: str) -> None:
        """Log how the run ended and why, without the part of the message that the run has just printed."""
        with self._lock:
            tail = "\n".join(self._tail)
        message = _unprinted(wire.cut(message), tail)
        self.system("error", f"the run ended as {status}" + (f": {message}" if message else ""))

    def _append(self, output: str, level: str, text: str, at: str) -> None:
        size = len(text.encode())
        with self._lock:
            if self._closed:
                return
            if output != "system":
                if self._full or self._room_lines <= 0 or self._room_bytes < size:
                    self._over += 1
                    if self._full:
                        return
                    self._full = True
                    output, level, text = "system", "warn", self._notice
                    size = len(text.encode())
                else:
                    self._room_lines -= 1
                    self._room_bytes -= size
                    self._keep_locked(text)
            if self._take_locked(size + COST):
                self._append_locked(output, level, text, at)

    def _keep_locked(self, text: str) -> None:
        """Keep the end of what the run printed."""
        self._tail.append(text[-TAIL:])
        self._tail_size += len(self._tail[-1])
        while self._tail_size > TAIL:
            self._tail_size -= len(self._tail.popleft())

    def _append_locked(self, output: str, level: str, text: str, at: str) -> None:
        """Append a line, for which there is room."""
        self._seq += 1
        self.count += 1
        self._lines.append({"seq": self._seq, "at": at, "level": level, "output": output, "text": text})
        self._size += len(text.encode()) + COST

    def _take_locked(self, cost: int) -> bool:
        """Take room for a line: wait for it in a thread, else drop the oldest lines. False if the log was closed meanwhile."""
        waits = threading.get_ident() != self._thread
        while not self._room.take(cost, self._size):
            if waits and not self._stalled:
                self._nudge()
                before = self._size
                if not self._moved.wait(STALL) and self._size == before:  # the loop may be blocked, too
                    self._stalled = True
                if self._closed:
                    return False
            else:
                self._drop_locked(1)
        return True

    def _drop_locked(self, n: int) -> None:
        """Give the oldest lines up."""
        for _ in range(n):
            self._leave_locked(self._lines.popleft())
        self._dropped += n
        self.dropped += n

    def _leave_locked(self, line: dict[str, Any]) -> int:
        """Return the room of a line, and how many bytes its text has."""
        size = len(line["text"].encode())
        self._size -= size + COST
        self._room.give(size + COST)
        return size

    def _start(self) -> None:
        if self._task is None:
            self._task = self._loop.create_task(self._pump())
        self._wake.set()

    async def _pump(self) -> None:
        while True:
            with self._lock:
                waiting, full, closed = len(self._lines), self._size >= BATCH_BYTES, self._closed
            if not waiting:
                if closed:
                    return
                self._wake.clear()
                if not self._lines and not self._closed:
                    await self._wake.wait()
                continue
            if waiting < BATCH_LINES and not full and not closed and not self._flushing:
                await asyncio.sleep(DELAY)
            await self._publish(self._batch())

    def _batch(self) -> list[dict[str, Any]]:
        batch: list[dict[str, Any]] = []
        size = 0
        with self._lock:
            if self._dropped:
                text = f"{self._dropped} lines were dropped here: the log stream did not take them in time"
                if self._dropped == 1:
                    text = "1 line was dropped here: the log stream did not take it in time"
                seq = self._lines[0]["seq"] - 1 if self._lines else self._seq
                batch.append({"seq": seq, "at": wire.instant(wire.now()), "level": "warn", "output": "system", "text": text})
                self._dropped = 0
            while self._lines and len(batch) < BATCH_LINES and (not size or size + len(self._lines[0]["text"].encode()) <= BATCH_BYTES):
                line = self._lines.popleft()
                size += self._leave_locked(line)
                batch.append(line)
                self._sending += 1
            self._moved.notify_all()
        return batch

    async def _publish(self, batch: list[dict[str, Any]]) -> None:
        pause = 0.25
        while True:
            slow = self._loop.call_later(STALL, self._set_stalled, True)
            try:
                await self._send(batch)
            except asyncio.CancelledError:
                raise
            except Exception:  # noqa: BLE001 - whatever it is, the lines are not stored
                self._set_stalled(True)
            else:
                self._sending = 0
                self._set_stalled(False)
                return
            finally:
                slow.cancel()
            await asyncio.sleep(pause)
            pause = min(2 * pause, 5.0)

    def _set_stalled(self, stalled: bool) -> None:
        with self._lock:
            self._stalled = stalled
            self._moved.notify_all()
        for waiting in self._flushing:
            if not waiting.done():
                waiting.set_result(None)
        self._flushing.clear()

    async def flush(self) -> None:
        """Wait until the lines so far are stored, for as long as the stream takes lines."""
        last = self._seq
        while self._is_waiting(last):
            moved = self._loop.create_future()
            self._flushing.add(moved)
            await moved
            if self._stalled:
                return

    def _is_waiting(self, last: int) -> bool:
        with self._lock:
            return not self._given_up and (self._sending > 0 or bool(self._lines) and self._lines[0]["seq"] <= last)

    async def close(self) -> int:
        """End the log, wait a while until its lines are stored, and return how many there were."""
        self.shut()
        await self.settle()
        return self.count

    def shut(self) -> int:
        """Take no more lines, and return how many there were."""
        with self._lock:
            if self._over:
                text = f"{self._over} lines were dropped here: the log was full"
                self._room.take(len(text.encode()) + COST, 0)
                self._append_locked("system", "warn", text, wire.instant(wire.now()))
            self._closed = True
            self._moved.notify_all()
        if self._lines:
            self._start()
        self._wake.set()
        return self.count

    def note(self) -> str:
        """What is wrong with the log, for the message of the run; "" if nothing is."""
        return f"the log is incomplete: NATS did not take {self.dropped} of {self.count} lines in time" if self.dropped else ""

    async def settle(self) -> None:
        """Wait a while until the lines are stored."""
        if self._task is not None:
            await asyncio.wait([self._task], timeout=LINGER)

    def abandon(self) -> None:
        """Give up lines that are not stored."""
        if self._task is not None:
            self._task.cancel()
        with self._lock:
            self.dropped += len(self._lines) + self._sending
            for line in self._lines:
                self._leave_locked(line)
            self._lines.clear()
            self._sending = 0
            self._given_up = True
        self._set_stalled(True)


def _unprinted(message: str, tail: str) -> str:
    """A message without its end, from its beginning or a colon or semicolon on, that ends a line of the tail."""
    parts = itertools.islice(re.finditer(r"^|[:;]\s*", message), PARTS)
    for start in (part.end() for part in parts):
        if _ends_line(message[start:], tail):
            return message[:start].rstrip(":; ")
    return message


def _ends_line(text: str, tail: str) -> bool:
    """Whether a line ends with a text, from the start of a word on. If the text was cut, it need not be the end."""
    printed = text.removesuffix(MARK)
    end = "" if text.endswith(MARK) else r"$"
    return printed != "" and re.search(r"(?<!\w)" + re.escape(printed) + end, tail, re.MULTILINE) is not None


def _pieces(line: str) -> list[str]:
    """A line in pieces that fit, of which all but the last end, and all but the first begin, with …"""
    most = wire.MAX_LOG_TEXT - 2 * len(MARK.encode())
    data = line.encode()
    if len(data) <= wire.MAX_LOG_TEXT:
        return [line]
    pieces = []
    while data:
        piece = data[:most].decode("utf-8", "ignore")
        pieces.append(piece)
        data = data[len(piece.encode()) :]
    last = len(pieces) - 1
    return [(MARK if i else "") + p + (MARK if i < last else "") for i, p in enumerate(pieces)]


_LEVELS = ((logging.ERROR, "error"), (logging.WARNING, "warn"), (logging.INFO, "info"))


def level_of(levelno: int) -> str:
    return next((name for no, name in _LEVELS if levelno >= no), "debug")


class LinesHandler(logging.Handler):
    """Makes lines of records. It has no lock: a thread that waits for room must not keep the event loop from logging."""

    def createLock(self) -> None:
        self.lock = None

    def handle(self, record: logging.LogRecord) -> bool:
        kept = self.filter(record)
        if kept:
            self.emit(kept if isinstance(kept, logging.LogRecord) else record)
        return bool(kept)


class CaptureHandler(LinesHandler):
    """Makes lines of a run's log of what any logger says while the run's handler is at work."""

    def emit(self, record: logging.LogRecord) -> None:
        from .run import current_run

        run = current_run()
        if run is not None and not record.name.startswith(("nats", "carillon.executor")):
            try:
                run._log.add("log", level_of(record.levelno), self.format(record))
            except Exception:  # noqa: BLE001 - a run must not fail for its log
                self.handleError(record)
