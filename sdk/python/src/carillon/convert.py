"""Parameters of a type: what an annotation accepts as JSON schema, and how a value of it is made of JSON."""

from __future__ import annotations

import collections.abc
import dataclasses
import datetime
import enum
import re
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any

Make = Callable[[Any, str], Any]  # of JSON, at a place in the parameters


class Unsuitable(Exception):
    """A type that no JSON can be made of. The message names the field."""


@dataclasses.dataclass
class Shape:
    """What a type accepts, and how its values are made. `empty` says that it can be made of no parameters at all."""

    schema: dict[str, Any]
    make: Make
    empty: bool = False


def shape_of(t: Any, names: Mapping[str, Any], where: str) -> Shape:
    """The shape of an annotation. `names` are those that its parts may use beside the globals of their modules."""
    return _Compiler(names).shape(t, where)


def _fail(place: str, what: str) -> typing.NoReturn:
    raise ValueError(f"{place}: {what}" if place else what)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:59] + "…"


def _simple(word: str, fits: Callable[[Any], bool], name: str, make: Callable[[Any], Any] | None = None, **more: Any) -> Shape:
    def convert(value: Any, place: str) -> Any:
        if not fits(value):
            _fail(place, f"must be {name}, and is {_shown(value)}")
        try:
            return value if make is None else make(value)
        except (ValueError, OverflowError):
            _fail(place, f"must be {name}, and is {_shown(value)}")

    return Shape({"type": word} | more, convert)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _instant(text: str) -> datetime.datetime:
    return datetime.datetime.fromisoformat(text[:-1] + "+00:00" if text.endswith(("Z", "z")) else text)


_SIMPLE: dict[Any, Callable[[], Shape]] = {
    str: lambda: _simple("string", _is_text, "a text"),
    bool: lambda: _simple("boolean", lambda v: isinstance(v, bool), "true or false"),
    int: lambda: _simple("integer", lambda v: _is_number(v) and v == int(v), "a whole number", int),
    float: lambda: _simple("number", _is_number, "a number", float),
    datetime.date: lambda: _simple("string", _is_text, "a date such as 2026-01-05", datetime.date.fromisoformat, format="date"),
    datetime.datetime: lambda: _simple("string", _is_text, "an instant such as 2026-01-05T02:00:00Z", _instant, format="date-time"),
    type(None): lambda: _simple("null", lambda v: v is None, "null"),
}
_LISTS = {list: list, set: set, frozenset: frozenset, collections.abc.Sequence: list, collections.abc.Iterable: list}
_OBJECTS = (dict, collections.abc.Mapping, collections.abc.MutableMapping)


class _Compiler:
    def __init__(self, names: Mapping[str, Any]) -> None:
        self._names = names
        self._known: dict[Any, Shape] = {}  # of types that have fields, which may contain themselves

    def shape(self, t: Any, where: str) -> Shape:
        if t is Any or t is object:
            return Shape({}, lambda value, _: value)
        if isinstance(t, typing.NewType):
            return self.shape(t.__supertype__, where)
        origin, arguments = typing.get_origin(t), typing.get_args(t)
        if origin is typing.Annotated:
            return _bounded(self.shape(arguments[0], where), _bounds(arguments[1:]))
        if t in _SIMPLE:
            return _SIMPLE[t]()
        if origin is typing.Literal:
            return _choice({a: a for a in arguments})
        if origin in (typing.Union, types.UnionType):
            return self._union([self.shape(a, where) for a in arguments])
        if (origin or t) in _LISTS:
            return self._list(_LISTS[origin or t], self.shape(arguments[0] if arguments else Any, f"{where}[]"))
        if (origin or t) in _OBJECTS:
            if arguments and arguments[0] is not str:
                raise Unsuitable(f"{where}: keys of a JSON object are texts, and not {arguments[0]!r}")
            return self._dict(self.shape(arguments[1] if arguments else Any, f"{where}.*"))
        if isinstance(t, type) and issubclass(t, enum.Enum):
            return _choice({member.value: member for member in t})
        if callable(getattr(t, "model_validate", None)):  # pydantic
            return Shape(t.model_json_schema(), lambda value, _: t.model_validate(value), empty=True)
        if typing.is_typeddict(t) or (dataclasses.is_dataclass(t) and isinstance(t, type)):
            return self._fields(t, where)
        raise Unsuitable(f"{where}: no value of type {getattr(t, '__name__', t)} can be made of JSON; use a dataclass, TypedDict, Enum, Literal, date, datetime, "
                         "list, dict, str, int, float, bool, Optional, or a model of pydantic")

    @staticmethod
    def _union(options: list[Shape]) -> Shape:
        def convert(value: Any, place: str) -> Any:
            errors = []
            for option in options:
                try:
                    return option.make(value, place)
                except ValueError as e:
                    errors.append(str(e))
            raise ValueError(errors[0] if value is not None and len(options) == 2 else "; or ".join(errors))

        kinds = [o.schema.get("type") for o in options]
        if all(isinstance(k, str) and len(o.schema) == 1 for k, o in zip(kinds, options)):
            return Shape({"type": kinds}, convert)
        return Shape({"anyOf": [o.schema for o in options]}, convert)

    @staticmethod
    def _list(kind: Any, of: Shape) -> Shape:
        def convert(value: Any, place: str) -> Any:
            if not isinstance(value, list):
                _fail(place, f"must be a list, and is {_shown(value)}")
            return kind(of.make(v, f"{place}[{i}]") for i, v in enumerate(value))

        return Shape({"type": "array"} | ({"items": of.schema} if of.schema else {}), convert)

    @staticmethod
    def _dict(of: Shape) -> Shape:
        def convert(value: Any, place: str) -> Any:
            if not isinstance(value, dict):
                _fail(place, f"must be an object, and is {_shown(value)}")
            return {k: of.make(v, f"{place}.{k}" if place else k) for k, v in value.items()}

        return Shape({"type": "object"} | ({"additionalProperties": of.schema} if of.schema else {}), convert, empty=True)

    def _fields(self, t: Any, where: str) -> Shape:
        if t in self._known:
            known = self._known[t]
            return Shape({"type": "object"}, lambda value, place: known.make(value, place))
        fields: dict[str, Shape] = {}
        shape = self._known[t] = Shape({"type": "object"}, lambda _, __: None, empty=True)
        hints = resolved(t, self._names, f"{where}: {t.__name__}")
        if dataclasses.is_dataclass(t):
            used = [f for f in dataclasses.fields(t) if f.init]
            required = [f.name for f in used if f.default is f.default_factory is dataclasses.MISSING]
            for f in used:
                fields[f.name] = _bounded(self.shape(hints[f.name], f"{where}.{f.name}"), {k: v for k, v in f.metadata.items() if k in _KEYWORDS})
        else:
            required = sorted(t.__required_keys__)
            for name, hint in hints.items():
                inner = typing.get_args(hint)[0] if getattr(typing.get_origin(hint), "_name", "") in ("Required", "NotRequired") else hint
                fields[name] = self.shape(inner, f"{where}.{name}")

        def convert(value: Any, place: str) -> Any:
            if not isinstance(value, dict):
                _fail(place, f"must be an object, and is {_shown(value)}")
            for name in value:
                if name not in fields:
                    _fail(place, f"there is no field {name!r}; there are: {', '.join(fields) or 'none'}")
            for name in required:
                if name not in value:
                    _fail(f"{place}.{name}" if place else name, "is missing")
            return t(**{k: fields[k].make(v, f"{place}.{k}" if place else k) for k, v in value.items()})

        shape.schema = {"type": "object", "properties": {n: s.schema for n, s in fields.items()}, "additionalProperties": False}
        shape.schema |= {"required": required} if required else {}
        shape.make = convert
        return shape


