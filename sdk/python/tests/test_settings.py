import asyncio
import datetime
import logging
import os
import signal
import sys

import nkeys
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from test_instance import REPLY, given, instance

from carillon import ConfigurationError, Executor, worker
from carillon.connection import Errors, options
from carillon.load import load
from carillon.settings import Settings
from carillon.spool import Spool

SEED = nkeys.encode_seed(b"x" * 32, nkeys.PREFIX_BYTE_USER).decode()
KEY = "carillon-group-1.g." + "A" * 43


def complete(**env):
    return Settings().complete({"CARILLON_GROUP": "g"} | {f"CARILLON_{name}": value for name, value in env.items()})


def test_settings_come_from_the_environment():
    s = complete(NATS_CERT="c.pem", NATS_KEY="k.pem", MAX_LOG_LINES="5", MAX_LOG_BYTES="600", SPOOL_BYTES="7000", CREDENTIAL=SEED, SECRET_KEY=KEY)
    assert (s.cert_file, s.key_file, s.max_log_lines, s.max_log_bytes, s.spool_bytes) == ("c.pem", "k.pem", 5, 600, 7000)
    assert s.credential == SEED
    assert (complete().max_log_lines, complete().max_log_bytes, complete().spool_bytes) == (1_000_000, 64 << 20, 64 << 20)


@pytest.mark.parametrize(("env", "words"), [
    ({"CREDENTIAL": "secret"}, "is not the seed of an nkey .*carillon credential create"),
    ({"CREDENTIAL": SEED[:-4] + "AAAA"}, "is not the seed of an nkey"),
    ({"SECRET_KEY": "x"}, "carillon secret key"),
    ({"SECRET_KEY": "carillon-group-1.g.AAAA"}, "carillon secret key"),
    ({"SECRET_KEY": "carillon-group-1.other." + "A" * 43}, "group other, not of g"),
    ({"SLOTS": "many"}, "CARILLON_SLOTS 'many' must be a whole number between 1 and 10000"),
    ({"SLOTS": "0"}, "between 1 and 10000"),
    ({"MAX_LOG_LINES": "-1"}, "CARILLON_MAX_LOG_LINES '-1' must be a whole number of at least 1"),
    ({"SPOOL_BYTES": "64MiB"}, "CARILLON_SPOOL_BYTES"),
    ({"NATS_CERT": "c.pem"}, "CARILLON_NATS_CERT and CARILLON_NATS_KEY belong together"),
])
def test_a_wrong_setting_is_named_with_what_would_be_right(env, words):
    with pytest.raises(ConfigurationError, match=words):
        complete(**env)


@pytest.mark.parametrize("variable", ["CREDENTIAL", "SECRET_KEY"])
def test_an_empty_file_of_a_key_is_refused(variable, tmp_path):
    (tmp_path / "key").write_text("\n")
    with pytest.raises(ConfigurationError, match=f"CARILLON_{variable}_FILE .*key' is empty"):
        complete(**{variable + "_FILE": str(tmp_path / "key")})


def pair(folder):
    """Files of a certificate and its key."""
    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name([])
    now = datetime.datetime.now(datetime.timezone.utc)
    cert = (x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key()).serial_number(1)
            .not_valid_before(now).not_valid_after(now + datetime.timedelta(days=1)).sign(key, hashes.SHA256()))
    (folder / "c.pem").write_bytes(cert.public_bytes(serialization.Encoding.PEM))
    (folder / "k.pem").write_bytes(key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
    return str(folder / "c.pem"), str(folder / "k.pem")


def test_a_client_certificate_is_used_and_a_wrong_one_named(tmp_path):
    cert, key = pair(tmp_path)
    s = complete(NATS_CERT=cert, NATS_KEY=key)
    assert "tls" in options(s, Errors(s))
    s = complete(NATS_CERT=key, NATS_KEY=cert)
    with pytest.raises(ConfigurationError, match="CARILLON_NATS_CERT .* and CARILLON_NATS_KEY .* must be files of a certificate and its key"):
        options(s, Errors(s))


def test_an_attempt_logs_as_much_as_the_settings_allow():
    async def go():
        i = instance(Executor())
        i.settings.max_log_lines = 2
        attempt = i.begin(given(i), REPLY)
        for n in range(5):
            attempt.run.log.info("line %d", n)
        assert [line["text"] for line in attempt._log._lines] == ["line 0", "line 1", attempt._log._notice] and "may have 2 lines" in attempt._log._notice

    asyncio.run(go())


def test_a_full_spool_keeps_nothing(tmp_path, caplog):
    assert Spool(str(tmp_path), 10).keep("evt.3.g", b"{}", {}) is None
    assert "CARILLON_SPOOL_BYTES" in caplog.text and not list(tmp_path.iterdir())


def test_a_worker_of_a_module_with_a_wrong_handler_ends_with_code_2(tmp_path, monkeypatch, capsys):
    (tmp_path / "wrong_handler.py").write_text("from carillon import Executor\napp = Executor()\napp.handler('h', slots=0)(print)\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    assert worker.main(["wrong_handler:app"]) == 2 and "slots of handler 'h'" in capsys.readouterr().err


def test_a_wrong_setting_ends_the_program_with_code_2(monkeypatch, caplog):
    monkeypatch.setenv("CARILLON_SECRET_KEY", "x")
    with pytest.raises(SystemExit) as end:
        Executor(group="g").run()
    assert end.value.code == 2 and "carillon secret key" in caplog.text


def test_a_signal_stops_an_executor_where_loops_have_no_handlers_of_signals(monkeypatch, caplog):
    async def go():
        loop, before = asyncio.get_running_loop(), signal.getsignal(signal.SIGTERM)

        def lacking(*_):
            raise NotImplementedError

        monkeypatch.setattr(loop, "add_signal_handler", lacking)
        serving = asyncio.ensure_future(Executor(group="g", nats="nats://127.0.0.1:9").serve(signals=(signal.SIGTERM,)))
        while "is CARILLON_NATS right?" not in caplog.text:
            await asyncio.sleep(0.01)
        os.kill(os.getpid(), signal.SIGTERM)
        await serving
        assert signal.getsignal(signal.SIGTERM) == before

    with caplog.at_level(logging.WARNING):
        asyncio.run(go())


def test_a_heartbeat_says_how_busy_the_machine_is(monkeypatch, tmp_path):
    (tmp_path / "meminfo").write_text("MemTotal:        1000 kB\nMemFree:          100 kB\nMemAvailable:     400 kB\nHugePages_Total:       0\n")
    monkeypatch.setattr("carillon.load.MEMORY", str(tmp_path / "meminfo"))
    assert load() | {"load1": 0} == {"cpus": os.cpu_count(), "load1": 0, "memory_bytes": 1000 << 10, "memory_used_bytes": 600 << 10}
    monkeypatch.setattr("carillon.load.MEMORY", "/nowhere")
    assert set(load()) == {"cpus", "load1"}
