import asyncio
import json
import stat
from pathlib import Path

import pytest
from test_instance import REPLY, given, instance, until

from carillon import ConfigurationError, Executor
from carillon.spool import Spool


@pytest.mark.parametrize("folder", ["file", "file/below", "/proc"])
def test_a_spool_that_cannot_be_made_or_written_is_refused_at_the_start(tmp_path, folder):
    (tmp_path / "file").write_text("")
    app = Executor(group="billing", nats="nats://127.0.0.1:9", spool=str(tmp_path / folder))
    with pytest.raises(ConfigurationError, match=f"spool '.*{folder}' .CARILLON_SPOOL. must be a folder"):
        asyncio.run(asyncio.wait_for(app.serve(), 5))


def test_a_spool_is_made_for_its_owner_alone_and_empty(tmp_path):
    Spool(str(tmp_path / "a" / "b"))
    assert stat.S_IMODE((tmp_path / "a" / "b").stat().st_mode) == 0o700 and not list((tmp_path / "a" / "b").iterdir())


def test_an_end_is_kept_until_it_is_stored(tmp_path):
    spool = Spool(str(tmp_path))
    path = spool.keep("evt.3.g", b"{}", {"Carillon-Token": "secret"})
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert Spool(str(tmp_path)).paths() == [path] and spool.read(path) == ("evt.3.g", b"{}", {"Carillon-Token": "secret"})
    spool.remove(path)
    assert not list(tmp_path.iterdir())


def test_a_run_ends_although_the_spool_is_gone(tmp_path, caplog):
    async def go():
        app = Executor()
        app.handler("h")(lambda run: 7)
        i = instance(app)
        folder: Path = tmp_path / "spool"
        i.spool = Spool(str(folder))
        folder.rmdir()
        folder.write_text("")
        i.start(given(i), REPLY)
        await until(lambda: (REPLY, b"+ACK") in i.nc.sent)
        assert json.loads(next(d for s, d in i.nc.sent if s == "evt.3.g"))["result"] == 7 and not i.live
        assert "does not take an end, which is kept in memory" in caplog.text

    asyncio.run(go())
