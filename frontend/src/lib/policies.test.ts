import { expect, it } from "vitest";
import type { Job } from "@/api/schema.gen";
import { policies as english } from "@/i18n/en/policies";
import { policies as chinese } from "@/i18n/zh/policies";
import { policiesInWords } from "./policies";

const en = { policies: english };
const zh = { policies: chinese };
const job = (more: Partial<Job> = {}): Job => ({ job: "a/b", task: { shell: "true" }, ...more });

it("says what holds when nothing was chosen", () => {
  expect(policiesInWords(job(), en)).toEqual([
    "Runs may overlap.",
    "All missed fires together get one run.",
    "A failed run is not retried.",
  ]);
});

it("says every policy that was chosen, with its figures", () => {
  const all = job({
    overlap: { policy: "queue", queue: 7, when_full: "skip_oldest" },
    misfire: { policy: "fire_all" },
    retry: { limit: 3, backoff: "linear", delay: "30s", max_delay: "5m", exit_codes: [75], drop_stale: true },
    delivery: "at_most_once",
    timeout: "10m",
    kill_grace: "20s",
    total_timeout: "1h",
    warn_after: "5m",
    start_within: "90s",
    pause_after_failures: 5,
    map: { pieces: 8, at_once: 3 },
    succeeds_if: "75%",
    children: [{ job: "a/c", on: "end", pass_result: true }],
  });
  expect(policiesInWords(all, en)).toEqual([
    "One run at a time; up to 7 wait, then the oldest is skipped.",
    "Each missed fire gets a run.",
    "Retried up to 3 times when it failed or timed out (exit 75), after 30 s, then that much longer each time, up to 5m.",
    "Not retried once the run of a later fire has succeeded.",
    "If its executor disappears, a run is lost: it does not run again.",
    "An attempt is asked to stop after 10m, and killed 20 s later.",
    "All attempts together may take 1h.",
    "After 5m, a warning is written to its log.",
    "A run that has not started 1m 30s after it was due is missed.",
    "The job is paused after 5 failures in a row.",
    "Done in 8 pieces, 3 at once. 75% of them must succeed.",
    "a/c runs after any end. It gets the result as its parameters.",
  ]);
  expect(policiesInWords(all, zh)).toHaveLength(12);
});

it("says for which runs the rule for overlap holds", () => {
  const overlap = { policy: "queue", queue: 7, key: "${params.customer}", total: 50 } as const;
  expect(policiesInWords(job({ overlap }), en)[0]).toBe(
    "For each value of ${params.customer}: One run at a time; up to 7 wait, then the newest is skipped. Up to 50 runs in all.",
  );
  expect(policiesInWords(job({ overlap: { policy: "skip", key: "${params.c}" } }), zh)[0]).toBe(
    "按 ${params.c} 的每个取值：上一次未结束时，新的运行被跳过。",
  );
});

it("says how many executors may die with an attempt, if the job does", () => {
  expect(policiesInWords(job({ max_deliveries: 1 }), en)).toContain(
    "An attempt is lost when 1 executor has died while running it.",
  );
  expect(policiesInWords(job({ max_deliveries: 5 }), en)).toContain(
    "An attempt is lost when 5 executors have died while running it.",
  );
});

it("says of a job whose runs are done elsewhere when its pings are due, and nothing of executors", () => {
  const watched = job({ task: { watch: {} }, warn_after: "5m" });
  expect(policiesInWords(watched, en)).toEqual([
    "A ping is due within 10m of each fire; otherwise the fire is missed.",
    "A run that has not ended 1d after its start has timed out.",
    "After 5m, a warning is written to its log.",
  ]);
  expect(policiesInWords(job({ task: { watch: { grace: "30m" } }, timeout: "2h" }), zh)).toEqual([
    "每次触发后 30m 内须收到 ping，否则记为错过触发。",
    "开始 2h 后仍未结束的运行记为超时。",
  ]);
});
