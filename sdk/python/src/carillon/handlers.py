"""Handlers: what they take, and how they are called."""

from __future__ import annotations

import asyncio
import contextvars
import dataclasses
import functools
import inspect
import types
import typing
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from . import wire
from .convert import Shape, Unsuitable, shape_of
from .errors import ConfigurationError, Failure
from .results import awaited, dismiss, is_awaitable, refuse_unfinished
from .run import Run, _current


Next = Callable[[], Awaitable[Any]]
Middleware = Callable[[Run, Next], Any]


@dataclasses.dataclass
class Handler:
    name: str
    function: Callable[..., Any]
    description: str = ""
    schema: dict[str, Any] | None = None
    result_schema: dict[str, Any] | None = None
    slots: int | None = None
    names: dict[str, Any] = dataclasses.field(default_factory=dict)  # those that annotations may use, beside globals
    takes_params: bool = False
    is_async: bool = False
    _shape: Shape | None = None

    def __post_init__(self) -> None:
        self.is_async = inspect.iscoroutinefunction(self.function) or inspect.iscoroutinefunction(getattr(self.function, "__call__", None))
        parameters = list(inspect.signature(self.function).parameters.values())
        self.takes_params = len(parameters) > 1
        if self.takes_params:
            self._shape = self._shape_of(parameters[1])
            if self.schema is None and self._shape is not None:
                self.schema = self._shape.schema
        if self.result_schema is None:
            self.result_schema = _schema_of(self._hint("return", None))

    def _shape_of(self, parameter: inspect.Parameter) -> Shape | None:
        """What the parameters are made into; None leaves them as JSON has them."""
        if parameter.annotation is inspect.Parameter.empty:
            return None
        try:
            shape = shape_of(self._hint(parameter.name, parameter.annotation), self.names, f"params of handler {self.name}")
        except Unsuitable as e:
            raise ConfigurationError(str(e)) from None
        return None if shape.schema in ({}, {"type": "object"}) else shape

    def _hint(self, name: str, otherwise: Any) -> Any:
        """The annotation of a parameter, or of the result; one that cannot be resolved is refused, but of the result."""
        function = inspect.unwrap(self.function)
        while isinstance(function, functools.partial):
            function = function.func
        if not hasattr(function, "__annotations__"):
            function = getattr(function, "__call__")
        hint = getattr(function, "__annotations__", {}).get(name, otherwise)
        if not isinstance(hint, (str, typing.ForwardRef)):
            return hint
        owner = getattr(function, "__func__", function)
        try:
            alone = types.SimpleNamespace(__annotations__={name: hint})
            return typing.get_type_hints(alone, getattr(owner, "__globals__", {}), dict(self.names), include_extras=True)[name]
        except Exception as e:  # noqa: BLE001 - an annotation may be any expression
            if name == "return":
                return None
            raise Unsuitable(f"handler {self.name}: the annotation of {name} cannot be resolved: {e}; "
                             "import what it names outside of TYPE_CHECKING, and define it before the handler") from None

    def arguments(self, run: Run) -> tuple[Any, ...]:
        """What the function is called with. Parameters that do not fit are a Failure, or an error of pydantic."""
        try:
            wire.check_finite(run.params, "params")
        except ValueError as e:
            raise Failure(str(e)) from None
        if not self.takes_params:
            return (run,)
        raw, shape = run.params, self._shape
        if shape is None or (raw is None and not shape.empty):
            return run, raw
        try:
            return run, shape.make({} if raw is None else raw, "")
        except ValueError as e:
            if type(e) is not ValueError:  # pydantic's says more
                raise
            raise Failure(f"params of handler {self.name}: {e}") from None

    async def call(self, run: Run, around: Sequence[Middleware] = ()) -> Any:
        """Call the function within what is around it: an async one in this loop, any other in a thread. What it returns is awaited if it can be.

        It raises an Exception, or that the caller is cancelled, and nothing else.
        """
        token = _current.set(run)
        try:
            with _OnlyExceptions():
                step: Next = functools.partial(self._call, run)
                for layer in reversed(around):
                    step = functools.partial(_within, layer, run, step)
                result = await step()
                refuse_unfinished(result)
                return result
        finally:
            _current.reset(token)

    async def _call(self, run: Run) -> Any:
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
        return result


async def _within(layer: Middleware, run: Run, step: Next) -> Any:
    return await awaited(layer(run, step))


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
            raise Failure(f"the handler raised {e!r}") from e
        if e is not None and not isinstance(e, (Exception, asyncio.CancelledError)):
            raise Failure(f"the handler raised {e!r}, which ends its run, not the executor") from e


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
    try:
        hints = typing.get_type_hints(t)
    except Exception:  # noqa: BLE001 - an annotation may be any expression
        return None
    required = [f.name for f in dataclasses.fields(t) if f.default is f.default_factory is dataclasses.MISSING]
    properties = {f.name: {"type": _TYPES[hints[f.name]]} if hints[f.name] in _TYPES else {} for f in dataclasses.fields(t)}
    schema: dict[str, Any] = {"type": "object", "properties": properties, "additionalProperties": False}
    return schema | ({"required": required} if required else {})
