"""What a client does, step by step, without doing it: a sync and an async client carry out the steps.

A call is a generator. It yields requests and pauses, gets the answers, and returns the result.
"""

from __future__ import annotations

import dataclasses
import json
import secrets
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any, TypeVar
from urllib.parse import quote, urlencode

from .errors import ClientError, InvalidParams, NotFound, TooMany, Unavailable, invalid, problem, problem_in
from .transport import MAX_ANSWER, Answer

REQUEST_TIMEOUT = 10.0
# A request is repeated for so long, after pauses that double.
AGAIN_FOR, AGAIN_FIRST, AGAIN_MOST = 30.0, 1.0, 8.0
# How often a run is looked up while somebody waits for its end, after pauses that double.
WAIT_FIRST, WAIT_MOST = 0.25, 5.0
NEW_FOR = 30.0  # how long the history may need to show a run

ENDED = frozenset({"succeeded", "failed", "timed_out", "cancelled", "lost", "skipped", "missed", "ended"})  # ended: only its key is known any more


@dataclass(frozen=True)
class Send:
    """A request to send."""

    method: str
    path: str
    body: bytes | None
    timeout: float


@dataclass(frozen=True)
class Pause:
    """So many seconds to wait."""

    seconds: float


@dataclass
class RunRequest:
    """A run to ask for: the arguments of ``Client.run``."""

    job: str
    params: Any = None
    at: datetime | None = None
    in_: timedelta | float | None = None
    expires: datetime | timedelta | float | None = None
    labels: dict[str, str] | None = None
    key: str | None = None
    reset: bool = False

    def body(self, now: float) -> dict[str, Any]:
        """Return the fields of a request, with a random run_id."""
        expires = self.expires
        fields = {
            "params": self.params,
            "at": None if self.at is None else instant(self.at),
            "in": None if self.in_ is None else duration(self.in_),
            "expires": None if expires is None else instant(expires) if isinstance(expires, datetime) else duration(expires),
            "labels": self.labels,
            "key": self.key,
            "reset": self.reset or None,
            "run_id": new_run_id(now),
        }
        return {name: value for name, value in fields.items() if value is not None}


T = TypeVar("T")
Call = Generator["Send | Pause", Any, T]


@dataclass
class State:
    """What a run is like: its status, why it failed, waits or did not run, and its result."""

    id: str
    job: str
    status: str
    reason: str = ""
    result: Any = None

    @property
    def ended(self) -> bool:
        """Whether the run has ended."""
        return self.status in ENDED


@dataclass
class Clock:
    """The time, which tests replace."""

    wall: Callable[[], float]  # seconds since 1970
    elapsed: Callable[[], float]  # seconds


