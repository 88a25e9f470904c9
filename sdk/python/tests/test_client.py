"""The client passes the cases of the clients in all languages."""

import asyncio
import doctest
import json
import pathlib
import re
import threading
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

import carillon.client.memory
from carillon.client import AsyncClient, Client, ClientError, Ended, InvalidParams, KeyInUse, Memory, NotFound, RunRequest
from carillon.client.calls import Clock

SHARED = json.loads((pathlib.Path(__file__).parents[3] / "client/testdata/cases.json").read_text("utf-8"))
NOW = datetime.fromisoformat(SHARED["now"].replace("Z", "+00:00")).timestamp()
UUID7 = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")


class Player:
    """A server that expects requests, and has an answer for each."""

    def __init__(self, exchanges: list[dict[str, Any]]) -> None:
        self.left, self.wrong, self.ids = list(exchanges), [], {}
        player = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                player.play(self)

            do_POST = do_GET

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,))
        self.thread.start()

    def close(self) -> None:
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()

    def play(self, request: BaseHTTPRequestHandler) -> None:
        if not self.left:
            self.wrong.append(f"{request.command} {request.path} came, and nothing more was expected")
            return
        exchange = self.left.pop(0)
        self.check(request, exchange["request"])
        answer = exchange["answer"]
        if answer.get("cut"):
            return
        text = json.dumps(answer["body"]) if "body" in answer else answer["text"]
        headers = {"Content-Type": "application/json", "Content-Length": str(len(text.encode())), **answer.get("headers", {})}
        request.send_response_only(answer["status"])
        for name, value in headers.items():
            request.send_header(name, value)
        request.end_headers()
        request.wfile.write(text.encode())

    def check(self, request: BaseHTTPRequestHandler, want: dict[str, Any]) -> None:
        url = urlsplit(request.path)
        text = request.rfile.read(int(request.headers.get("Content-Length", 0)))
        body = json.loads(text) if text else None
        expected = self.with_ids(want.get("body"), body)
        got = (request.command, url.path, dict(parse_qsl(url.query)), body, request.headers["Authorization"])
        wanted = (want["method"], want["path"], want.get("query", {}), expected, "Bearer " + SHARED["token"])
        if got != wanted or (text and request.headers["Content-Type"] != "application/json"):
            self.wrong.append(f"the request is {got}, not {wanted}")

    def with_ids(self, expected: Any, body: Any) -> Any:
        """Return a body with ids for its placeholders, and for those of the entries of a batch."""
        if isinstance(expected, dict) and "run_id" in expected:
            return {**expected, "run_id": self.id(expected["run_id"], body.get("run_id", ""))}
        if isinstance(expected, dict) and "runs" in expected and len(expected["runs"]) == len(body["runs"]):
            pairs = zip(expected["runs"], body["runs"], strict=True)
            return {"runs": [{**e, "run": self.with_ids(e["run"], b["run"])} for e, b in pairs]}
        return expected

    def id(self, placeholder: str, sent: str) -> str:
        """Return the id for which a placeholder stands: that of the first request that has it."""
        if placeholder not in self.ids:
            _, _, at = placeholder.partition(" at ")
            want = datetime.fromisoformat(at.replace("Z", "+00:00")).timestamp() if at else NOW
            if not UUID7.fullmatch(sent) or int(sent[:8] + sent[9:13], 16) != want * 1000:
                self.wrong.append(f"run_id {sent} is no UUIDv7 of {want}")
            self.ids[placeholder] = sent
        return self.ids[placeholder]


def options(call: dict[str, Any]) -> dict[str, Any]:
    options = {name: call[name] for name in ("params", "labels", "key", "reset") if name in call}
    if "in_ms" in call:
        options["in_"] = timedelta(milliseconds=call["in_ms"])
    if "expires_ms" in call:
        options["expires"] = call["expires_ms"] / 1000
    for name in ("at", "expires"):
        if name in call:
            options[name] = datetime.fromisoformat(call[name].replace("Z", "+00:00"))
    return options


def requests(call: dict[str, Any]) -> list[RunRequest]:
    return [RunRequest(c["job"], **options(c)) for c in call["runs"]]


def do(client: Client, call: dict[str, Any]) -> Any:
    match call["do"]:
        case "run":
            return client.run(call["job"], **options(call))
        case "run many":
            return client.run_many(requests(call))
        case "run and cancel":
            return client.run(call["job"]).cancel()
        case "status":
            return client.status(call["run"])
        case "wait":
            return client.wait(call["run"])
        case "cancel":
            return client.cancel(call["run"], call.get("reason", ""))
        case "cancel key":
            return client.cancel_key(call["job"], call["key"], call.get("reason", ""))
        case "waiting":
            return list(client.waiting(call["job"]))
    raise AssertionError(call)


async def do_async(client: AsyncClient, call: dict[str, Any]) -> Any:
    match call["do"]:
        case "run":
            return await client.run(call["job"], **options(call))
        case "run many":
            return await client.run_many(requests(call))
        case "run and cancel":
            return await (await client.run(call["job"])).cancel()
        case "status":
            return await client.status(call["run"])
        case "wait":
            return await client.wait(call["run"])
        case "cancel":
            return await client.cancel(call["run"], call.get("reason", ""))
        case "cancel key":
            return await client.cancel_key(call["job"], call["key"], call.get("reason", ""))
        case "waiting":
            return [run async for run in client.waiting(call["job"])]
    raise AssertionError(call)


