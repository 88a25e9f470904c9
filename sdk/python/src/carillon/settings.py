"""The settings of an executor: arguments first, then the variables that `carillon executor` reads."""

from __future__ import annotations

import base64
import os
import re
import secrets
import socket
import string
from collections.abc import Mapping
from dataclasses import dataclass, field

import nkeys  # type: ignore[import-untyped]

from . import wire
from .errors import ConfigurationError
from .secrets import key_of


@dataclass
class Settings:
    group: str = ""
    nats: str = ""
    credential: str = field(default="", repr=False)
    ca_file: str = ""
    cert_file: str = ""
    key_file: str = ""
    instance: str = ""
    slots: int = 0
    labels: dict[str, str] | None = None
    grace: float = -1.0
    spool: str = ""
    spool_bytes: int = 0
    secret_key: str = field(default="", repr=False)
    max_log_lines: int = 0
    max_log_bytes: int = 0
    version: str = ""

    def complete(self, env: dict[str, str] | os._Environ[str] | None = None) -> Settings:
        """Fill what is not set from the environment, and check everything."""
        env = os.environ if env is None else env
        self.group = self.group or env.get("CARILLON_GROUP", "")
        self.nats = self.nats or env.get("CARILLON_NATS", "") or "nats://127.0.0.1:4222"
        self.ca_file = self.ca_file or env.get("CARILLON_NATS_CA", "")
        self.cert_file = self.cert_file or env.get("CARILLON_NATS_CERT", "")
        self.key_file = self.key_file or env.get("CARILLON_NATS_KEY", "")
        self.instance = self.instance or env.get("CARILLON_INSTANCE", "") or _instance()
        self.spool = self.spool or env.get("CARILLON_SPOOL", "")
        self.spool_bytes = _number(self.spool_bytes, env, "CARILLON_SPOOL_BYTES", 64 << 20)
        self.slots = _number(self.slots, env, "CARILLON_SLOTS", 32, 10_000)
        self.max_log_lines = _number(self.max_log_lines, env, "CARILLON_MAX_LOG_LINES", 1_000_000)
        self.max_log_bytes = _number(self.max_log_bytes, env, "CARILLON_MAX_LOG_BYTES", 64 << 20)
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
        _check_seed(self.credential)
        if self.secret_key:
            key_of(self.secret_key, self.group)
        if bool(self.cert_file) != bool(self.key_file):
            raise ConfigurationError("CARILLON_NATS_CERT and CARILLON_NATS_KEY belong together: set both, or neither")
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


def _check_seed(text: str) -> None:
    """Refuse what is not the seed of a user; without one there is nothing to refuse."""
    if not text:
        return
    data = base64.b32decode(text + "=" * (-len(text) % 8)) if re.fullmatch("SU[A-Z2-7]{56}", text) else b""
    if not data or bytes(nkeys.crc16_checksum(data[:-2])) != data[-2:]:
        raise ConfigurationError("the credential is not the seed of an nkey (SU…): take the file that `carillon credential create` writes")


def _number(given: int, env: Mapping[str, str], name: str, default: int, most: int = 0) -> int:
    """What is given, or the variable, or the default. Without most it may be any number from 1."""
    text = str(given) if given else env.get(name, "") or str(default)
    limit = f"between 1 and {most}" if most else "of at least 1"
    if not re.fullmatch("[+-]?[0-9]{1,18}", text) or int(text) < 1 or most and int(text) > most:
        raise ConfigurationError(f"{name} {text!r} must be a whole number {limit}")
    return int(text)


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