@dataclass
class Calls:
    """The calls to a server."""

    server: str
    clock: Clock

    def run(self, request: RunRequest) -> Call[dict[str, Any]]:
        path = path_of(request.job) + "/run"
        body = request.body(self.clock.wall())
        try:
            answer = yield from self._ask("POST", path, body)
        except InvalidParams as error:
            if error.field != "run_id" or not error._date:
                raise
            body["run_id"] = new_run_id(error._date)  # the clock of this machine is wrong
            answer = yield from self._ask("POST", path, body)
        return run_of(answer)

    def run_many(self, requests: Iterable[RunRequest]) -> Call[list[dict[str, Any] | ClientError]]:
        asked = list(requests)
        results: dict[int, dict[str, Any] | ClientError] = {}
        entries: dict[int, dict[str, Any]] = {}
        for i, request in enumerate(asked):
            try:
                path_of(request.job)
                entries[i] = {"job": request.job, "run": request.body(self.clock.wall())}
            except InvalidParams as error:
                results[i] = error
        results.update((yield from self._accept_many(entries)))
        begun, pause = self.clock.elapsed(), AGAIN_FIRST
        while again := {i: entries[i] for i, result in results.items() if isinstance(result, Unavailable)}:
            if self.clock.elapsed() - begun + pause > AGAIN_FOR:
                break
            yield Pause(pause)
            pause = min(2 * pause, AGAIN_MOST)
            try:
                results.update((yield from self._accept_many(again)))
            except ClientError:
                break
        for i, result in results.items():
            if isinstance(result, InvalidParams) and result.status and result.field == "run_id":
                try:
                    results[i] = yield from self.run(asked[i])  # with the time of the server
                except ClientError as error:
                    results[i] = error
        return [results[i] for i in range(len(asked))]

    def _accept_many(self, entries: dict[int, dict[str, Any]]) -> Call[dict[int, dict[str, Any] | ClientError]]:
        """Ask for the runs of entries, and return what became of each."""
        if not entries:
            return {}
        answer = yield from self._ask("POST", "/api/v1/runs/batch", {"runs": list(entries.values())})
        items = answer.get("items") or []
        if len(items) != len(entries):
            raise ClientError(f"{self.server} did not answer for each run")
        return {
            i: run_of(item["accepted"]) if "accepted" in item else problem_in(self.server, item.get("problem") or {})
            for i, item in zip(entries, items, strict=True)
        }

    def cancel(self, run: str, job: str, reason: str) -> Call[None]:
        body = {name: value for name, value in (("job", job), ("reason", reason)) if value}
        yield from self._ask("POST", f"/api/v1/runs/{quote(run, '')}/cancel", body, cancel=True)

    def cancel_key(self, job: str, key: str, reason: str) -> Call[None]:
        body = {"key": key, **({"reason": reason} if reason else {})}
        yield from self._ask("POST", path_of(job) + "/cancel", body, cancel=True)

    def status(self, run: str) -> Call[State]:
        return state_of((yield from self._ask("GET", "/api/v1/runs/" + quote(run, ""))))

    def wait(self, run: str, timeout: float | None) -> Call[State]:
        begun, pause = self.clock.elapsed(), WAIT_FIRST
        while True:
            spent = self.clock.elapsed() - begun
            left = REQUEST_TIMEOUT if timeout is None else timeout - spent
            wait = pause
            try:
                state = state_of((yield from self._send("GET", "/api/v1/runs/" + quote(run, ""), timeout=max(min(left, REQUEST_TIMEOUT), 0.1))))
                if state.ended:
                    return state
            except ClientError as error:
                again = repeat_after(error, pause)
                if again is None and not (isinstance(error, NotFound) and spent < NEW_FOR):
                    raise
                wait = again or pause
            if timeout is not None:
                left = timeout - (self.clock.elapsed() - begun)
                if left <= 0:
                    raise TimeoutError(f"run {run} has not ended after {timeout:g} s")
                wait = min(wait, left)
            yield Pause(wait)
            pause = min(2 * pause, WAIT_MOST)

    def waiting(self, job: str, cursor: str) -> Call[tuple[list[dict[str, Any]], str]]:
        """Return a page of runs, and where the next one begins."""
        path_of(job)
        query = {"waiting": "true", "job": job}
        if cursor:
            query["cursor"] = cursor
        page = yield from self._ask("GET", "/api/v1/runs?" + urlencode(query, quote_via=quote))
        return [run_of({**item, "due": item.get("fire_time")}) for item in page.get("items") or []], page.get("next") or ""

    def _ask(self, method: str, path: str, body: Any = None, *, cancel: bool = False) -> Call[dict[str, Any]]:
        """Send a request, and repeat it while that may help: it must do no harm when it is done twice."""
        begun, pause = self.clock.elapsed(), AGAIN_FIRST
        while True:
            try:
                return (yield from self._send(method, path, body, cancel=cancel))
            except ClientError as error:
                wait = repeat_after(error, pause)
                if wait is None or self.clock.elapsed() - begun + wait > AGAIN_FOR:
                    raise
            yield Pause(wait)
            pause = min(2 * pause, AGAIN_MOST)

    def _send(self, method: str, path: str, body: Any = None, *, cancel: bool = False, timeout: float = REQUEST_TIMEOUT) -> Call[dict[str, Any]]:
        """Send a request once."""
        text = None if body is None else json.dumps(body, default=_plain, allow_nan=False).encode()
        answer: Answer | str = yield Send(method, path, text, timeout)
        if isinstance(answer, str):
            raise Unavailable(f"no answer from {self.server}: {answer}")
        if answer.status >= 300:
            raise problem(self.server, answer, cancel=cancel)
        error = ClientError(f"{self.server} did not answer in JSON: is a Carillon server listening there?")
        if len(answer.body) > MAX_ANSWER:
            error = ClientError(f"the answer of {self.server} is longer than {MAX_ANSWER} bytes")
        try:
            decoded = json.loads(answer.body) if len(answer.body) <= MAX_ANSWER else None
        except ValueError:
            decoded = None
        if not isinstance(decoded, dict):
            error.status = answer.status
            raise error
        return decoded


