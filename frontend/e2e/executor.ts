import { type ChildProcess, spawn } from "node:child_process";
import type { Program } from "./program.ts";

/** An executor in a process of its own, on the NATS of a program. */
export class Executor {
  private child: ChildProcess | undefined;

  async start(program: Program, group: string, instance: string): Promise<void> {
    const args = ["executor", "--nats", program.natsURL, "--group", group, "--instance", instance];
    const child = spawn(process.env.CARILLON_BIN ?? "carillon", args);
    this.child = child;
    let said = "";
    await new Promise<void>((resolve, reject) => {
      child.stderr?.on("data", (chunk: Buffer) => {
        said += chunk.toString();
        if (said.includes("executor started")) resolve();
      });
      child.on("exit", (code) => reject(new Error(`carillon executor ended with ${code}: ${said}`)));
    });
  }

  /** Ends the process as a crash does. */
  async kill(): Promise<void> {
    const child = this.child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGKILL");
    await ended;
  }
}
