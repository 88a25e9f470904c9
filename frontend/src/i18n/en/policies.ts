import { count, either, list } from "./words";

const share = (s: string | undefined) => (s ? `${s} of them have to succeed.` : "All have to succeed.");
const atOnce = (n: number) => (n > 0 ? `, ${n} at once` : "");

/** What a job does about trouble and about other jobs, a sentence each. */
export const policies = {
  title: "In words",
  allow: "Runs may overlap.",
  allowUpTo: (n: number) => `Up to ${count(n, "run", "runs")} at once; more are skipped.`,
  queue: (limit: number, queue: number, oldest: boolean) =>
    `${limit === 1 ? "One run" : `${limit} runs`} at a time; up to ${queue} wait, then the ${oldest ? "oldest" : "newest"} is skipped.`,
  skip: (limit: number) =>
    limit === 1
      ? "A run that is due while another is alive is skipped."
      : `While ${limit} runs are alive, new ones are skipped.`,
  replace: (limit: number) =>
    limit === 1
      ? "A new run ends the live one."
      : `While ${limit} runs are alive, a new one ends the oldest.`,
  misfire: {
    skip: "A missed fire is recorded, and does not run.",
    fire_once: "Missed fires get one run together.",
    fire_all: "Each missed fire gets its run.",
  } as Record<string, string>,
  noRetry: "A run that fails is not tried again.",
  ends: { failed: "failed", timed_out: "timed out", lost: "was lost" },
  retry: (n: number, ends: string[], waits: string, codes: number[]) =>
    `Tried again up to ${count(n, "time", "times")} when it ${either(ends)}${
      codes.length > 0 ? ` (exit ${codes.join(", ")})` : ""
    }, after ${waits}.`,
  backoff: {
    constant: (delay: string, _most: string) => `${delay} each`,
    linear: (delay: string, most: string) => `${delay}, then that much longer each time, up to ${most}`,
    exponential: (delay: string, most: string) => `${delay}, then twice as long each time, up to ${most}`,
  },
  dropStale: "Not tried again once the run of a later fire has succeeded.",
  atMostOnce: "If its executor vanishes, a run is lost: it does not run twice.",
  timeout: (d: string, grace: string) => `An attempt is asked to end after ${d}, and killed ${grace} later.`,
  totalTimeout: (d: string) => `All attempts together may take ${d}.`,
  warnAfter: (d: string) => `Its log has a warning after ${d}.`,
  startWithin: (d: string) => `A run that has not begun ${d} after it was due is missed.`,
  pauseAfter: (n: number) => `Pauses itself after ${count(n, "bad run", "bad runs")} in a row.`,
  broadcast: (s: string | undefined) => `Every online executor does a piece. ${share(s)}`,
  pieces: (n: number, at: number, s: string | undefined) => `Done in ${n} pieces${atOnce(at)}. ${share(s)}`,
  split: (at: number, s: string | undefined) =>
    `The first attempt lists the pieces; each is then done by itself${atOnce(at)}. ${share(s)}`,
  child: {
    success: (job: string) => `After a success ${job} runs.`,
    failure: (job: string) => `After a failure ${job} runs.`,
    end: (job: string) => `After every end ${job} runs.`,
  },
  passResult: "It gets the result as its parameters.",
  join: (parents: string[]) => `Runs once ${list(parents)} have all ended.`,
};
