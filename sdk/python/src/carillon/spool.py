"""Ends of runs on disk, which outlive a restart while NATS is away."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import secrets as random
from pathlib import Path

from .errors import ConfigurationError

log = logging.getLogger("carillon.executor")


class Spool:
    """A folder with a file for each end that NATS has not stored. Without a folder it keeps nothing."""

    def __init__(self, folder: str, most: int = 64 << 20) -> None:
        """It holds at most so many bytes."""
        self._folder, self._most = Path(folder) if folder else None, most
        if self._folder is None:
            return
        try:
            self._write(random.token_hex(12), b"").unlink()
        except OSError as e:
            raise ConfigurationError(f"spool {folder!r} (CARILLON_SPOOL) must be a folder that this program can make and write to: {e.strerror or e}") from e

    def keep(self, subject: str, data: bytes, headers: dict[str, str]) -> Path | None:
        """Write an end before it is published; None if it is not kept."""
        if self._folder is None:
            return None
        try:
            text = json.dumps({"subject": subject, "headers": headers, "data": data.decode()}).encode()
            if sum(path.stat().st_size for path in self.paths()) + len(text) > self._most:
                raise OSError(f"it has no room for more: {self._most} bytes (CARILLON_SPOOL_BYTES)")
            new = self._write(random.token_hex(12), text)
            path = new.with_suffix(".json")
            new.rename(path)
            return path
        except OSError as e:
            log.warning("the spool %s does not take an end, which is kept in memory: %s", self._folder, e.strerror or e)
            return None

    def remove(self, path: Path | None) -> None:
        """Forget an end that is stored."""
        try:
            if path is not None:
                path.unlink(missing_ok=True)
        except OSError as e:
            log.warning("an end in the spool is reported again at the next start: %s: %s", path, e.strerror or e)

    def paths(self) -> list[Path]:
        return [] if self._folder is None else sorted(self._folder.glob("*.json"))

    def read(self, path: Path) -> tuple[str, bytes, dict[str, str]] | None:
        """The subject, body and headers of an end. None if it is none: then it is put aside."""
        try:
            kept = json.loads(path.read_text())
            if not isinstance(json.loads(kept["data"]), dict):
                raise ValueError("not an object")
            return kept["subject"], kept["data"].encode(), kept["headers"]
        except (OSError, ValueError, LookupError, TypeError, AttributeError) as e:
            log.warning("what is in %s is no end of a run: %s", path, e)
            with contextlib.suppress(OSError):
                path.rename(path.with_suffix(".refused"))
            return None

    def _write(self, name: str, data: bytes) -> Path:
        """Write a file, which is complete on disk when this returns. Only its owner may read it: it has a token."""
        assert self._folder is not None
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = self._folder / f"{name}.new"
        try:
            with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as f:
                f.write(data)
                f.flush()
                os.fsync(f.fileno())
        except OSError:
            with contextlib.suppress(OSError):
                path.unlink()
            raise
        return path
