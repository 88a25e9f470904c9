"""What a program has of an executor: its handlers, what is around them, and its settings."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import logging
import os
import signal
import sys
from collections.abc import AsyncGenerator, Callable
from typing import Any, TypeVar, overload

from . import wire
from .errors import ConfigurationError
from .handlers import Handler, Middleware, at_work
from .instance import Conflict, ConnectionLost, Instance
from .runlog import CaptureHandler
from .settings import Settings

F = TypeVar("F", bound=Callable[..., Any])
M = TypeVar("M", bound=Middleware)
S = TypeVar("S", bound=Callable[[], AsyncGenerator[Any, None]])

log = logging.getLogger("carillon.executor")


class Executor:
    """Does the runs of one executor group.

    What is not given is read from the environment, from the variables of ``carillon executor``:
    ``CARILLON_GROUP``, ``CARILLON_NATS``, ``CARILLON_CREDENTIAL_FILE``, ``CARILLON_NATS_CA``,
    ``CARILLON_SLOTS`` and so on.
    """

    def __init__(self, group: str = "", *, nats: str = "", credential: str = "", ca_file: str = "", instance: str = "", slots: int = 0,
                 labels: dict[str, str] | None = None, grace: float = -1.0, spool: str = "", secret_key: str = "", version: str = "",
                 cert_file: str = "", key_file: str = "", spool_bytes: int = 0, max_log_lines: int = 0, max_log_bytes: int = 0) -> None:
        self._given = Settings(group=group, nats=nats, credential=credential, ca_file=ca_file, cert_file=cert_file, key_file=key_file, instance=instance,
                               slots=slots, labels=labels, grace=grace, spool=spool, spool_bytes=spool_bytes, secret_key=secret_key,
                               max_log_lines=max_log_lines, max_log_bytes=max_log_bytes, version=version)
        self.handlers: dict[str, Handler] = {}
        self.middleware: list[Middleware] = []
        self._setups: list[Callable[[], AsyncGenerator[Any, None]]] = []
        self._stop: asyncio.Event | None = None
        self._hurry: asyncio.Event | None = None

    @overload
    def handler(self, name: F) -> F: ...
    @overload
    def handler(self, name: str | None = None, *, description: str = "", params_schema: dict[str, Any] | None = None,
                slots: int | None = None) -> Callable[[F], F]: ...

    def handler(self, name: Any = None, *, description: str = "", params_schema: dict[str, Any] | None = None, slots: int | None = None) -> Any:
        """Register a function for jobs with ``task: {handler: NAME}``.

        It takes the run, and the parameters if it has a second parameter: as the JSON has them, or
        as the dataclass or pydantic model that annotates it. Its result becomes the run's. At most
        ``slots`` of its runs are done at once here; others go to other instances, or wait.
        """
        if callable(name):
            return self.handler()(name)

        def register(function: F) -> F:
            key = name or function.__name__
            if key in self.handlers or not key or len(key) > 255:
                raise ConfigurationError(f"handler {key!r} must be a name of 1 to 255 characters that no other has")
            if slots is not None and slots < 1:
                raise ConfigurationError(f"slots of handler {key!r} must be 1 or more, and is {slots}")
            text = description or (function.__doc__ or "").strip().partition("\n")[0]
            self.handlers[key] = Handler(key, function, text, params_schema, slots=slots, names=_names_around())
            return function

        return register

    def use(self, middleware: M) -> M:
        """Have each handler called within a function, the first one outermost.

        It takes the run, and what it awaits to call the handler. It returns what that returns, or something else.
        """
        self.middleware.append(middleware)
        return middleware

    def setup(self, function: S) -> S:
        """Open what handlers share: an async generator that yields once.

        What is before its yield is done before the first run, and what is behind it after the last
        one, in the reverse order. If it raises, so does `run`.
        """
        if not inspect.isasyncgenfunction(function):
            raise _wrong_setup(function)
        self._setups.append(function)
        return function

    def run(self) -> None:
        """Do runs until SIGTERM or SIGINT; then let live runs end, for a while, and return. A second signal gives them back at once.

        For the main module of a program: it logs what is wrong with a setting, and ends with code 2.
        It ends with code 1 if NATS closes the connection for good, as after an error of the protocol.
        """
        if not logging.getLogger().handlers:
            logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
        code = 0
        try:
            asyncio.run(self.serve(signals=(signal.SIGTERM, signal.SIGINT)))
        except (ConfigurationError, Conflict, ConnectionLost) as e:
            log.error("%s", e)
            code = 1 if isinstance(e, ConnectionLost) else 2
        if at_work:
            runs = ", ".join(f"{run.job} ({run.id})" for run in list(at_work))
            log.error("the process ends without plain functions that have not returned: %s", runs)
            logging.shutdown()
            sys.stdout.flush()
            os._exit(code)  # Python's own end waits for their threads
        if code:
            sys.exit(code)

    def stop(self) -> None:
        """Ask `serve` to stop: it lets live runs end, for a while. A second call has it give them back at once."""
        if self._stop is not None and self._hurry is not None:
            (self._hurry if self._stop.is_set() else self._stop).set()

    async def serve(self, signals: tuple[signal.Signals, ...] = ()) -> None:
        """What `run` does, in a loop that is there."""
        settings = Settings(**vars(self._given)).complete()
        if (size := len(wire.dumps(sorted(self.handlers)))) > wire.MAX_HANDLER_NAMES:
            raise ConfigurationError(f"the names of all handlers have {size} bytes; a heartbeat has {wire.MAX_HANDLER_NAMES} for them: use shorter names, or several groups")
        self._stop, self._hurry = asyncio.Event(), asyncio.Event()
        release = _on_signals(signals, self.stop)
        capture = CaptureHandler()
        logging.getLogger().addHandler(capture)
        try:
            async with contextlib.AsyncExitStack() as stack:
                for function in self._setups:
                    await stack.enter_async_context(_opened(function))
                await Instance(settings, self.handlers, self._stop, self._hurry, self.middleware).serve()
        finally:
            logging.getLogger().removeHandler(capture)
            release()


@contextlib.asynccontextmanager
async def _opened(function: Callable[[], AsyncGenerator[Any, None]]) -> AsyncGenerator[None, None]:
    """Do what is before the yield of a generator, and what is behind it at the end, however that comes."""
    generator = function()
    if not await _goes_on(generator):
        raise _wrong_setup(function)
    try:
        yield
    finally:
        if await _goes_on(generator):
            await generator.aclose()
            raise _wrong_setup(function)


async def _goes_on(generator: AsyncGenerator[Any, None]) -> bool:
    """Whether a generator comes to another yield."""
    try:
        await anext(generator)
    except StopAsyncIteration:
        return False
    return True


def _wrong_setup(function: Any) -> ConfigurationError:
    return ConfigurationError(f"setup {getattr(function, '__name__', function)!r} must be an async function that yields once")


def _on_signals(signals: tuple[signal.Signals, ...], stop: Callable[[], None]) -> Callable[[], None]:
    """Call stop in the loop at each signal, until the returned function is called."""
    loop = asyncio.get_running_loop()
    before = {}
    for s in signals:
        try:
            loop.add_signal_handler(s, stop)
        except NotImplementedError:  # on Windows
            before[s] = signal.signal(s, lambda *_: loop.call_soon_threadsafe(stop) and None)

    def release() -> None:
        for s in signals:
            if s in before:
                signal.signal(s, before[s])
            else:
                loop.remove_signal_handler(s)

    return release


def _names_around() -> dict[str, Any]:
    """The names where a handler is registered, for annotations that name a class of a function."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals is globals():
        frame = frame.f_back
    return dict(frame.f_locals)
