/** The example of the README. */

import { Executor, Final } from "@carillon-scheduler/executor";
import { z } from "zod";

export const app = new Executor();

const Report = z.object({ region: z.string(), rows: z.int().default(0) });

app.handler("report", { params: Report, description: "Writes the report of a region" }, async (run) => {
  const { region, rows } = run.params;
  if (region !== "north" && region !== "south") {
    throw new Final(`there is no region ${region}`); // no retry helps
  }
  run.log.info("begun", { region });
  for (let row = 1; row <= rows; row++) {
    run.signal.throwIfAborted(); // cancelled, timed out, or the program stops
    run.progress((100 * row) / rows, region);
  }
  return { written: rows };
});

if (process.argv[1] === import.meta.filename) { // not in a test that imports app
  await app.run();
}
