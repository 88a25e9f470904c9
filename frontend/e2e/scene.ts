import type { Program } from "./program.ts";

/** A page of the console: its name, its path, and what is there once it is loaded. */
export interface Place {
  name: string;
  path: string;
  ready: string;
}

/** Fills an empty program with a day at a small company, and says what there is to see. */
export async function arrange(p: Program): Promise<Place[]> {
  await p.api("PUT", "/calendars/finance-freeze", {
    calendar: "finance-freeze",
    description: "No closing during the audit",
    zone: "Asia/Shanghai",
    dates: ["2026-11-25", "12-31"],
    windows: [{ days: "sat,sun", from: "00:00", to: "24:00" }],
  });
  await p.job(
    "default/payment-reconcile",
    "echo checking 1204 settlements; echo 'dial tcp 10.2.8.14:5432: connection refused' >&2; exit 2",
    {
      description: "Matches gateway settlements with the ledger and opens tickets for mismatches",
      schedule: { cron: "0 */5 * * * ?", zone: "Asia/Shanghai" },
      timeout: "1m",
    },
  );
  await p.job("default/invoice-close-daily", "echo closed 1842 invoices", {
    description: "Closes the previous day's invoices and publishes totals",
    schedule: { cron: "0 0 2 ? * MON-SAT", zone: "Asia/Shanghai", spread: "2m", except: ["finance-freeze"] },
    params: { audience: "high_ltv_q4", batch: 50000 },
  });
  await p.job("default/orders-sync-erp", 'for n in 1 2 3; do echo "batch $n of 3"; done', {
    schedule: { cron: "*/2 * * * *", zone: "Asia/Shanghai" },
  });
  await p.job("default/search-index-delta", "sleep 90", { schedule: { fixed_rate: "15m" } });
  await p.job("default/push-campaign", "echo pushed", { schedule: { cron: "* * * * *" }, paused: true });
  await p.job("risk/score-backfill", "echo", {
    description: "Run by hand after a model change",
    task: { handler: "score_backfill" },
  });
  await p.job("default/log-of-everything", logOfEverything);
  await furnish(p);
  for (let i = 0; i < 9; i++) await p.run("default/orders-sync-erp");
  let failed = "";
  for (let i = 0; i < 3; i++) failed = await p.run("default/payment-reconcile");
  await p.job("default/invoice-close-daily", "echo closed 1842 invoices; echo published totals", {
    description: "Closes the previous day's invoices and publishes totals",
    schedule: { cron: "0 30 2 ? * MON-SAT", zone: "Asia/Shanghai", spread: "2m", except: ["finance-freeze"] },
    params: { audience: "high_ltv_q4", batch: 50000 },
  });
  await p.run("default/invoice-close-daily");
  await p.api("POST", "/jobs/default/search-index-delta/run", {});
  const release = await p
    .api<{ run_id: string }>("POST", "/jobs/default/release/run", {})
    .then((r) => r.run_id);
  const today = Date.now();
  await p.api("POST", "/backfills", {
    id: "close",
    name: "Close 4 days again",
    jobs: ["default/invoice-close-daily"],
    from: new Date(today - 4 * 24 * 3600e3).toISOString(),
    to: new Date(today).toISOString(),
    only: "all",
    note: "totals were wrong",
  });
  const log = await p.run("default/log-of-everything");
  const pieces = await p.run("default/resize-pictures");
  const job = "/jobs/default/invoice-close-daily";
  const next = new Date(); // The next month: on its last day, the current one may have no fire left.
  next.setUTCMonth(next.getUTCMonth() + 1, 1);
  const month = next.toISOString().slice(0, 7);
  return [
    { name: "overview", path: "/", ready: ".kpis .v" },
    { name: "jobs", path: "/jobs", ready: "table.jobs tbody tr" },
    { name: "jobs-failing", path: "/jobs?view=failing", ready: "table.jobs tbody tr" },
    { name: "job", path: "/jobs/default/payment-reconcile", ready: ".incident" },
    { name: "job-runs", path: "/jobs/default/orders-sync-erp/runs", ready: "table.runs tbody tr" },
    { name: "job-schedule", path: `${job}/schedule`, ready: ".fires li" },
    { name: "job-definition", path: `${job}/definition`, ready: ".cm-host" },
    { name: "job-versions", path: `${job}/versions`, ready: ".cm-host.diff" },
    { name: "job-editor", path: `${job}/edit`, ready: ".previewrail .fires li" },
    { name: "job-new", path: "/jobs/new", ready: ".previewrail .fires li" },
    { name: "runs", path: "/runs", ready: "table.runs tbody tr" },
    { name: "run", path: `/runs/${log}`, ready: ".ll" },
    { name: "run-pieces", path: `/runs/${pieces}`, ready: ".pieces .piece" },
    { name: "run-compare", path: `/runs/${failed}/compare`, ready: ".cm-host.diff, .empty, table.compare" },
    { name: "errors", path: "/errors", ready: "table.errors tbody tr" },
    { name: "schedule", path: "/schedule", ready: ".tlane" },
    { name: "schedule-load", path: "/schedule/load", ready: ".heatmap" },
    { name: "schedule-calendar", path: `/schedule/calendar?month=${month}`, ready: ".mday .plan" },
    { name: "executors", path: "/executors", ready: ".pips" },
    { name: "executor-group", path: "/executors/default", ready: ".dl" },
    { name: "executor", path: "/executors/default/dev", ready: ".pips" },
    { name: "calendars", path: "/calendars", ready: ".card" },
    { name: "cluster", path: "/cluster", ready: ".shardlists" },
    { name: "logs", path: "/logs?q=settlements", ready: ".hits li" },
    { name: "ledger", path: "/ledger", ready: ".kpis" },
    { name: "month", path: "/reports/month", ready: ".monthreport .halves" },
    { name: "why", path: "/why?job=default/invoice-close-daily&at=2030-01-06T02:30", ready: ".whyanswer" },
    { name: "backfills", path: "/backfills", ready: ".bulkbackfills tbody tr" },
    { name: "backfill", path: "/backfills/close", ready: ".bulkjobs tbody tr" },
    { name: "alerts", path: "/alerts", ready: "table.incidents tbody tr" },
    { name: "alerts-acknowledged", path: "/alerts?state=acknowledged", ready: ".empty" },
    { name: "alerts-snoozed", path: "/alerts?state=snoozed", ready: ".empty" },
    { name: "alerts-resolved", path: "/alerts?state=resolved", ready: ".empty" },
    { name: "alert-rules", path: "/alerts/rules", ready: ".tbl tbody tr" },
    { name: "alert-channels", path: "/alerts/channels", ready: ".tbl tbody tr" },
    { name: "alert-silences", path: "/alerts/silences", ready: ".tbl tbody tr" },
    { name: "approvals", path: "/approvals", ready: ".approvals li" },
    { name: "run-approval", path: `/runs/${release}?step=ok`, ready: ".steppanel .note" },
    { name: "audit", path: "/audit", ready: "table.audit tbody tr" },
    { name: "settings", path: "/settings", ready: ".settings .card" },
    { name: "settings-users", path: "/settings/users", ready: ".tbl tbody tr" },
    { name: "settings-tokens", path: "/settings/tokens", ready: ".settings .card" },
    { name: "settings-secrets", path: "/settings/secrets?group=default", ready: ".tbl tbody tr" },
    { name: "settings-retention", path: "/settings/retention", ready: ".amounts" },
    { name: "settings-about", path: "/settings/about", ready: ".settings .card" },
    { name: "job-ledger", path: "/jobs/default/orders-sync-erp/ledger", ready: ".card" },
    { name: "job-audit", path: `${job}/audit`, ready: "table.audit tbody tr" },
    { name: "missing", path: "/nowhere", ready: ".empty" },
  ];
}