def resolved(t: Any, names: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The annotations of a class, with the names in them looked up."""
    try:
        return typing.get_type_hints(t, localns=dict(names), include_extras=True)
    except Exception as e:  # noqa: BLE001 - an annotation may be any expression
        raise Unsuitable(f"{where}: an annotation cannot be resolved: {e}; import what it names outside of TYPE_CHECKING, and define it before the handler") from None


def _choice(values: dict[Any, Any]) -> Shape:
    def convert(value: Any, place: str) -> Any:
        for raw, made in values.items():
            if raw == value and isinstance(raw, bool) == isinstance(value, bool):
                return made
        _fail(place, f"must be one of {', '.join(map(repr, values))}, and is {_shown(value)}")

    return Shape({"enum": list(values)}, convert)


_KEYWORDS: dict[str, Callable[[Any, Any], bool]] = {
    "minimum": lambda v, most: v >= most, "maximum": lambda v, most: v <= most,
    "exclusiveMinimum": lambda v, most: v > most, "exclusiveMaximum": lambda v, most: v < most,
    "minLength": lambda v, most: len(v) >= most, "maxLength": lambda v, most: len(v) <= most,
    "minItems": lambda v, most: len(v) >= most, "maxItems": lambda v, most: len(v) <= most,
    "pattern": lambda v, pattern: re.search(pattern, v) is not None,
}
_MARKS = {"ge": "minimum", "le": "maximum", "gt": "exclusiveMinimum", "lt": "exclusiveMaximum", "min_length": "minLength", "max_length": "maxLength",
          "pattern": "pattern"}


def _bounds(marks: tuple[Any, ...]) -> dict[str, Any]:
    """The keywords of JSON Schema for what stands in an Annotated: dicts of them, or marks as those of annotated_types."""
    found: dict[str, Any] = {}
    for mark in marks:
        if isinstance(mark, dict):
            found |= {k: v for k, v in mark.items() if k in _KEYWORDS}
        else:
            found |= {word: getattr(mark, name) for name, word in _MARKS.items() if getattr(mark, name, None) is not None}
    return found


def _bounded(shape: Shape, bounds: dict[str, Any]) -> Shape:
    if not bounds:
        return shape
    if shape.schema.get("type") == "array":
        bounds = {{"minLength": "minItems", "maxLength": "maxItems"}.get(k, k): v for k, v in bounds.items()}

    def convert(value: Any, place: str) -> Any:
        made = shape.make(value, place)
        for word, bound in bounds.items():
            if made is not None and not _KEYWORDS[word](made, bound):
                _fail(place, f"must have {word} {bound}, and is {_shown(value)}")
        return made

    return Shape(shape.schema | bounds, convert, shape.empty)
