"""The settings of an executor: arguments first, then the variables that `carillon executor` reads."""

from __future__ import annotations

import os
import secrets
import socket
import string
from collections.abc import Mapping
from dataclasses import dataclass, field

from . import wire
from .errors import ConfigurationError


@dataclass
class Settings:
    group: str = ""
    nats: str = ""
    credential: str = field(default="", repr=False)
    ca_file: str = ""
    instance: str = ""
    slots: int = 0
    labels: dict[str, str] | None = None
    grace: float = -1.0
    spool: str = ""
    secret_key: str = field(default="", repr=False)
    version: str = ""

    def complete(self, env: dict[str, str] | os._Environ[str] | None = None) -> Settings:
        """Fill what is not set from the environment, and check everything."""
        env = os.environ if env is None else env
        self.group = self.group or env.get("CARILLON_GROUP", "")
        self.nats = self.nats or env.get("CARILLON_NATS", "") or "nats://127.0.0.1:4222"
        self.ca_file = self.ca_file or env.get("CARILLON_NATS_CA", "")
        self.instance = self.instance or env.get("CARILLON_INSTANCE", "") or _instance()
        self.spool = self.spool or env.get("CARILLON_SPOOL", "")
        self.slots = self.slots or _number(env, "CARILLON_SLOTS", 32)
        if self.grace < 0:
            self.grace = _duration(env, "CARILLON_GRACE", 30.0)
        if self.labels is None:
            self.labels = _labels(env.get("CARILLON_LABEL", ""))
        self.credential = self.credential or _key(env, "CARILLON_CREDENTIAL")
        self.secret_key = self.secret_key or _key(env, "CARILLON_SECRET_KEY")
        if not self.group:
            raise ConfigurationError("group is missing: set it, or the variable CARILLON_GROUP")
        for name in ("group", "instance"):
            if not wire.SLUG.fullmatch(getattr(self, name)):
                raise ConfigurationError(f"{name} {getattr(self, name)!r} must be 1 to 63 of a-z 0-9 - _, the first a letter or digit")
        if not 1 <= self.slots <= 10_000:
            raise ConfigurationError(f"slots {self.slots} must be between 1 and 10000")
        if (size := len(wire.dumps(self.labels))) > wire.MAX_LABELS:
            raise ConfigurationError(f"labels have {size} bytes; at most {wire.MAX_LABELS} are allowed")
        if (size := len(self.version.encode())) > wire.MAX_VERSION:
            raise ConfigurationError(f"version has {size} bytes; at most {wire.MAX_VERSION} are allowed")
        return self


def _key(env: Mapping[str, str], variable: str) -> str:
    """A key from the file that VARIABLE_FILE names, or from the variable, which is removed: child
    processes get the environment."""
    file = env.get(variable + "_FILE", "")
    if file:
        try:
            with open(file, encoding="utf-8") as f:
                text = f.read().strip()
        except OSError as e:
            raise ConfigurationError(f"{variable}_FILE {file!r} cannot be read: {e.strerror}") from e
        if not text:
            raise ConfigurationError(f"{variable}_FILE {file!r} is empty: it must have a key")
        return text
    text = env.get(variable, "").strip()
    if text and isinstance(env, os._Environ):
        del os.environ[variable]
    return text


def _number(env: Mapping[str, str], name: str, default: int) -> int:
    try:
        return int(env.get(name, "") or default)
    except ValueError:
        raise ConfigurationError(f"{name} {env[name]!r} must be a whole number") from None


def _duration(env: Mapping[str, str], name: str, default: float) -> float:
    try:
        return wire.seconds(env[name]) if env.get(name) else default
    except ValueError as e:
        raise ConfigurationError(f"{name} {e}") from None


def _labels(text: str) -> dict[str, str]:
    labels = {}
    for part in filter(None, (p.strip() for p in text.split(";"))):
        key, sep, value = part.partition("=")
        if not sep:
            raise ConfigurationError(f"CARILLON_LABEL {part!r} must be KEY=VALUE")
        labels[key] = value
    return labels


def _instance() -> str:
    host = "".join(c if c in string.ascii_lowercase + string.digits + "-_" else "-" for c in socket.gethostname().lower())
    host = host[:40].strip("-_") or "host"
    letters = "".join(secrets.choice(string.ascii_lowercase + string.digits) for _ in range(6))
    return f"{host}-{os.getpid()}-{letters}"
