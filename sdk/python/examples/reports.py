"""The example of the README."""

from dataclasses import dataclass

from carillon import Executor, Final, Run

app = Executor()


@dataclass
class Report:
    region: str
    rows: int = 0


@app.handler("report", description="Writes the report of a region")
async def report(run: Run, p: Report) -> dict[str, int]:
    if p.region not in ("north", "south"):
        raise Final(f"there is no region {p.region!r}")  # no retry helps
    run.log.info("begun %s", p.region)
    for row in range(p.rows):
        run.progress(100 * (row + 1) / p.rows, p.region)
    return {"written": p.rows}
