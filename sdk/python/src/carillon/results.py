"""Results of handlers: awaited, checked for work that is not done, and made JSON."""

from __future__ import annotations

import asyncio
import concurrent.futures
import dataclasses
import datetime
import enum
import inspect
import io
import json
import types
from collections.abc import AsyncIterable, Callable, Iterator, Mapping
from typing import Any

from . import wire
from .errors import Failure


class Unfinished(Failure):
    """A handler returned something whose code has not run, or not to its end."""

    def __init__(self, place: str, what: str) -> None:
        super().__init__(f"the handler returned unfinished work: {place} is {what}; finish it in the handler, and return its value")


def is_awaitable(value: Any) -> bool:
    return inspect.isawaitable(value) or isinstance(value, concurrent.futures.Future)


async def awaited(value: Any) -> Any:
    """What a handler returned, awaited for as long as it can be."""
    while is_awaitable(value):
        value = await (asyncio.wrap_future(value) if isinstance(value, concurrent.futures.Future) else value)
    return value


def refuse_unfinished(value: Any) -> None:
    """Raise Unfinished if a coroutine, future, generator or stream is the result, or inside of it."""
    found: Unfinished | None = None
    seen: set[int] = set()
    rest = [(value, "the result")]
    while rest:
        part, place = rest.pop()
        what = _unfinished(part)
        if what:
            found = Unfinished(place, what)
            dismiss(part)
        elif id(part) not in seen:
            seen.add(id(part))
            rest.extend(_parts(part, "result" if part is value else place))
    if found is not None:
        raise found


def dismiss(value: Any) -> None:
    """Close a coroutine that nobody will await, for Python warns of it else."""
    if inspect.iscoroutine(value):
        value.close()


_WORDS: tuple[tuple[Any, str], ...] = (
    (asyncio.Future, "a future"), (concurrent.futures.Future, "a future"), (types.CoroutineType, "a coroutine"), (types.GeneratorType, "a generator"),
    (types.AsyncGeneratorType, "an async generator"), (io.IOBase, "a stream"),
)


def _unfinished(value: Any) -> str:
    """What is not done yet of a value, in words; "" of one that is what it is."""
    if isinstance(value, (str, int, float, dict, list, tuple, type(None))):
        return ""
    for kind, word in _WORDS:
        if isinstance(value, kind):
            return word
    if inspect.isawaitable(value):
        return f"an awaitable ({type(value).__name__})"
    if isinstance(value, (Iterator, AsyncIterable)):
        return f"an iterator ({type(value).__name__})"
    return ""


def _parts(value: Any, place: str) -> list[tuple[Any, str]]:
    """What a value consists of, with the place of each part."""
    if isinstance(value, Mapping):
        return [(v, f"{place}.{k}") for k, v in value.items()]
    if isinstance(value, (list, tuple, set, frozenset)):
        return [(v, f"{place}[{i}]") for i, v in enumerate(value)]
    if callable(getattr(value, "model_dump", None)) or (dataclasses.is_dataclass(value) and not isinstance(value, type)):
        return [(v, f"{place}.{k}") for k, v in vars(value).items()] if hasattr(value, "__dict__") else [
            (getattr(value, f.name), f"{place}.{f.name}") for f in dataclasses.fields(value) if hasattr(value, f.name)]
    return []


def _plain(value: Any) -> Any:
    """What JSON has for what parameters can be made into: values of enums, dates."""
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")


def _fault(value: Any) -> str:
    """The place of what JSON cannot hold, as far as it is not too deep."""
    place, within = "result", {id(value)}
    while len(within) < 20:
        faulty = next(((part, at) for part, at in _parts(value, place) if not _has_json(part)), None)
        if faulty is None or id(faulty[0]) in within:  # it is this one, or refers back to what it is in
            return faulty[1] if faulty else place
        value, place = faulty
        within.add(id(value))
    return "result"


def _has_json(value: Any) -> bool:
    try:
        wire.dumps(value, _plain)
    except Exception:  # noqa: BLE001 - as in encode_result
        return False
    return True


def encode_result(value: Any, mask: Callable[[str], str]) -> tuple[Any, str]:
    """A handler's result as JSON has it, masked, and a note about what is wrong with it."""
    if value is None:
        return None, ""
    try:
        dump = getattr(value, "model_dump", None)  # pydantic
        if callable(dump):
            value = dump(mode="json")
        elif hasattr(value, "__dataclass_fields__"):
            value = dataclasses.asdict(value)
        data = wire.dumps(value, _plain)
    except Exception as e:  # noqa: BLE001 - the work is done, whatever a model says
        return None, f"the result was left out: {_fault(value)}: {e}"
    if len(data) > wire.MAX_RESULT:  # masked before it is cut, or a part of a secret could stay
        start = wire.cut(mask(data.decode()), 8 << 10)
        note = f"the result has {len(data)} bytes, more than {wire.MAX_RESULT}: only its beginning is kept; store it elsewhere, and return where it is"
        return {"cut": True, "bytes": len(data), "start": start}, note
    return json.loads(data), ""
