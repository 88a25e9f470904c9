import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { patience } from "./patience.ts";

/** A running program with everything in one process, on a directory of its own. */
export class Program {
  url = "";
  private nats = "127.0.0.1:0";
  private http = "127.0.0.1:0";
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

  /** Starts the program, which chooses its ports; or starts it again where it was. */
  async start(): Promise<void> {
    // A connection may have been given one of its ports meanwhile, and gives it back.
    for (const begun = Date.now(); ; ) {
      const refusal = await this.begin();
      if (refusal === undefined) return;
      if (!/address already in use/.test(refusal) || Date.now() - begun > patience) throw new Error(refusal);
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }

  /** Starts a process and returns when it serves, or what it said if it ended before. */
  private begin(): Promise<string | undefined> {
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
    return new Promise((resolve) => {
      const hear = (chunk: Buffer) => {
        said += chunk.toString();
        const [, http] = /API and console\s+http:\/\/(\S+)/.exec(said) ?? [];
        const [, nats] = /NATS\s+nats:\/\/(\S+)/.exec(said) ?? [];
        if (!http || !nats) return;
        this.http = http;
        this.nats = nats;
        this.url = `http://${http}`;
        resolve(undefined);
      };
      child.stdout?.on("data", hear);
      child.stderr?.on("data", hear);
      child.on("exit", (code) => resolve(`carillon dev ended with ${code}: ${said}`));
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
    for (const begun = Date.now(); Date.now() - begun < patience; ) {
      const run = await this.api<{ status: string }>("GET", `/runs/${run_id}`).catch(() => undefined);
      if (run && !living.includes(run.status)) return run_id;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    throw new Error(`run ${run_id} of ${name} does not end`);
  }
}
