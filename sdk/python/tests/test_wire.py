import json
from datetime import datetime, timezone
from pathlib import Path

import pytest

from carillon import wire
from carillon.errors import ConfigurationError
from carillon.settings import Settings

GOLDEN = Path(__file__).parents[3] / "bus" / "testdata"


def trigger(**more):
    raw = {"run_id": "019b8be1-f500-746c-9285-f6b4613a1707", "job": "billing/nightly", "version": 1, "shard": 3, "attempt": 1, "cause": "schedule",
           "fire_time": "2026-01-05T02:00:00Z", "committed_at": "2026-01-05T02:00:00.012Z", "task": {"handler": "report"}}
    return raw | more


@pytest.mark.parametrize(("text", "value"), [("90s", 90), ("1h30m", 5400), ("250ms", 0.25), ("2d", 172800), ("", 0), ("1m0.5s", 60.5)])
def test_durations_are_read(text, value):
    assert wire.seconds(text) == pytest.approx(value)


@pytest.mark.parametrize("text", ["90", "s", "1h 30m", "-5s", "1x"])
def test_what_is_no_duration_is_refused(text):
    with pytest.raises(ValueError, match="90s"):
        wire.seconds(text)


def test_instants_go_there_and_back():
    at = wire.parse_instant("2026-01-05T02:00:00.123456789Z")
    assert at == datetime(2026, 1, 5, 2, 0, 0, 123456, tzinfo=timezone.utc)
    assert wire.instant(at) == "2026-01-05T02:00:00.123Z"
    assert wire.parse_instant("2026-01-05T02:00:00Z") == datetime(2026, 1, 5, 2, tzinfo=timezone.utc)


@pytest.mark.parametrize(("reply", "count"), [
    ("$JS.ACK.TRIG.any-billing.3.17.9.1767578400000000000.0", 3),
    ("$JS.ACK.hub.ACCT.TRIG.any-billing.2.7.7.1767578400000000000.0.rnd", 2),
])
def test_deliveries_are_read_from_the_reply_subject(reply, count):
    assert wire.delivery(reply)[0] == count


def test_ids_of_pieces_have_their_index():
    t = wire.Trigger(trigger(broadcast_total=3), "token")
    assert t.message_id("finished") == "019b8be1-f500-746c-9285-f6b4613a1707:1.0:finished"
    assert wire.Trigger(trigger(), "token").message_id("finished") == "019b8be1-f500-746c-9285-f6b4613a1707:1:finished"


@pytest.mark.parametrize("data", [b"no json", b"[]", b"{}", json.dumps(trigger(job="other/a")).encode(), json.dumps(trigger(attempt="1")).encode()])
def test_what_is_no_trigger_of_the_group_is_garbage(data):
    with pytest.raises(wire.Garbage):
        wire.decode(data, "", 1, "billing")


@pytest.mark.parametrize("name", ["trigger.json", "trigger-piece.json", "trigger-split.json"])
def test_the_golden_triggers_are_read(name):
    raw = json.loads((GOLDEN / name).read_text())
    t = wire.decode(json.dumps(raw).encode(), "token", 1, raw["job"].partition("/")[0])
    assert t.event("started", "w1")["committed_at"] == raw["committed_at"]


@pytest.mark.parametrize(("status", "code", "again"), [("failed", 3, True), ("failed", 4, False), ("succeeded", None, False), ("timed_out", None, True)])
def test_a_retry_rule_says_what_follows(status, code, again):
    t = wire.Trigger(trigger(retry={"limit": 1, "on": ["failed", "timed_out"], "exit_codes": [3]}), "")
    assert t.again(status, code) is again
    assert wire.Trigger(trigger(attempt=2, retry={"limit": 1, "on": ["failed"]}), "").again("failed") is False


