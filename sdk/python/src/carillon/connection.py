"""The connection to NATS, and what to do when there is none."""

from __future__ import annotations

import asyncio
import logging
import re
import ssl
from typing import Any

import nats.errors

from .errors import ConfigurationError
from .settings import Settings

log = logging.getLogger("carillon.executor")


class Warnings:
    """Warnings about what happens again and again: the first, the second, the fourth and so on."""

    def __init__(self) -> None:
        self._count = 0

    def warn(self, text: str) -> None:
        self._count += 1
        if self._count & (self._count - 1) == 0:
            log.warning("%s", text)

    def reset(self) -> None:
        self._count = 0


class Errors:
    """Hears the errors of a connection."""

    def __init__(self, settings: Settings) -> None:
        self._settings, self._warnings = settings, Warnings()
        self.connecting = True
        self.last: BaseException | None = None  # while connecting
        self._denied = False  # something was, to this credential

    async def hear(self, e: Exception) -> None:
        self._denied = self._denied or _is_denial(e)
        if self.connecting:
            self.last = e
        else:
            self._warnings.warn(f"NATS: {explain(e, self._settings)}")

    def ask(self) -> str:
        """What to look at when a message is not stored."""
        if self._denied:
            return f"is the credential for group {self._settings.group}? Each is for one group"
        return "is a Carillon server running on this NATS?"

    def connected(self) -> None:
        self.connecting = False
        self._warnings.reset()


def options(settings: Settings, errors: Errors) -> dict[str, Any]:
    """Options of one try to connect, which gives up soon; `keep` makes the connection stay."""
    given: dict[str, Any] = {
        "servers": [s.strip() for s in settings.nats.split(",")], "name": f"carillon executor {settings.group}", "inbox_prefix": f"_INBOX_{settings.group}".encode(),
        "allow_reconnect": False, "max_reconnect_attempts": 1, "reconnect_time_wait": 0.25, "connect_timeout": 10, "ping_interval": 2, "max_outstanding_pings": 2,
        "error_cb": errors.hear,
    }
    if settings.credential:
        given["nkeys_seed_str"] = settings.credential
    if settings.ca_file or settings.cert_file:
        given["tls"] = _tls(settings)
    return given


def _tls(settings: Settings) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cafile=settings.ca_file or None)
    except OSError as e:  # an ssl.SSLError is one
        raise ConfigurationError(f"CARILLON_NATS_CA {settings.ca_file!r} must be a file of certificates in PEM: {e}") from e
    try:
        if settings.cert_file:
            context.load_cert_chain(settings.cert_file, settings.key_file, password="")  # it would ask for one at the terminal
    except (OSError, ValueError) as e:
        raise ConfigurationError(
            f"CARILLON_NATS_CERT {settings.cert_file!r} and CARILLON_NATS_KEY {settings.key_file!r} must be files of a certificate and its key in PEM: {e}"
        ) from e
    return context


def keep(nc: Any) -> None:
    """Have a connection come back for ever."""
    nc.options |= {"allow_reconnect": True, "max_reconnect_attempts": -1}


def asks_for_certificate(nc: Any) -> bool:
    """Whether the NATS of a failed connection asks for a client certificate. By TLS 1.3 it refuses one after the handshake."""
    return bool((getattr(nc, "_server_info", None) or {}).get("tls_verify"))


def why_not(e: BaseException, settings: Settings, asks_for_certificate: bool = False) -> str:
    """Why there is no connection, and what to do."""
    text = str(e) or type(e).__name__
    if _is_refusal(e):
        return f"NATS at {settings.nats} {_about_credential(settings)} ({text})"
    if re.search(r"\balert\b", text, re.IGNORECASE) or asks_for_certificate and not isinstance(e, ssl.SSLCertVerificationError):
        return f"NATS at {settings.nats} {_about_certificate(settings)} ({text})"
    if isinstance(e, ssl.SSLError) or re.search(r"certificate|tls|ssl", text, re.IGNORECASE):
        return f"cannot connect to NATS at {settings.nats} by TLS: {text}; CARILLON_NATS_CA must name the file of its certificate authority"
    if isinstance(e, asyncio.TimeoutError):
        text = "no answer within 10 s"
    return f"cannot connect to NATS at {settings.nats}: {text}; is it running, and is CARILLON_NATS right?"


def _about_certificate(settings: Settings) -> str:
    if not settings.cert_file:
        return "asks for a client certificate: set CARILLON_NATS_CERT and CARILLON_NATS_KEY"
    return f"refuses the client certificate {settings.cert_file}: is it valid, and of an authority that NATS trusts?"


def explain(e: BaseException, settings: Settings) -> str:
    """An error of a connection, and what to do."""
    # NATS quotes subjects in its errors, and that of requests has the secret of this instance.
    text = re.sub(r'\bexec\.([^.\s"]+)\.[^\s"]+', r"exec.\1.…", str(e) or type(e).__name__, flags=re.IGNORECASE)
    if _is_denial(e):
        return f"{text}; each credential is for one group: check that this one is for group {settings.group}"
    return f"it {_about_credential(settings)} ({text})" if _is_refusal(e) else text


def _is_denial(e: BaseException) -> bool:
    return "permissions violation" in str(e).lower()


def _is_refusal(e: BaseException) -> bool:
    return isinstance(e, nats.errors.AuthorizationError) or re.search(r"authorization|authentication", str(e), re.IGNORECASE) is not None


def _about_credential(settings: Settings) -> str:
    make = f"make one with: carillon credential create NAME -g {settings.group} --file FILE"
    if not settings.credential:
        return f"wants a credential: set CARILLON_CREDENTIAL_FILE; {make}"
    return f"refuses the credential: is it for group {settings.group}, and not revoked? Else {make}"
