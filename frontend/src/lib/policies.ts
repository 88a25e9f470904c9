import type { Child, Job } from "@/api/schema.gen";
import type { policies } from "@/i18n/en/policies";
import { formatDuration, parseDuration } from "./duration";

/** The words that policies are said in. */
export interface PolicyTexts {
  policies: typeof policies;
}

const nice = (duration: string | undefined, otherwise: string): string =>
  formatDuration(parseDuration(duration ?? otherwise) ?? 0).replace(".0 s", " s");

/** What a job does about trouble and about others, a sentence each, with the defaults said too where they matter. */
export function policiesInWords(job: Job, t: PolicyTexts): string[] {
  const w = t.policies;
  const watch = job.task?.watch;
  if (watch)
    return [
      w.watch(nice(watch.grace, "10m")),
      w.endsWithin(nice(job.timeout, "24h")),
      ...(job.warn_after ? [w.warnAfter(nice(job.warn_after, "0s"))] : []),
      ...(job.pause_after_failures ? [w.pauseAfter(job.pause_after_failures)] : []),
      ...(job.children ?? []).map((c) => childInWords(c, t)),
    ];
  const said: (string | false | undefined)[] = [
    overlapInWords(job, t),
    w.misfire[job.misfire?.policy ?? "fire_once"],
    retryInWords(job, t),
    job.retry?.drop_stale && w.dropStale,
    job.delivery === "at_most_once" && w.atMostOnce,
    !!job.max_deliveries && w.maxDeliveries(job.max_deliveries),
    job.timeout && w.timeout(nice(job.timeout, "0s"), nice(job.kill_grace, "5s")),
    job.total_timeout && w.totalTimeout(nice(job.total_timeout, "0s")),
    job.warn_after && w.warnAfter(nice(job.warn_after, "0s")),
    job.start_within && w.startWithin(nice(job.start_within, "0s")),
    job.pause_after_failures ? w.pauseAfter(job.pause_after_failures) : undefined,
    piecesInWords(job, t),
    ...(job.children ?? []).map((c) => childInWords(c, t)),
  ];
  return said.filter((s): s is string => typeof s === "string" && s !== "");
}

export function overlapInWords(job: Job, t: PolicyTexts): string {
  const { key, total = 0 } = job.overlap ?? {};
  const said = ruleInWords(job.overlap ?? {}, t.policies);
  return key ? t.policies.byKey(said, key, total) : said;
}

function ruleInWords(o: NonNullable<Job["overlap"]>, w: PolicyTexts["policies"]): string {
  const limit = o.limit ?? 1;
  switch (o.policy ?? "allow") {
    case "allow":
      return o.limit ? w.allowUpTo(o.limit) : w.allow;
    case "queue":
      return w.queue(limit, o.queue ?? 100, o.when_full === "skip_oldest");
    case "skip":
      return w.skip(limit);
    case "replace":
      return w.replace(limit);
  }
}

export function retryInWords(job: Job, t: PolicyTexts): string {
  const r = job.retry ?? {};
  if (!r.limit) return t.policies.noRetry;
  const ends = r.on ?? (job.delivery === "at_most_once" ? defaultOn.slice(0, 2) : defaultOn);
  const delay = nice(r.delay, "10s");
  const most = nice(r.max_delay, "1h");
  return t.policies.retry(
    r.limit,
    ends.map((s) => t.policies.ends[s]),
    t.policies.backoff[r.backoff ?? "exponential"](delay, most),
    r.exit_codes ?? [],
  );
}

/** After which ends there is another attempt when the job does not say. */
export const defaultOn: ("failed" | "timed_out" | "lost")[] = ["failed", "timed_out", "lost"];

function piecesInWords(job: Job, t: PolicyTexts): string | undefined {
  const share = job.succeeds_if && job.succeeds_if !== "all" ? job.succeeds_if : undefined;
  if (job.map?.split) return t.policies.split(job.map.at_once ?? 0, share);
  if (job.map?.pieces) return t.policies.pieces(job.map.pieces, job.map.at_once ?? 0, share);
  return job.route === "broadcast" ? t.policies.broadcast(share) : undefined;
}

export function childInWords(child: Child, t: PolicyTexts): string {
  const said = t.policies.child[child.on ?? "success"](child.job);
  return child.pass_result ? `${said} ${t.policies.passResult}` : said;
}
