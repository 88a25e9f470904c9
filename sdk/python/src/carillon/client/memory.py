"""A server in memory, for tests of applications."""

from __future__ import annotations

import json
import threading
import time
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any
from urllib.parse import parse_qs, unquote

from .aio import AsyncClient
from .calls import ENDED
from .sync import Client
from .transport import Answer


@dataclass
class Wish:
    """A run that was asked for. ``at``, ``in_`` and ``expires`` are as they were sent, such as "3600s"."""

    run_id: str
    job: str
    params: Any = None
    labels: dict[str, str] | None = None
    at: str = ""
    in_: str = ""
    expires: str = ""
    key: str = ""


class Memory:
    """A server that keeps the runs that were asked for in ``wishes``, and ends them as the test wants.

    >>> memory = Memory()
    >>> memory.end("mail/welcome", "succeeded", {"sent": True})
    >>> memory.client().run("mail/welcome", {"user": 42}).wait().result
    {'sent': True}
    >>> memory.wishes[0].params
    {'user': 42}

    Without ``end``, runs succeed at once. Those with a time wait until they are cancelled. Keys are
    never forgotten.
    """

    def __init__(self) -> None:
        self.wishes: list[Wish] = []
        self._lock = threading.Lock()
        self._ends: dict[str, tuple[str, Any]] = {}  # by job
        self._states: dict[str, tuple[str, Any]] = {}  # by run

    def client(self) -> Client:
        """Return a client of the server."""
        client = Client("http://memory")
        client._transport = self._answer
        return client

    def async_client(self) -> AsyncClient:
        """Return a client of the server, for asyncio."""
        client = AsyncClient("http://memory")
        client._transport = self._answer
        return client

    def end(self, job: str, status: str, result: Any = None) -> None:
        """Set how the runs of a job end, from the next one on. With "running" they do not end."""
        with self._lock:
            self._ends[job] = (status, result)

    def _answer(self, method: str, path: str, body: bytes | None, timeout: float) -> Answer:
        path, _, query = path.partition("?")
        parts = [unquote(part) for part in path.split("/")[3:]]
        sent = json.loads(body) if body else {}
        with self._lock:
            if method == "POST" and len(parts) == 4 and parts[3] == "cancel":
                had = self._keyed(f"{parts[1]}/{parts[2]}", sent["key"])
                status, answer = self._cancel(had.run_id) if had else (404, {"code": "not_found", "detail": "no run has this key"})
            elif method == "POST" and len(parts) == 4:
                status, answer = self._run(f"{parts[1]}/{parts[2]}", sent)
            elif method == "POST" and len(parts) == 2:
                status, answer = 200, {"items": [self._entry(e["job"], e["run"]) for e in sent["runs"]]}
            elif method == "POST" and len(parts) == 3:
                status, answer = self._cancel(parts[1])
            elif len(parts) == 2:
                status, answer = self._state(parts[1])
            else:
                status, answer = 200, {"items": self._waiting(parse_qs(query)["job"][0])}
        kind = "application/json" if status < 300 else "application/problem+json"
        return Answer(status, {"content-type": kind}, json.dumps(answer).encode())

    def _entry(self, job: str, sent: dict[str, Any]) -> dict[str, Any]:
        status, answer = self._run(job, sent)
        return {"accepted": answer} if status < 300 else {"problem": {**answer, "status": status}}

    def _run(self, job: str, sent: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        key = sent.get("key", "")
        if had := self._keyed(job, key):
            status, _ = self._states[had.run_id]
            differ = ", ".join(name for name in ("params", "labels") if sent.get(name) != getattr(had, name))
            if not sent.get("reset"):
                if differ:
                    return _in_use(had, f"run {had.run_id} has this key, with other {differ}", differ)
                return 200, {"run_id": had.run_id, "job": job, "version": 1, "status": status, "existed": True}
            if status not in ENDED:
                return _in_use(had, f"run {had.run_id}, which has this key, has not ended", "")
        wish = Wish(sent["run_id"], job, sent.get("params"), sent.get("labels"), sent.get("at", ""), sent.get("in", ""), sent.get("expires", ""), key)
        self.wishes.append(wish)
        answer = {"run_id": wish.run_id, "job": job, "version": 1, "status": "pending"}
        self._states[wish.run_id] = self._ends.get(job, ("succeeded", None))
        if wish.at or wish.in_:
            self._states[wish.run_id] = ("queued", None)
            answer.update(status="queued", due=_due(wish))
        return 202, answer

    def _keyed(self, job: str, key: str) -> Wish | None:
        """Return the latest run with a key."""
        return next((w for w in reversed(self.wishes) if key and (w.job, w.key) == (job, key)), None)

    def _cancel(self, run: str) -> tuple[int, dict[str, Any]]:
        if run not in self._states:
            return _unknown(run)
        status, _ = self._states[run]
        if status in ENDED:
            return 409, {"code": "conflict", "detail": f"run {run} is {status}"}
        self._states[run] = ("cancelled", None)
        return 202, {"run_id": run, "found": status}

    def _state(self, run: str) -> tuple[int, dict[str, Any]]:
        for wish in self.wishes:
            if wish.run_id == run:
                status, result = self._states[run]
                attempt = {"run_id": run, "attempt": 1, "status": status, "result": result}
                return 200, {"run_id": run, "job": wish.job, "status": status, "attempts": [attempt]}
        return _unknown(run)

    def _waiting(self, job: str) -> list[dict[str, Any]]:
        return [
            {"run_id": wish.run_id, "job": job, "version": 1, "status": "queued", "fire_time": _due(wish)}
            for wish in self.wishes
            if wish.job == job and self._states[wish.run_id][0] == "queued"
        ]


def _unknown(run: str) -> tuple[int, dict[str, Any]]:
    return 404, {"code": "not_found", "detail": f"there is no run {run}"}


def _in_use(wish: Wish, detail: str, fields: str) -> tuple[int, dict[str, Any]]:
    return 409, {"code": "key_in_use", "detail": detail, "run_id": wish.run_id, "reason": {"text": detail, "params": {"fields": fields}}}


def _due(wish: Wish) -> str:
    if wish.at:
        return wish.at
    seconds = float(wish.in_[:-2]) / 1000 if wish.in_.endswith("ms") else float(wish.in_[:-1])
    due = datetime.fromtimestamp(time.time(), timezone.utc) + timedelta(seconds=seconds)
    return due.replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"
