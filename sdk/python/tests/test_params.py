from __future__ import annotations

import enum
from dataclasses import dataclass, field
from datetime import date, datetime, timezone
from typing import TYPE_CHECKING, Annotated, Any, Literal, Optional, TypedDict

import pytest

from carillon import ConfigurationError, Executor, Run
from carillon.testing import run_handler

if TYPE_CHECKING:
    from decimal import Decimal


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Address(TypedDict):
    city: str


@dataclass
class Item:
    sku: str
    parts: list[Item] = field(default_factory=list)


@dataclass
class Order:
    items: list[Item]
    day: date
    at: datetime
    color: Color
    size: Literal["s", "l"]
    address: Address
    counts: dict[str, int]
    rate: float = 1.0
    note: Optional[str] = None
    first: Item | None = None
    rows: Annotated[int, {"minimum": 1}] = field(default=1, metadata={"maximum": 9})
    anything: Any = None


GOOD = {"items": [{"sku": "a", "parts": [{"sku": "b"}]}], "day": "2026-01-05", "at": "2026-01-05T02:00:00Z", "color": "red", "size": "s",
        "address": {"city": "Bern"}, "counts": {"a": 1}, "rate": 2, "first": {"sku": "c"}, "rows": 3}


def do(params):
    app, got = Executor(group="billing"), []

    @app.handler("order")
    def order(run: Run, p: Order):
        got.append(p)

    return run_handler(app, "order", params), got, app.handlers["order"].schema


def test_a_dataclass_is_made_with_all_that_is_in_it():
    end, got, _ = do(GOOD)
    assert end.status == "succeeded", end.message
    assert got == [Order([Item("a", [Item("b")])], date(2026, 1, 5), datetime(2026, 1, 5, 2, tzinfo=timezone.utc), Color.RED, "s", {"city": "Bern"}, {"a": 1}, 2.0,
                         None, Item("c"), 3)]
    assert type(got[0].rate) is float


@pytest.mark.parametrize(("wrong", "says"), [
    ({"items": "nope"}, "items: must be a list, and is 'nope'"),
    ({"items": [{}]}, "items[0].sku: is missing"),
    ({"items": [{"sku": "a", "parts": [{"sku": 7}]}]}, "items[0].parts[0].sku: must be a text, and is 7"),
    ({"day": "5 January"}, "day: must be a date such as 2026-01-05, and is '5 January'"),
    ({"at": 7}, "at: must be an instant"),
    ({"color": "green"}, "color: must be one of 'red', 'blue', and is 'green'"),
    ({"size": "m"}, "size: must be one of 's', 'l', and is 'm'"),
    ({"address": {}}, "address.city: is missing"),
    ({"counts": {"a": True}}, "counts.a: must be a whole number, and is True"),
    ({"note": 7}, "note: must be a text, and is 7"),
    ({"rows": 0}, "rows: must have minimum 1, and is 0"),
    ({"rows": 10}, "rows: must have maximum 9, and is 10"),
    ({"colour": "red"}, "there is no field 'colour'"),
])
def test_parameters_that_do_not_fit_fail_the_run_and_name_the_field(wrong, says):
    end, got, _ = do(GOOD | wrong)
    assert end.status == "failed" and got == []
    assert end.message.startswith(f"params of handler order: {says}"), end.message


def test_the_schema_says_what_is_checked():
    schema = do(GOOD)[2]
    assert schema["required"] == ["items", "day", "at", "color", "size", "address", "counts"] and schema["additionalProperties"] is False
    p = schema["properties"]
    assert p["items"]["items"]["required"] == ["sku"]
    assert p["day"] == {"type": "string", "format": "date"} and p["color"] == {"enum": ["red", "blue"]} and p["size"] == {"enum": ["s", "l"]}
    assert p["address"] == {"type": "object", "properties": {"city": {"type": "string"}}, "additionalProperties": False, "required": ["city"]}
    assert p["counts"] == {"type": "object", "additionalProperties": {"type": "integer"}}
    assert p["note"] == {"type": ["string", "null"]} and p["rows"] == {"type": "integer", "minimum": 1, "maximum": 9} and p["anything"] == {}


def test_a_class_of_a_function_is_found():
    app = Executor(group="billing")

    @dataclass
    class Local:
        a: int

    @app.handler("h")
    def h(run: Run, p: Local):
        return p.a + 1

    assert run_handler(app, "h", {"a": 1}).result == 2


def test_what_cannot_be_made_of_json_is_refused_with_its_field():
    app = Executor(group="billing")

    @dataclass
    class Odd:
        lock: complex

    with pytest.raises(ConfigurationError, match=r"params of handler odd.lock: no value of type complex"):
        @app.handler("odd")
        def odd(run: Run, p: Odd):
            pass

    with pytest.raises(ConfigurationError, match=r"handler later: the annotation of p cannot be resolved: name 'Decimal' is not defined"):
        @app.handler("later")
        def later(run: Run, p: Decimal):
            pass
    assert not app.handlers