def repeat_after(error: ClientError, pause: float) -> float | None:
    """Return the seconds after which to repeat a request, at least pause, or None if that does not help."""
    if isinstance(error, Unavailable) or (isinstance(error, TooMany) and error.after > 0):
        return max(pause, error.after)
    return None


def path_of(job: str) -> str:
    """Return where the API has a job."""
    group, _, name = job.partition("/")
    if not group or not name or "/" in name:
        raise invalid("job", "must be group/name, such as mail/welcome")
    return f"/api/v1/jobs/{quote(group, '')}/{quote(name, '')}"


def new_run_id(at: float) -> str:
    """Return a random UUIDv7 of an instant."""
    value = (round(at * 1000) << 80) | secrets.randbits(80)
    value = value & ~(0xF << 76) | 0x7 << 76
    text = f"{value & ~(0x3 << 62) | 0x2 << 62:032x}"
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))


def instant(t: datetime) -> str:
    """Write an instant with milliseconds."""
    if t.tzinfo is None:
        raise ValueError(f"{t} has no time zone: use datetime.now(timezone.utc), or .astimezone()")
    return t.astimezone(timezone.utc).replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"


def duration(d: timedelta | float) -> str:
    """Write a duration, a timedelta or seconds, in seconds or in milliseconds."""
    ms = round((d.total_seconds() if isinstance(d, timedelta) else d) * 1000)
    return f"{ms}ms" if ms % 1000 else f"{ms // 1000}s"


def run_of(answer: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a Run."""
    due = answer.get("due")
    return {
        "id": answer["run_id"],
        "job": answer["job"],
        "version": answer["version"],
        "status": answer["status"],
        "due": _parsed(due) if due else None,
        "existed": bool(answer.get("existed")),
        "reason": (answer.get("reason") or {}).get("text", ""),
    }


def state_of(answer: dict[str, Any]) -> State:
    newest = (answer.get("attempts") or [{}])[0]
    reason = (newest.get("message") or {}).get("text") or (newest.get("reason") or {}).get("text", "")
    return State(answer["run_id"], answer["job"], answer["status"], reason, newest.get("result"))


def _parsed(text: str) -> datetime:
    """Read an instant of the API, which is in UTC. Python 3.10 reads six digits of a second only."""
    whole, _, fraction = text.rstrip("Z").partition(".")
    return datetime.fromisoformat(whole).replace(microsecond=int(fraction[:6].ljust(6, "0")), tzinfo=timezone.utc)


def _plain(value: Any) -> Any:
    """Return what JSON can express of a parameter."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    if isinstance(value, datetime):
        return value.isoformat()
    if hasattr(value, "model_dump"):  # pydantic
        return value.model_dump(mode="json")
    raise TypeError(f"params: {type(value).__name__} has no form in JSON")
