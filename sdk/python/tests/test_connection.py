import asyncio
import logging
import re
import time

import nats.errors
import pytest

from carillon import ConfigurationError, Executor
from carillon.blocked import Blocked
from carillon.connection import Errors, Warnings, explain, options, why_not
from carillon.instance import Instance
from carillon.settings import Settings

WITHOUT = Settings(group="billing", nats="nats://n1:4222")
WITH = Settings(group="billing", nats="nats://n1:4222", credential="SU…")


@pytest.mark.parametrize(("settings", "error", "words"), [
    (WITHOUT, nats.errors.AuthorizationError(), "wants a credential: set CARILLON_CREDENTIAL_FILE; make one with: carillon credential create NAME -g billing"),
    (WITH, nats.errors.Error("nats: 'Authorization Violation'"), "refuses the credential: is it for group billing, and not revoked"),
    (WITH, ConnectionRefusedError(111, "Connect call failed"), "cannot connect to NATS at nats://n1:4222: [Errno 111] Connect call failed; is it running, and is CARILLON_NATS right?"),
    (WITH, asyncio.TimeoutError(), "no answer within 10 s; is it running"),
    (WITH, OSError("certificate verify failed"), "CARILLON_NATS_CA must name the file of its certificate authority"),
])
def test_why_there_is_no_connection_says_what_to_do(settings, error, words):
    assert words in why_not(error, settings)


def test_a_permission_that_is_lacking_names_the_group():
    text = explain(nats.errors.Error("nats: Permissions Violation for Publish to \"evt.3.other\""), WITH)
    assert "check that this one is for group billing" in text


def test_a_file_of_certificates_that_is_none_is_named(tmp_path):
    file = tmp_path / "ca.pem"
    file.write_text("nothing")
    with pytest.raises(ConfigurationError, match="CARILLON_NATS_CA .*ca.pem.* must be a file of certificates"):
        options(Settings(group="billing", ca_file=str(file)), Errors(WITH))


def test_what_goes_wrong_again_and_again_is_said_less_and_less(caplog):
    warnings = Warnings()
    for n in range(1, 10):
        warnings.warn(f"try {n}")
    assert re.findall(r"try \d", caplog.text) == ["try 1", "try 2", "try 4", "try 8"]


def test_an_executor_that_waits_for_nats_can_be_stopped(caplog):
    async def go():
        stop = asyncio.Event()
        settings = Settings(group="billing", nats="nats://127.0.0.1:9", instance="i").complete({})
        serving = asyncio.ensure_future(Instance(settings, Executor().handlers, stop).serve())
        while "is CARILLON_NATS right?" not in caplog.text:
            await asyncio.sleep(0.01)
        stop.set()
        await asyncio.wait_for(serving, 5)

    asyncio.run(go())


def test_a_loop_that_stands_still_is_noticed_with_the_place(caplog):
    told = []
    blocked = Blocked(told.append, alarm=0.08)
    blocked.start()
    while not told:
        time.sleep(0.01)  # the handler that does not await
    blocked.stop()
    assert "does not await" in told[0]
    with caplog.at_level(logging.WARNING):
        assert "the event loop has been blocked" in caplog.text and "the handler that does not await" in caplog.text


def test_a_nats_without_carillon_is_said_to_be_one(caplog):
    class Nats:
        async def request(self, *_, **__):
            raise nats.errors.NoRespondersError

    async def go():
        i = Instance(Settings(group="billing", instance="i").complete({}), {}, asyncio.Event())
        i.nc = Nats()
        introducing = asyncio.ensure_future(i._introduce())
        while "is a Carillon server running on this NATS?" not in caplog.text:
            await asyncio.sleep(0.01)
        introducing.cancel()

    asyncio.run(go())
