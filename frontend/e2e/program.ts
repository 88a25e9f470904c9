import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * An address of this machine with a free port, below those that the system gives out itself: otherwise a
 * program that restarts would now and then find its port taken by another test. Browsers and fetch refuse
 * some ports, all of them below 11000.
 */
async function address(): Promise<string> {
  for (;;) {
    const port = 11_000 + Math.floor(Math.random() * 19_000);
    const probe = createServer();
    const free = await new Promise<boolean>((resolve) => {
      probe.once("error", () => resolve(false));
      probe.listen(port, "127.0.0.1", () => resolve(true));
    });
    await new Promise((resolve) => probe.close(resolve));
    if (free) return `127.0.0.1:${port}`;
  }
}

/** A running program with everything in one process, on a directory of its own. */
export class Program {
  url = "";
  private nats: string | undefined;
  private http: string | undefined;
  private child: ChildProcess | undefined;
  private readonly more: string[];
  readonly data: string;
  private readonly lasting: boolean;

  /** The folder is one that stays, or else a new one; more are further flags. */
  constructor(folder?: string, ...more: string[]) {
    this.more = more;
    this.lasting = folder !== undefined;
    this.data = folder ?? mkdtempSync(join(tmpdir(), "carillon-data-"));
    mkdirSync(this.data, { recursive: true });
  }

  /** Whether the folder has a file. */
  has(file: string): boolean {
    return existsSync(join(this.data, file));
  }

  async start(): Promise<void> {
    // A restart is found where it was.
    this.http ??= await address();
    this.nats ??= await address();
    const child = spawn(process.env.CARILLON_BIN ?? "carillon", [
      "dev",
      "--data",
      this.data,
      "--http",
      this.http,
      "--nats",
      this.nats,
      "--no-samples",
      "--alert-allow",
      "127.0.0.1",
      ...this.more,
    ]);
    this.child = child;
    let said = "";
    await new Promise<void>((resolve, reject) => {
      const hear = (chunk: Buffer) => {
        said += chunk.toString();
        const api = /API and console\s+(http:\/\/\S+)/.exec(said);
        if (!api?.[1] || !/NATS\s+nats:\/\/\S+/.test(said)) return;
        this.url = api[1];
        resolve();
      };
      child.stdout?.on("data", hear);
      child.stderr?.on("data", hear);
      child.on("exit", (code) => reject(new Error(`carillon dev ended with ${code}: ${said}`)));
    });
  }

  /** Where its NATS is, for others to connect to. */
  get natsURL(): string {
    return `nats://${this.nats}`;
  }

  /** Ends the program as Ctrl-C does. */
  async stop(): Promise<void> {
    const child = this.child;
    if (!child || child.exitCode !== null) return;
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGINT");
    await ended;
  }

  async remove(): Promise<void> {
    await this.stop();
    if (!this.lasting) rmSync(this.data, { recursive: true, force: true });
  }

  /** Asks the API; a body makes it a change. */
  async api<T>(method: string, path: string, body?: unknown): Promise<T> {
    const response = await fetch(`${this.url}/api/v1${path}`, {
      method,
      headers: body === undefined ? {} : { "Content-Type": "application/json" },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return (text === "" ? undefined : JSON.parse(text)) as T;
  }

  /** Saves a job whose task is a shell script. */
  job(name: string, shell: string, more: Record<string, unknown> = {}): Promise<unknown> {
    return this.api("PUT", `/jobs/${name}`, { job: name, schedule: {}, task: { shell }, ...more });
  }

  /** Runs a job and returns the run's id, once it has ended. */
  async run(name: string): Promise<string> {
    const { run_id } = await this.api<{ run_id: string }>("POST", `/jobs/${name}/run`, {});
    const living = ["pending", "queued", "running"];
    for (let i = 0; i < 900; i++) {
      const run = await this.api<{ status: string }>("GET", `/runs/${run_id}`).catch(() => undefined);
      if (run && !living.includes(run.status)) return run_id;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    throw new Error(`run ${run_id} of ${name} does not end`);
  }
}