/** Gives every list of the settings, alerts and executors something to show. */
async function furnish(p: Program): Promise<void> {
  await p.api("PUT", "/users/lin.wei", {
    display_name: "Lin Wei",
    access: [
      { role: "operator", group: "default" },
      { role: "viewer", group: "risk" },
    ],
  });
  await p.api("PUT", "/users/chen.yu", { display_name: "Chen Yu", access: [{ role: "admin", group: "*" }] });
  await p.api("POST", "/tokens", {
    name: "Deployment of the billing service",
    user: "chen.yu",
    expires_in: "720h",
  });
  await p.api("PUT", "/groups/default/secrets/ledger-password", {
    value: "a secret",
    description: "The reader of the settlements",
  });
  await p.api("POST", "/groups/default/credentials", { name: "web-1 in Shanghai" });
  await p.api("PUT", "/groups/risk", { limit: 4, rate: 2 });
  await p.api("PUT", "/alerts/channels/on-call", {
    channel: "on-call",
    kind: "webhook",
    url: "http://127.0.0.1:9/hook",
    quiet_hours: { from: "22:00", to: "07:00", zone: "Asia/Shanghai" },
  });
  await p.api("PUT", "/alerts/rules/settlements-fail", {
    alert: "settlements-fail",
    description: "Money that does not add up is looked at in the same hour",
    match: { jobs: ["default/payment-reconcile"] },
    when: { ends: ["failed", "timed_out"], in_a_row: 2 },
    severity: "critical",
    channels: ["on-call"],
  });
  await p.api("PUT", "/alerts/rules/nobody-there", {
    alert: "nobody-there",
    when: { no_executor_for: "1h" },
    group_by: "group",
    channels: ["on-call"],
  });
  await p.api("POST", "/alerts/silences", {
    alert: "nobody-there",
    executor_group: "risk",
    for: "8h",
    reason: "Its machines move to another rack",
  });
  await p.api("PUT", "/jobs/default/release", {
    job: "default/release",
    schedule: {},
    steps: [
      { step: "build", task: { shell: "true" } },
      {
        step: "ok",
        title: "Release 2.4 to all regions",
        after: ["build"],
        wait: { approval: { by: ["user:lin.wei", "role:operator"], min: 2 }, expires: "8h" },
      },
      { step: "night", after: ["ok"], wait: { until: "${fire_time|day|+22h}" } },
      { step: "ship", after: ["night"], task: { shell: "true" } },
    ],
  });
  await p.job("default/resize-pictures", 'echo "piece $CARILLON_BROADCAST_INDEX"', { map: { pieces: 6 } });
}

/** Prints what logs are made of, and what they are not supposed to have in them. */
const logOfEverything = String.raw`
echo "<script>document.title = 'owned'</script>"
printf '\033[32mgreen\033[0m and \033[1;31mbold red\033[0m\n'
echo '{"level":"info","msg":"a line of JSON","n":42}'
echo "see https://example.com/build/42 for more"
head -c 1000000 /dev/zero | tr '\0' x; echo
printf 'a\001b\377c emoji 🎛 世界\n'
for n in $(seq 1 400); do echo "batch $n of 400 rows=50000 read=1.8s write=0.9s"; done
echo 'upload part-00044 failed: connection reset by peer' >&2
`;
