import time

from carillon.recent import Recent


def test_what_is_recent_is_known_until_its_time_is_over_or_there_is_too_much(monkeypatch):
    now = 100.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    names = Recent(life=10, most=3)
    names.add("a")
    now = 105.0
    names.add("b")
    assert "a" in names and len(names) == 2
    now = 111.0
    assert "a" not in names and "b" in names and len(names) == 1
    names.add("b")
    now = 116.0
    assert "b" in names  # it was added again
    for name in "cde":
        names.add(name)
    assert "b" not in names and len(names) == 3
    names.discard("d")
    assert "d" not in names and "c" in names
