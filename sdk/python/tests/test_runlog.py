import asyncio

from carillon import runlog, wire


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


def test_while_nothing_is_stored_the_oldest_lines_go_and_one_counts_them():
    async def go():
        batches, stored = [], asyncio.Event()

        async def send(lines):
            await stored.wait()
            batches.append(lines)

        log = log_of(send)
        for _ in range(40):
            log.add("stdout", "info", "x" * 32_000)
        await asyncio.sleep(0)
        assert log._size <= runlog.ROOM
        stored.set()
        await log.close()
        lines = [line for batch in batches for line in batch]
        told = [line for line in lines if line["output"] == "system"]
        assert len(told) == 1 and "lines were dropped here" in told[0]["text"]
        assert [line["seq"] for line in lines] == sorted(line["seq"] for line in lines)

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
