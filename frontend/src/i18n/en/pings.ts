import { count } from "./words";

/** Of jobs whose runs are done elsewhere, and reported by pings. */
export const pings = {
  title: "Pings",
  elsewhere: "This job runs elsewhere. Pings report its runs.",
  allElsewhere: "All selected jobs run elsewhere. Pings report their runs.",
  reportedBy: (host: string | undefined) => (host ? `reported by a ping from ${host}` : "reported by a ping"),
  never: "Waiting for the first ping.",
  waiting: "No run yet.",
  nextFire: (inText: string) => `The next fire is ${inText}.`,
  expected: (since: string, until: string | undefined) =>
    until ? `A ping is expected since ${since}, until ${until}.` : `A ping is expected since ${since}.`,
  running: (since: string, host: string | undefined) =>
    host ? `Running on ${host} since ${since}.` : `Running since ${since}.`,
  missed: (fire: string) => `Late: no ping came for the fire of ${fire}.`,
  noEnd: (start: string) => `Late: a run started at ${start}, and its end was not reported.`,
  ended: (ago: string, host: string | undefined, status: string) =>
    `${status}: the last run ended ${ago}${host ? ` on ${host}` : ""}.`,
  lines: "What to paste",
  copyLines: "Copy what to paste",
  placeholder: "TOKEN",
  linesHint: "A new token is shown with these lines filled in.",
  ways: {
    crontab: "crontab",
    curl: "curl",
    systemd: "systemd",
    kubernetes: "Kubernetes",
    powershell: "PowerShell",
    python: "Python",
  },
  wayHints: {
    crontab:
      "carillon watch reports start, exit code and output, and keeps the report while the server is away.",
    curl: "Reports the exit code. Needs no other program than curl.",
    systemd: "In the service of a timer. Reports success, or failure.",
    kubernetes: "In the pod of a CronJob. The image needs a shell and curl.",
    powershell: "In the script of a scheduled task. Reports success, or failure.",
    python: "Reports the exit code of a command.",
  },
  cronZone: (zone: string) => `The times are in ${zone}: adapt them if the host has another time zone.`,
  noCron: (schedule: string) =>
    `Cron cannot express this schedule (${schedule}): run the command from another scheduler.`,
  tokens: "Ping tokens",
  token: "Token",
  by: "Created by",
  lastUsed: "Last used",
  lastHost: "Last host",
  ends: "Ends",
  unused: "never",
  noEndSet: "does not end",
  noTokens: "Create a token to report runs. It can do nothing but ping for this job.",
  create: "New token",
  made: "New ping token",
  madeHint: "Copy it now: it is not shown again. Whoever has this address can report runs of this job.",
  localURL:
    "The server has no public URL. This is the address of your browser; other machines may not reach it.",
  rotate: "Rotate",
  rotateAsk: "Rotate the ping tokens?",
  rotateHint: "A new token is created. The others work for 7 more days; replace them by then.",
  revoke: "Delete",
  revokeAsk: (id: string) => `Delete ping token ${id}?`,
  revokeHint: "Pings with it are refused from now on, and their runs are recorded as missed.",
  revoked: (id: string) => `Deleted ping token ${id}`,
  refused: (tooMany: number, method: number) =>
    [
      tooMany > 0 && `${count(tooMany, "ping was", "pings were")} refused: too many in a minute.`,
      method > 0 && `${count(method, "ping was", "pings were")} refused: method not allowed.`,
    ]
      .filter(Boolean)
      .join(" "),
};
