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

/** What to put where a job runs, so that its runs are reported. COMMAND and IMAGE stand for what runs there. */
export function linesFor(way: Way, job: Job, { server, token }: Where): string {
  const { name } = refOf(job.job);
  const url = `${server}/ping/${token}`;
  const methods = job.task?.watch?.methods ?? [];
  const has = (method: "POST" | "GET") => methods.length === 0 || methods.includes(method);
  const method = has("POST") ? "POST" : has("GET") ? "GET" : "HEAD";
  const curl = `curl -fsS -m 10 --retry 3 -o /dev/null ${method === "HEAD" ? "-I" : `-X ${method}`}`;
  const at = whenOf(job);
  switch (way) {
    case "crontab":
      return `CARILLON_SERVER=${server}
CARILLON_WATCH_TOKEN=${token}
${at} /usr/local/bin/carillon watch ${job.job} -c 'COMMAND'`;
    case "curl":
      return `${at} COMMAND; ${curl} ${url}/$?`;
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

/** The five fields of a crontab: the job's own if it has such, or else an example. */
function whenOf(job: Job): string {
  const cron = job.schedule?.cron ?? "";
  return /^(\S+ ){4}\S+$/.test(cron) && /^[\d\s*,/A-Za-z-]+$/.test(cron) && !/[HLW]/.test(cron)
    ? cron
    : "0 3 * * *";
}
