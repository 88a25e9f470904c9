import { logLines } from "@/api/runs";
import type { Run, RunDetail } from "@/api/schema.gen";
import { writeJson } from "@/lib/exact";
import { saveFile } from "@/lib/saving";

const page = 10_000;

/** The whole log of an attempt as text, a line each, whatever part of it is held. */
async function logOf(of: Run): Promise<string[]> {
  const parts: string[] = [];
  for (let at: number | undefined = 1; at !== undefined; ) {
    const next = await logLines(of.run_id, of.attempt, { from: at }, page, of.broadcast_index);
    parts.push(...next.items.map((l) => `${l.text}\n`));
    at = next.next_seq;
  }
  return parts;
}

/** Saves the whole log of an attempt as a text file. */
export async function downloadLog(of: Run): Promise<void> {
  const piece = of.broadcast_index === undefined ? "" : `-${of.broadcast_index}`;
  saveFile(`${nameOf(of)}-${of.attempt}${piece}.log`, await logOf(of), "text/plain");
}

/** Saves all that is known of a run in one file: its logs, what it was given, and what happened to it. */
export async function downloadBundle(detail: RunDetail, pieces: Run[], definition: unknown): Promise<void> {
  const { strToU8, zip } = await import("fflate");
  const files: Record<string, Uint8Array> = {};
  const json = (name: string, value: unknown) => {
    if (value !== undefined) files[name] = strToU8(`${writeJson(value, 2)}\n`);
  };
  const { changes, ...run } = detail;
  json("run.json", run);
  json("events.json", changes);
  json("params.json", detail.params);
  json("definition.json", definition);
  for (const of of [...detail.attempts, ...pieces]) {
    const piece = of.broadcast_index === undefined ? "" : `-piece-${of.broadcast_index}`;
    files[`attempt-${of.attempt}${piece}.log`] = strToU8((await logOf(of)).join(""));
  }
  const data = await new Promise<Uint8Array<ArrayBuffer>>((resolve, reject) =>
    zip(files, (error, bytes) => (error ? reject(error) : resolve(new Uint8Array(bytes)))),
  );
  const [newest] = detail.attempts;
  if (newest) saveFile(`${nameOf(newest)}.zip`, [data], "application/zip");
}

const nameOf = (of: Run) => `${of.job.replace("/", "-")}-${of.run_id}`;
