import type { Job } from "@/api/schema.gen";
import { refOf } from "@/lib/jobref";

export const ways = ["crontab", "curl", "systemd", "kubernetes", "powershell", "python"] as const;
export type Way = (typeof ways)[number];

/** Where pings go: the address of the server, and the token, or a word in its place. */
export interface Where {
  server: string;
  token: string;
}

/** The address and the token of a URL for pings. */
export function whereOf(url: string): Where {
  const [server = "", token = ""] = url.split("/ping/");
  return { server, token };
}

/**
 * What to put where a job runs, so that its runs are reported. COMMAND and IMAGE stand for what runs there. Lines of a
 * crontab begin with the job's schedule; if cron cannot express it, they are commands for another scheduler.
 */
export function linesFor(way: Way, job: Job, { server, token }: Where): string {
  const { name } = refOf(job.job);
  const url = `${server}/ping/${token}`;
  const methods = job.task?.watch?.methods ?? [];
  const has = (method: "POST" | "GET") => methods.length === 0 || methods.includes(method);
  const method = has("POST") ? "POST" : has("GET") ? "GET" : "HEAD";
  const curl = `curl -fsS -m 10 --retry 3 -o /dev/null ${method === "HEAD" ? "-I" : `-X ${method}`}`;
  const cron = crontabOf(job);
  const at = cron ? `${cron} ` : "";
  switch (way) {
    case "crontab":
      return [
        `CARILLON_SERVER=${server}`,
        `CARILLON_WATCH_TOKEN=${token}`,
        `${at}/usr/local/bin/carillon watch ${job.job} -c 'COMMAND'`,
      ].join(cron ? "\n" : " ");
    case "curl":
      return `${at}COMMAND; ${curl} ${url}/$?`;
    case "systemd":
      return `[Service]
Type=oneshot
ExecStart=COMMAND
ExecStartPost=/usr/bin/${curl} ${url}
ExecStopPost=/bin/sh -c 'test "$SERVICE_RESULT" = success || ${curl} ${url}/fail'`;
    case "kubernetes":
      return `# kubectl create secret generic ${name}-ping --from-literal=url=${url}
containers:
  - name: ${name}
    image: IMAGE
    env:
      - name: PING_URL
        valueFrom: {secretKeyRef: {name: ${name}-ping, key: url}}
    command:
      - /bin/sh
      - -c
      - COMMAND; code=$?; ${curl} "$PING_URL/$code"; exit $code`;
    case "powershell":
      return `COMMAND
$end = if ($?) { "end" } else { "fail" }
Invoke-RestMethod -Method ${method} -TimeoutSec 10 -Uri "${url}/$end"`;
    case "python":
      return `import subprocess, urllib.request

code = subprocess.run("COMMAND", shell=True).returncode
end = f"${url}/{code if code >= 0 else 128 - code}"
urllib.request.urlopen(urllib.request.Request(end, method="${method}"), timeout=10)`;
  }
}

/** The schedule of a job as the five fields of a crontab; undefined if it is no such schedule. */
export function crontabOf(job: Job): string | undefined {
  const cron = job.schedule?.cron ?? "";
  const fields = cron.replace(names, "1");
  return /^([\d*,/-]+ ){4}[\d*,/-]+$/.test(fields) ? cron : undefined;
}

const names = /\b(JAN|FEB|MAR|APR|MAY|JUN|JUL|AUG|SEP|OCT|NOV|DEC|SUN|MON|TUE|WED|THU|FRI|SAT)\b/gi;