@pytest.mark.parametrize(("env", "name"), [
    ({}, "CARILLON_GROUP"),
    ({"CARILLON_GROUP": "Billing!"}, "group"),
    ({"CARILLON_GROUP": "g", "CARILLON_SLOTS": "many"}, "CARILLON_SLOTS"),
    ({"CARILLON_GROUP": "g", "CARILLON_GRACE": "30"}, "CARILLON_GRACE"),
    ({"CARILLON_GROUP": "g", "CARILLON_LABEL": "zone"}, "CARILLON_LABEL"),
    ({"CARILLON_GROUP": "g", "CARILLON_CREDENTIAL_FILE": "/nowhere"}, "/nowhere"),
    ({"CARILLON_GROUP": "g", "CARILLON_LABEL": "zone=" + "x" * 8192}, "labels have 8203 bytes; at most 8192 are allowed"),
])
def test_a_wrong_setting_is_named(env, name):
    with pytest.raises(ConfigurationError, match=name):
        Settings().complete(env)


def test_settings_come_from_the_environment():
    s = Settings(slots=4).complete({"CARILLON_GROUP": "g", "CARILLON_SLOTS": "8", "CARILLON_LABEL": "zone=eu;disk=ssd", "CARILLON_GRACE": "1m"})
    assert (s.slots, s.labels, s.grace, s.nats) == (4, {"zone": "eu", "disk": "ssd"}, 60.0, "nats://127.0.0.1:4222")


@pytest.mark.parametrize("more", [
    {"start_by": "tomorrow"}, {"end_by": 7}, {"timeout": "soon"}, {"warn_after": "1x"}, {"attempt": 0}, {"attempt": True}, {"broadcast_total": 2, "broadcast_index": 2},
    {"broadcast_index": -1}, {"report": "evt.p0.other"}, {"report": "evt.3.billing"}, {"report": 7}, {"retry": 3}, {"retry": {"limit": "3"}}, {"fire_time": "yesterday"}, {"shard": -1}, {"task": {"secrets": ["db"]}},
])
def test_a_trigger_with_a_wrong_field_is_garbage_before_anything_begins(more):
    with pytest.raises(wire.Garbage):
        wire.decode(json.dumps(trigger(**more)).encode(), "", 1, "billing")


@pytest.mark.parametrize("reply", ["", "$JS.ACK.TRIG.any-billing.x.17.9.1767578400000000000.0", "a.b.c.d.e.f.g.h.i.j"])
def test_a_reply_subject_that_is_none_is_garbage(reply):
    with pytest.raises(wire.Garbage):
        wire.delivery(reply)


def test_a_text_with_half_a_character_becomes_one_that_utf8_has():
    assert wire.cut("ok \ud800") == "ok ?"
    wire.dumps({"message": wire.cut("\udfff" * 20_000)})


def test_numbers_of_parameters_are_never_changed_in_silence():
    text = json.dumps(trigger()).replace("}}", '}, "params": {"big": 1234567890123456789, "odd": 9007199254740993, "a": [0.1000, -0.0]}}')
    t = wire.decode(text.encode(), "", 1, "billing")
    assert t.raw["params"] == {"big": 1234567890123456789, "odd": 9007199254740993, "a": [0.1, 0]}
    wire.check_finite(t.raw["params"], "params")
    with pytest.raises(ValueError, match=r"params\.a\[1\]\.b is a number that is too large for a float; send it as text"):
        wire.check_finite(json.loads('{"a": [1, {"b": -1e400}]}'), "params")


def test_a_run_whose_trigger_has_no_trace_has_that_of_its_id():
    run = "019b8be1-f500-746c-9285-f6b4613a1707"
    assert wire.fire_trace(run, 1) == "00-019b8be1f500746c9285f6b4613a1707-71a8b91e65d3980d-01"
    assert wire.fire_trace(run, 12) == "00-019b8be1f500746c9285f6b4613a1707-f54acda7068bb30d-01"


@pytest.mark.parametrize("variable", ["CARILLON_SECRET_KEY", "CARILLON_CREDENTIAL"])
def test_an_empty_key_file_is_no_key(variable, tmp_path):
    (tmp_path / "key").write_text("\n")
    with pytest.raises(ConfigurationError, match=f"{variable}_FILE .* is empty"):
        Settings("g").complete({variable + "_FILE": str(tmp_path / "key")})
