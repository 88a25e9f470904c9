from datetime import datetime, timedelta, timezone

import pytest

from carillon import wire
from carillon.wire import CLOCK, Clock


@pytest.fixture(autouse=True)
def right_again():
    yield
    CLOCK.offset = 0.0


def test_a_clock_is_corrected_only_if_it_is_wrong():
    clock, stored = Clock(), datetime(2026, 1, 5, 2, tzinfo=timezone.utc)
    for ahead, want, changed in [(1, 0, False), (600, 600, True), (600.9, 600, False), (-600, -600, True), (0.5, 0, True)]:
        assert clock.compare(stored + timedelta(seconds=ahead), stored) is changed
        assert clock.offset == want


@pytest.mark.parametrize("off", [600, -600])
def test_times_are_those_of_nats(off):
    real = datetime.now(timezone.utc) - timedelta(seconds=off)
    assert CLOCK.compare(CLOCK.own(), real)
    assert abs((wire.now() - real).total_seconds()) < 60
