"""Names that are remembered for a while."""

from __future__ import annotations

import time
from typing import Generic, TypeVar

MOST = 16384  # more than the triggers that can be on their way

K = TypeVar("K")


class Recent(Generic[K]):
    """The newest names, each for so many seconds."""

    def __init__(self, life: float, most: int = MOST) -> None:
        self._life, self._most = life, most
        self._at: dict[K, float] = {}  # oldest first

    def __contains__(self, name: K) -> bool:
        at = self._at.get(name)
        return at is not None and time.monotonic() - at < self._life

    def __len__(self) -> int:
        """How many there are. It takes as long as there are some to forget."""
        oldest = time.monotonic() - self._life
        while self._at and next(iter(self._at.values())) <= oldest:
            del self._at[next(iter(self._at))]
        return len(self._at)

    def add(self, name: K) -> None:
        self._at.pop(name, None)
        self._at[name] = time.monotonic()
        if len(self._at) > self._most:
            del self._at[next(iter(self._at))]

    def discard(self, name: K) -> None:
        self._at.pop(name, None)
