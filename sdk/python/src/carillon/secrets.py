"""Secrets of tasks: opened here, masked in everything a run says."""

from __future__ import annotations

import base64
import json
import urllib.parse
from collections.abc import Callable

from .errors import ConfigurationError, Failure


def key_of(text: str, group: str) -> bytes:
    """The key in what `carillon secret key` prints."""
    form, of, key = (text.split(".") + ["", ""])[:3]
    try:
        data = base64.b64decode(key + "=" * (-len(key) % 4), altchars=b"-_", validate=True)
    except ValueError:
        data = b""
    if form != "carillon-group-1" or text.count(".") != 2 or len(data) != 32:
        raise ConfigurationError("the key for secrets is none: take what `carillon secret key` prints")
    if of != group:
        raise ConfigurationError(f"the key for secrets is that of group {of}, not of {group}: run carillon secret key -g {group}")
    return data


def open_secret(key: bytes, group: str, name: str, sealed: str) -> str:
    """The value of a sealed secret."""
    try:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    except ImportError:
        raise Failure("secrets need the package cryptography: pip install 'carillon-executor[secrets]'") from None
    data = base64.b64decode(sealed)
    return AESGCM(key).decrypt(data[:12], data[12:], f"{group}/{name}".encode()).decode()


def masker(values: dict[str, str]) -> Callable[[str], str]:
    """Replaces secrets of four bytes and more by ***, also as they look in URLs and in JSON."""
    forms: set[str] = set()
    for value in values.values():
        for part in filter(lambda p: len(p) >= 4, (p.strip() for p in value.split("\n"))):
            forms |= {part, urllib.parse.quote_plus(part), urllib.parse.quote(part), json.dumps(part)[1:-1]}
    longest = sorted(forms, key=lambda f: (-len(f), f))

    def mask(text: str) -> str:
        for form in longest:
            text = text.replace(form, "***")
        return text

    return mask