def plain(value: Any) -> Any:
    """Return a result as the cases write it."""
    if value is None:
        return None
    if isinstance(value, list):
        return [plain(v) for v in value]
    if isinstance(value, ClientError):
        return {"error": type(value).__name__, "message": str(value)}
    fields = {("run_id" if name == "id" else name): v for name, v in vars(value).items() if v and name != "_client"}
    if "due" in fields:
        fields["due"] = fields["due"].isoformat().replace("+00:00", "Z").replace("500000", "5")
    return fields


@pytest.fixture(params=["sync", "async"])
def kind(request: pytest.FixtureRequest) -> Iterator[str]:
    yield request.param


@pytest.mark.parametrize("case", SHARED["cases"], ids=[c["name"] for c in SHARED["cases"]])
def test_the_client_passes_the_cases_of_all_languages(case: dict[str, Any], kind: str) -> None:
    player, pauses = Player(case["server"]), []
    try:
        client = (Client if kind == "sync" else AsyncClient)(player.address, SHARED["token"])
        client._calls.clock = Clock(lambda: NOW + sum(pauses), lambda: sum(pauses))
        error = result = None
        try:
            if isinstance(client, AsyncClient):
                client._pause = lambda seconds: asyncio.sleep(pauses.append(seconds) or 0)  # type: ignore[method-assign]
                result = asyncio.run(do_async(client, case["call"]))
            else:
                client._pause = pauses.append  # type: ignore[method-assign]
                result = do(client, case["call"])
        except ClientError as e:
            error = e
    finally:
        player.close()
    assert player.wrong == []
    assert player.left == []
    assert pauses == case.get("pauses", [])
    if want := case.get("error"):
        assert error is not None
        got = {**vars(error), "kind": type(error).__name__.replace("ClientError", "Error"), "message": str(error)}
        if "fields" in want:
            got["fields"] = list(error.fields)  # type: ignore[attr-defined]
        assert {name: got.get(name) for name in want} == want
        assert error.field == want.get("field", "") and error.after == want.get("after", 0)
    else:
        assert error is None
        assert plain(result) == case["result"]


def test_wait_ends_after_its_timeout() -> None:
    memory, pauses = Memory(), []
    memory.end("mail/welcome", "running")
    client = memory.client()
    client._calls.clock = Clock(lambda: NOW + sum(pauses), lambda: sum(pauses))
    client._pause = pauses.append  # type: ignore[method-assign]
    with pytest.raises(TimeoutError, match="has not ended after 60 s"):
        client.run("mail/welcome").wait(timeout=60)
    assert sum(pauses) == 60


def test_the_memory_keeps_what_was_asked_for() -> None:
    assert doctest.testmod(carillon.client.memory).failed == 0
    memory, at = Memory(), datetime(2027, 1, 6, 9, tzinfo=timezone.utc)
    run = memory.client().run("mail/welcome", at=at, expires=3600)
    assert (run.due, run.status) == (at, "queued")
    assert [r.id for r in memory.client().waiting("mail/welcome")] == [run.id]
    run.cancel("typo")
    assert run.wait(timeout=1).status == "cancelled"
    with pytest.raises(Ended):
        run.cancel()
    assert list(memory.client().waiting("mail/welcome")) == []
    assert (memory.wishes[0].at, memory.wishes[0].expires, memory.wishes[0].params) == ("2027-01-06T09:00:00.000Z", "3600s", None)

    async def soon() -> str:
        return (await (await memory.async_client().run("mail/other")).wait()).status

    assert asyncio.run(soon()) == "succeeded"


def test_the_memory_makes_one_run_for_a_key() -> None:
    memory = Memory()
    client = memory.client()
    first = client.run("mail/welcome", {"user": 1}, key="ada", in_=3600)
    again = client.run("mail/welcome", {"user": 1}, key="ada")
    assert (again.id, again.existed, again.status) == (first.id, True, "queued")
    with pytest.raises(KeyInUse) as used:
        client.run("mail/welcome", {"user": 2}, key="ada")
    assert (used.value.run, used.value.fields) == (first.id, ("params",))
    with pytest.raises(KeyInUse, match="has not ended"):
        client.run("mail/welcome", {"user": 1}, key="ada", reset=True)
    client.cancel_key("mail/welcome", "ada")
    with pytest.raises(NotFound):
        client.cancel_key("mail/welcome", "bob")
    assert client.run("mail/welcome", {"user": 2}, key="ada", reset=True).id != first.id
    bob = RunRequest("mail/welcome", key="bob")
    one, two, other = client.run_many([bob, bob, RunRequest("mail/welcome", 1, key="bob")])
    assert not isinstance(one, ClientError) and not isinstance(two, ClientError) and one.id == two.id
    assert isinstance(other, KeyInUse)
    assert [wish.key for wish in memory.wishes] == ["ada", "ada", "bob"]


def test_the_environment_names_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CARILLON_SERVER", "carillon.example.com:8822/")
    assert Client.from_environment().server == "http://carillon.example.com:8822"
    monkeypatch.delenv("CARILLON_SERVER")
    assert AsyncClient.from_environment().server == "http://127.0.0.1:8822"
    with pytest.raises(InvalidParams, match="server: "):
        Client("ftp://carillon.example.com")


def test_an_instant_needs_a_time_zone() -> None:
    with pytest.raises(ValueError, match="has no time zone"):
        Memory().client().run("mail/welcome", at=datetime(2027, 1, 6))


def test_an_answer_is_read_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    exchange = {"request": {"method": "GET", "path": "/api/v1/runs/x"}, "answer": {"status": 200, "text": "9" * 200_001}}
    player = Player([exchange])
    try:
        for module in ("transport", "calls"):
            monkeypatch.setattr(f"carillon.client.{module}.MAX_ANSWER", 100_000)
        with pytest.raises(ClientError, match="is longer than 100000 bytes"):
            Client(player.address, SHARED["token"]).status("x")
    finally:
        player.close()
