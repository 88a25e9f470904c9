import { count, either } from "./words";

const share = (s: string | undefined) => (s ? `${s} of them must succeed.` : "All must succeed.");
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
      ? "A run that is due while another is in progress is skipped."
      : `While ${limit} runs are in progress, new ones are skipped.`,
  replace: (limit: number) =>
    limit === 1
      ? "A new run cancels the one in progress."
      : `While ${limit} runs are in progress, a new one cancels the oldest.`,
  byKey: (said: string, key: string, total: number) =>
    `For each value of ${key}: ${said}${total ? ` Up to ${count(total, "run", "runs")} in all.` : ""}`,
  misfire: {
    skip: "A missed fire is recorded, but does not run.",
    fire_once: "All missed fires together get one run.",
    fire_all: "Each missed fire gets a run.",
  } as Record<string, string>,
  noRetry: "A failed run is not retried.",
  ends: { failed: "failed", timed_out: "timed out", lost: "was lost" },
  retry: (n: number, ends: string[], waits: string, codes: number[]) =>
    `Retried up to ${count(n, "time", "times")} when it ${either(ends)}${
      codes.length > 0 ? ` (exit ${codes.join(", ")})` : ""
    }, after ${waits}.`,
  backoff: {
    constant: (delay: string, _most: string) => `${delay} each`,
    linear: (delay: string, most: string) => `${delay}, then that much longer each time, up to ${most}`,
    exponential: (delay: string, most: string) => `${delay}, then twice as long each time, up to ${most}`,
  },
  dropStale: "Not retried once the run of a later fire has succeeded.",
  atMostOnce: "If its executor disappears, a run is lost: it does not run again.",
  maxDeliveries: (n: number) =>
    `An attempt is lost when ${count(n, "executor has", "executors have")} died while running it.`,
  timeout: (d: string, grace: string) => `An attempt is asked to stop after ${d}, and killed ${grace} later.`,
  watch: (d: string) => `A ping is due within ${d} of each fire; otherwise the fire is missed.`,
  endsWithin: (d: string) => `A run that has not ended ${d} after its start has timed out.`,
  totalTimeout: (d: string) => `All attempts together may take ${d}.`,
  warnAfter: (d: string) => `After ${d}, a warning is written to its log.`,
  startWithin: (d: string) => `A run that has not started ${d} after it was due is missed.`,
  pauseAfter: (n: number) => `The job is paused after ${count(n, "failure", "failures")} in a row.`,
  broadcast: (s: string | undefined) => `Every online executor runs one piece. ${share(s)}`,
  pieces: (n: number, at: number, s: string | undefined) => `Done in ${n} pieces${atOnce(at)}. ${share(s)}`,
  split: (at: number, s: string | undefined) =>
    `The first attempt lists the pieces; each then runs separately${atOnce(at)}. ${share(s)}`,
  child: {
    success: (job: string) => `${job} runs after a success.`,
    failure: (job: string) => `${job} runs after a failure.`,
    end: (job: string) => `${job} runs after any end.`,
  },
  passResult: "It gets the result as its parameters.",
};
