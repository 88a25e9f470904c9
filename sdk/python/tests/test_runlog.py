import asyncio
import logging
import threading

import pytest

from carillon import Executor, Run, runlog, wire
from carillon.testing import run_handler


def log_of(send, **options):
    return runlog.RunLog(asyncio.get_running_loop(), send, 1, **options)


def test_lines_are_numbered_and_come_in_batches():
    async def go():
        batches = []

        async def send(lines):
            batches.append(lines)

        log = log_of(send)
        for i in range(1000):
            log.add("stdout", "info", f"line {i + 1}")
        assert await log.close() == 1000
        lines = [line for batch in batches for line in batch]
        assert [line["seq"] for line in lines] == list(range(1, 1001))
        assert max(map(len, batches)) <= runlog.BATCH_LINES

    asyncio.run(go())


def test_the_last_line_leaves_out_what_the_run_has_printed():
    async def last(printed, message):
        stored = []

        async def send(lines):
            stored.extend(lines)

        log = log_of(send)
        if printed:
            log.add("stderr", "warn", printed)
        log.end("failed", message)
        await log.close()
        return stored[-1]["text"]

    def want(printed, message, text):
        assert asyncio.run(last(printed, message)) == text

    want("", "no route: bank", "the run ended as failed: no route: bank")
    want("other", "no route: bank", "the run ended as failed: no route: bank")
    want("no route: bank", "exit code 1: no route: bank", "the run ended as failed: exit code 1")
    want("Traceback\nValueError: bank", "ValueError: bank", "the run ended as failed")
    want("no route", "cannot pay; no route; stop", "the run ended as failed: cannot pay; no route; stop")
    want("a long line", "exit code 1: a long…", "the run ended as failed: exit code 1")
    want("all went badly\n15 rows", "bad: 5", "the run ended as failed: bad: 5")
    want("5 rows", "no slot: 5", "the run ended as failed: no slot: 5")
    want("early\n" + "x\n" * (10 << 10), "early", "the run ended as failed: early")


def test_while_nothing_is_stored_the_oldest_lines_go_and_one_counts_them():
    async def go():
        batches, stored = [], asyncio.Event()

        async def send(lines):
            await stored.wait()
            batches.append(lines)

        log = log_of(send, room=runlog.Room(1 << 20))
        for _ in range(40):
            log.add("stdout", "info", "x" * 32_000)
        await asyncio.sleep(0)
        assert log._size <= 1 << 20
        stored.set()
        await log.close()
        assert log.note() == f"the log is incomplete: NATS did not take {log.dropped} of 40 lines in time"
        lines = [line for batch in batches for line in batch]
        told = [line for line in lines if line["output"] == "system"]
        assert len(told) == 1 and "lines were dropped here" in told[0]["text"]
        assert [line["seq"] for line in lines] == sorted(line["seq"] for line in lines)

    asyncio.run(go())


def test_a_burst_of_a_hundred_thousand_lines_is_stored_whole():
    async def go():
        stored = []

        async def send(lines):
            await asyncio.sleep(0)
            stored.extend(line["text"] for line in lines)

        log = log_of(send)
        for i in range(100_000):
            log.add("log", "info", f"line {i + 1}")
        assert await log.close() == len(stored) == 100_000 and log.note() == ""

    asyncio.run(go())


def test_flush_waits_until_the_lines_so_far_are_stored():
    async def go():
        stored = []

        async def send(lines):
            await asyncio.sleep(0)
            stored.extend(line["text"] for line in lines)

        log = log_of(send, room=runlog.Room(64 << 10))
        for i in range(50):
            for j in range(100):
                log.add("log", "info", f"line {i} {j}")
            await log.flush()
            assert len(stored) == 100 * (i + 1)
        await log.close()
        assert log.dropped == 0

    asyncio.run(go())


def test_flush_does_not_wait_for_a_stream_that_takes_nothing():
    async def go():
        async def send(lines):
            raise ConnectionError("away")

        log = log_of(send)
        log.add("log", "info", "one")
        await asyncio.wait_for(log.flush(), 30)
        log.abandon()

    asyncio.run(go())


@pytest.mark.parametrize("logger", ["the run's", "any"])
def test_a_thread_waits_for_room_while_the_stream_takes_lines(logger):
    app = Executor(group="billing")

    @app.handler
    def burst(run: Run):
        run._log._room = runlog.Room(0)
        log = run.log if logger == "the run's" else logging.getLogger("burst")
        for i in range(5000):
            log.warning("line %d", i)

    end = run_handler(app, "burst")
    assert end.lines == [f"line {i}" for i in range(5000)] and end.message == ""


def test_a_thread_does_not_wait_for_a_loop_that_waits_for_it():
    async def go():
        async def send(lines):
            pass

        log = log_of(send, room=runlog.Room(0))

        def burst():
            for i in range(1000):
                log.add("log", "info", str(i))

        thread = threading.Thread(target=burst)
        thread.start()
        thread.join()  # it blocks the loop
        await log.close()
        assert log.dropped > 0 and log.count == 1000

    asyncio.run(go())


def test_a_thread_that_outlives_the_loop_may_log():
    async def go():
        async def send(lines):
            pass

        return log_of(send)

    log = asyncio.run(go())
    thread = threading.Thread(target=log.add, args=("log", "info", "late"))
    thread.start()
    thread.join()
    log.add("log", "info", "later")


def test_runs_share_the_room_and_each_has_some_of_its_own():
    async def go():
        async def send(lines):
            await asyncio.Event().wait()

        room = runlog.Room(1 << 20)
        first, second = log_of(send, room=room), log_of(send, room=room)
        for log, lines in ((first, 100), (second, 20)):
            for _ in range(lines):
                log.add("log", "info", "x" * 10_000)
        assert first.dropped == 0 and first._size > 900_000
        assert 0 < second._size <= (1 << 20) - first._size + runlog.OWN
        first.abandon()
        second.abandon()
        assert room.take(1 << 20, runlog.OWN)

    asyncio.run(go())


def test_lines_that_are_given_up_are_counted_with_those_on_their_way():
    async def go():
        sent = asyncio.Event()

        async def send(lines):
            sent.set()
            raise ConnectionError("away")

        log = log_of(send)
        for i in range(50):
            log.add("stdout", "info", str(i))
        await sent.wait()
        log.add("stdout", "info", "behind them")
        log.abandon()
        assert log.dropped == 51

    asyncio.run(go())


def test_lines_that_are_stored_are_not_given_up():
    async def go():
        async def send(lines):
            pass

        log = log_of(send)
        log.add("stdout", "info", "one")
        await log.close()
        log.abandon()
        assert log.dropped == 0

    asyncio.run(go())


def test_a_full_log_counts_what_follows():
    async def go():
        lines = []

        async def send(batch):
            lines.extend(line["text"] for line in batch)

        log = log_of(send, max_lines=2)
        for i in range(5):
            log.add("stdout", "info", str(i))
        await log.close()
        assert lines[:2] == ["0", "1"] and "full" in lines[2] and lines[-1].startswith("3 lines were dropped")

    asyncio.run(go())


def test_a_long_line_becomes_several_that_fit():
    pieces = runlog._pieces("ü" * 40_000)
    assert all(len(p.encode()) <= wire.MAX_LOG_TEXT for p in pieces) and len(pieces) > 1
    assert "".join(p.strip("…") for p in pieces) == "ü" * 40_000
    assert pieces[0].endswith("…") and pieces[-1].startswith("…")
