"""What goes wrong when an application runs jobs."""

from __future__ import annotations

import json
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Any

from .transport import Answer


class ClientError(Exception):
    """What a server answered instead of a result. The subclasses are the kinds.

    ``status`` is that of HTTP (0 without an answer), ``code`` that of the API, ``field`` the first
    invalid field, ``after`` the seconds after which to ask again (0 if unknown), and ``request_id``
    the id under which the server's log has details.
    """

    status = 0
    code = ""
    field = ""
    after = 0.0
    request_id = ""
    _date = 0.0  # of the answer, in seconds; 0 if unknown


class InvalidParams(ClientError):
    """The request is not valid. ``field`` names what is wrong."""


class Forbidden(ClientError):
    """The token is missing, unknown, or may not do this."""


class NotFound(ClientError):
    """The job or the run does not exist, or the token may not see it."""


class KeyInUse(ClientError):
    """A run of the job has the key: ``run`` is its id.

    It was given something else, then ``fields`` are those that differ, such as "params". Or ``reset``
    was wanted, and the run has not ended, or another user started it.
    """

    run = ""
    fields: tuple[str, ...] = ()


class Ended(ClientError):
    """The run cannot be cancelled because it has ended."""


class TooMany(ClientError):
    """A limit is reached. ``after`` is how long to wait, if the server knows."""


class Unavailable(ClientError):
    """No server answered, or a part of the system is away. It is unknown whether there is a run."""


_KINDS: dict[int, type[ClientError]] = {
    400: InvalidParams,
    401: Forbidden,
    403: Forbidden,
    404: NotFound,
    429: TooMany,
    502: Unavailable,
    503: Unavailable,
    504: Unavailable,
}


def invalid(field: str, message: str) -> InvalidParams:
    """Return the error of an argument, before anything is sent."""
    error = InvalidParams(f"{field}: {message}")
    error.code, error.field = "invalid", field
    return error


def problem(server: str, answer: Answer, *, cancel: bool = False) -> ClientError:
    """Return the error in an answer."""
    kind = _KINDS.get(answer.status, ClientError)
    body: Any = None
    if answer.headers.get("content-type", "").partition(";")[0].strip() == "application/problem+json":
        try:
            body = json.loads(answer.body)
        except ValueError:
            pass
    if isinstance(body, dict) and body.get("code"):
        if cancel and answer.status == 409:
            kind = Ended
        if body["code"] == "key_in_use":
            kind = KeyInUse
        error = kind(body.get("detail") or body.get("title") or "")
        if isinstance(error, KeyInUse):
            error.run = str(body.get("run_id", ""))
            fields_text = ((body.get("reason") or {}).get("params") or {}).get("fields")
            error.fields = tuple(fields_text.split(", ")) if fields_text else ()
        error.code, error.request_id = str(body["code"]), str(body.get("request_id", ""))
        fields = body.get("errors") or [{}]
        error.field = str(fields[0].get("field", ""))
    else:
        if kind not in (Unavailable, TooMany):
            kind = ClientError
        error = kind(f"{server} answered {_phrase(answer.status)}: is a Carillon server listening there?")
    error.status = answer.status
    after = answer.headers.get("retry-after", "")
    if after.isascii() and after.isdigit() and len(after) < 8:
        error.after = float(after)
    try:
        error._date = parsedate_to_datetime(answer.headers["date"]).timestamp()
    except (KeyError, ValueError):
        pass
    return error


def problem_in(server: str, body: dict[str, Any]) -> ClientError:
    """Return the error of one entry of a batch."""
    return problem(server, Answer(int(body.get("status", 0)), {"content-type": "application/problem+json"}, json.dumps(body).encode()))


def _phrase(status: int) -> str:
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)
