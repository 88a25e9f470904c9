"""The cases of parameters that all SDKs share."""

import dataclasses
import json
import pathlib
from typing import Annotated, Any, Literal, Optional

import pytest

from carillon import Executor, Run
from carillon.testing import run_handler

CASES = json.loads((pathlib.Path(__file__).parents[3] / "executor/schema/testdata/params.json").read_text("utf-8"))["cases"]


@dataclasses.dataclass
class Item:
    sku: str
    count: Optional[int] = None


@dataclasses.dataclass
class Order:
    customer: Annotated[str, {"minLength": 1, "maxLength": 8}]
    rows: Annotated[int, {"minimum": 1, "maximum": 9}]
    id: Optional[int] = None
    rate: Annotated[Optional[float], {"exclusiveMinimum": 0}] = None
    size: Optional[Literal["s", "l"]] = None
    items: Optional[list[Item]] = None


def without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: without_nulls(v) for k, v in value.items() if v is not None}
    return [without_nulls(v) for v in value] if isinstance(value, list) else value


@pytest.mark.parametrize("case", CASES, ids=[c["name"] for c in CASES])
def test_parameters_are_read_as_by_all_sdks(case: dict[str, str]) -> None:
    app, got = Executor(group="g"), []

    @app.handler("order")
    async def order(run: Run, order: Order) -> None:
        got.append(dataclasses.asdict(order))

    end = run_handler(app, "order", json.loads(case["params"] or "null"))
    if "value" in case:
        assert end.status == "succeeded", end.message
        assert without_nulls(got[0]) == json.loads(case["value"])
    else:
        assert end.status == "failed" and not got
        assert case["refused"] in end.message
