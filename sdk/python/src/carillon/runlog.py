"""The log of one run: numbered lines, in batches, one batch on its way at a time."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any

from . import wire

BATCH_LINES = 200
BATCH_BYTES = 64 << 10
DELAY = 0.1  # how old the first line of a batch may get
ROOM = 1 << 20  # bytes of lines that wait
COST = 128  # of a line, beside its text
STALL = 1.0  # how long the stream may take before lines are dropped
LINGER = 15.0  # how long the end of a run waits for its lines
MARK = "…"

Send = Callable[[list[dict[str, Any]]], Awaitable[None]]


class RunLog:
    """Lines of one attempt. `add` may be called from any thread."""

    def __init__(self, loop: asyncio.AbstractEventLoop, send: Send, delivered: int, max_lines: int = 1_000_000, max_bytes: int = 64 << 20) -> None:
        self._loop, self._send = loop, send
        self._lock = threading.Lock()
        self._lines: deque[dict[str, Any]] = deque()
        self._size = self._dropped = self.count = 0
        self.dropped = 0  # given up, in all
        self._sending = 0  # lines on their way
        self._base = self._seq = (delivered - 1) * 1_000_000_000
        self._room_lines, self._room_bytes, self._full, self._over = max_lines, max_bytes, False, 0
        self._stalled = self._closed = False
        self._wake = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self.mask: Callable[[str], str] = lambda text: text

    def add(self, output: str, level: str, text: str) -> None:
        """Log a text, a line for each of its lines. It never raises and never blocks."""
        at = wire.instant(wire.now())
        for line in self.mask(text).encode("utf-8", "replace").decode("utf-8").replace("\r\n", "\n").split("\n"):
            for piece in _pieces(line):
                self._append(output, level, piece, at)
        self._loop.call_soon_threadsafe(self._start)

    def system(self, level: str, text: str) -> None:
        """Log what the executor has to say about the run."""
        self.add("system", level, wire.cut(text))

    def _append(self, output: str, level: str, text: str, at: str) -> None:
        cost = len(text.encode()) + COST
        with self._lock:
            if self._closed:
                return
            if output != "system":
                if self._full or self._room_lines <= 0 or self._room_bytes < cost - COST:
                    self._over += 1
                    if self._full:
                        return
                    self._full = True
                    output, level, text = "system", "warn", "the log of this attempt is full: what follows is counted and dropped"
                else:
                    self._room_lines -= 1
                    self._room_bytes -= cost - COST
            while self._size + cost > ROOM and self._lines:
                self._size -= len(self._lines.popleft()["text"].encode()) + COST
                self._dropped += 1
                self.dropped += 1
            self._seq += 1
            self.count += 1
            self._lines.append({"seq": self._seq, "at": at, "level": level, "output": output, "text": text})
            self._size += cost

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
            if waiting < BATCH_LINES and not full and not closed:
                await asyncio.sleep(DELAY)
            await self._publish(self._batch())

    def _batch(self) -> list[dict[str, Any]]:
        batch: list[dict[str, Any]] = []
        size = 0
        with self._lock:
            if self._dropped:
                text = f"{self._dropped} lines were dropped here: the log stream did not take them in time"
                seq = self._lines[0]["seq"] - 1 if self._lines else self._seq
                batch.append({"seq": seq, "at": wire.instant(wire.now()), "level": "warn", "output": "system", "text": text})
                self._dropped = 0
            while self._lines and len(batch) < BATCH_LINES and (not size or size + len(self._lines[0]["text"].encode()) <= BATCH_BYTES):
                line = self._lines.popleft()
                n = len(line["text"].encode())
                size += n
                self._size -= n + COST
                batch.append(line)
                self._sending += 1
        return batch

    async def _publish(self, batch: list[dict[str, Any]]) -> None:
        pause = 0.25
        while True:
            try:
                await self._send(batch)
                self._sending = 0
                return
            except asyncio.CancelledError:
                raise
            except Exception:  # noqa: BLE001 - whatever it is, the lines are not stored
                await asyncio.sleep(pause)
                pause = min(2 * pause, 5.0)

    async def close(self) -> int:
        """End the log, wait a while until its lines are stored, and return how many there were."""
        self.shut()
        await self.settle()
        return self.count

    def shut(self) -> int:
        """Take no more lines, and return how many there were."""
        with self._lock:
            if self._over:
                self._seq += 1
                self.count += 1
                text = f"{self._over} lines were dropped here: the log was full"
                self._lines.append({"seq": self._seq, "at": wire.instant(wire.now()), "level": "warn", "output": "system", "text": text})
            self._closed = True
        if self._lines:
            self._start()
        self._wake.set()
        return self.count

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
            self._lines.clear()
            self._sending = 0


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


class CaptureHandler(logging.Handler):
    """Makes lines of a run's log of what any logger says while the run's handler is at work."""

    def emit(self, record: logging.LogRecord) -> None:
        from .run import current_run

        run = current_run()
        if run is not None and not record.name.startswith(("nats", "carillon.executor")):
            try:
                run._log.add("log", level_of(record.levelno), self.format(record))
            except Exception:  # noqa: BLE001 - a run must not fail for its log
                self.handleError(record)
