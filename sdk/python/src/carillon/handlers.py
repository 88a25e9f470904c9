"""Handlers: what they take, and how they are called."""

from __future__ import annotations

import asyncio
import contextvars
import dataclasses
import functools
import inspect
import typing
from collections.abc import Callable
from typing import Any

from . import wire
from .results import awaited, dismiss, is_awaitable, refuse_unfinished
from .run import Run, _current


@dataclasses.dataclass
class Handler:
    name: str
    function: Callable[..., Any]
    description: str = ""
    schema: dict[str, Any] | None = None
    result_schema: dict[str, Any] | None = None
    slots: int | None = None
    takes_params: bool = False
    params_type: Any = None
    is_async: bool = False

    def __post_init__(self) -> None:
        self.is_async = inspect.iscoroutinefunction(self.function) or inspect.iscoroutinefunction(getattr(self.function, "__call__", None))
        parameters = list(inspect.signature(self.function).parameters.values())
        try:
            hints = typing.get_type_hints(self.function)
        except (NameError, TypeError):  # of a name that only type checkers know, or of a callable object
            hints = {}
        self.takes_params = len(parameters) > 1
        if self.takes_params:
            self.params_type = hints.get(parameters[1].name)
        if self.schema is None:
            self.schema = _schema_of(self.params_type)
        if self.result_schema is None:
            self.result_schema = _schema_of(hints.get("return"))

    def arguments(self, run: Run) -> tuple[Any, ...]:
        """What the function is called with. Parameters that do not fit are a ValueError."""
        wire.check_finite(run.params, "params")
        if not self.takes_params:
            return (run,)
        raw, want = run.params, self.params_type
        validate = getattr(want, "model_validate", None)  # pydantic
        if callable(validate):
            return run, validate({} if raw is None else raw)
        if dataclasses.is_dataclass(want) and isinstance(want, type):
            if not isinstance(raw or {}, dict):
                raise ValueError(f"params of handler {self.name} must be an object")
            try:
                return run, want(**(raw or {}))
            except TypeError as e:
                raise ValueError(f"params of handler {self.name}: {e}") from None
        return run, raw

    async def call(self, run: Run) -> Any:
        """Call the function: an async one in this loop, any other in a thread. What it returns is awaited if it can be.

        It raises an Exception, or that the caller is cancelled, and nothing else.
        """
        token = _current.set(run)
        try:
            with _OnlyExceptions():
                arguments = self.arguments(run)
                if self.is_async:
                    run._called = run._awaits = True
                    result = await self.function(*arguments)
                else:
                    context = contextvars.copy_context()
                    loop = asyncio.get_running_loop()
                    result = await loop.run_in_executor(_threads(), functools.partial(context.run, _call, run, self.function, arguments))
                if is_awaitable(result):  # as of a plain decorator around an async function
                    _refuse_to_wait(run, result)
                    run._awaits = True
                    result = await awaited(result)
                refuse_unfinished(result)
                return result
        finally:
            _current.reset(token)


def _refuse_to_wait(run: Run, result: Any) -> None:
    """Raise if the run has to end, so that nothing more is begun."""
    try:
        run.check()
    except Exception:
        dismiss(result)
        raise


at_work: set[Run] = set()  # whose plain functions have not returned


def _call(run: Run, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    run.check()  # it may have had to wait for a thread
    run._called = True
    at_work.add(run)
    try:
        with _OnlyExceptions():
            return function(*arguments)
    finally:
        at_work.discard(run)


class _OnlyExceptions:
    """Makes an Exception of what would end the event loop, and of what no future takes."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, _: object, e: BaseException | None, __: object) -> None:
        if isinstance(e, (StopIteration, StopAsyncIteration)):
            raise RuntimeError(f"the handler raised {e!r}") from e
        if e is not None and not isinstance(e, (Exception, asyncio.CancelledError)):
            raise RuntimeError(f"the handler raised {e!r}, which ends its run, not the executor") from e


@functools.cache
def _threads() -> Any:
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(max_workers=1000, thread_name_prefix="carillon")


_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean", list: "array", dict: "object"}


def _schema_of(t: Any) -> dict[str, Any] | None:
    """A JSON schema of a pydantic model, or of a dataclass; None of anything else."""
    model = getattr(t, "model_json_schema", None)
    if callable(model):
        return typing.cast("dict[str, Any]", model())
    if not (dataclasses.is_dataclass(t) and isinstance(t, type)):
        return None
    hints = typing.get_type_hints(t)
    required = [f.name for f in dataclasses.fields(t) if f.default is f.default_factory is dataclasses.MISSING]
    properties = {f.name: {"type": _TYPES[hints[f.name]]} if hints[f.name] in _TYPES else {} for f in dataclasses.fields(t)}
    schema: dict[str, Any] = {"type": "object", "properties": properties, "additionalProperties": False}
    return schema | ({"required": required} if required else {})
