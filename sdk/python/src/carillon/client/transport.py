"""Sends requests, and reads answers of a bounded length."""

from __future__ import annotations

import http.client
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

MAX_ANSWER = 16 << 20  # bytes


@dataclass
class Answer:
    """An answer. The names of headers are in lower case."""

    status: int
    headers: dict[str, str]
    body: bytes


class Broken(Exception):
    """A request got no whole answer."""


# Sends a method, a path and a body, and waits for so many seconds.
Transport = Callable[[str, str, "bytes | None", float], Answer]


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Follows no redirect, so that the token goes to no other server."""

    def redirect_request(self, *_: Any) -> None:
        return None


def http_transport(server: str, token: str, context: ssl.SSLContext | None) -> Transport:
    """Return a transport to a server."""
    opener = urllib.request.build_opener(_NoRedirect, urllib.request.HTTPSHandler(context=context))

    def send(method: str, path: str, body: bytes | None, timeout: float) -> Answer:
        request = urllib.request.Request(server + path, data=body, method=method)
        if body is not None:
            request.add_header("Content-Type", "application/json")
        if token:
            request.add_unredirected_header("Authorization", "Bearer " + token)
        try:
            try:
                response = opener.open(request, timeout=timeout)
            except urllib.error.HTTPError as error:  # an answer all the same
                response = error
            with response:
                text = _read(response, time.monotonic() + timeout)
                headers = {name.lower(): value for name, value in response.headers.items()}
                return Answer(response.status, headers, text)
        except (OSError, http.client.HTTPException) as error:
            raise Broken(str(getattr(error, "reason", error)) or type(error).__name__) from error

    return send


def _read(response: Any, deadline: float) -> bytes:
    """Read an answer, at most one byte more than MAX_ANSWER. The timeout of a socket bounds each read only."""
    text = b""
    while len(text) <= MAX_ANSWER and (piece := response.read1(min(65536, MAX_ANSWER + 1 - len(text)))):
        text += piece
        if time.monotonic() > deadline:
            raise TimeoutError("the answer did not come in time")
    return text
