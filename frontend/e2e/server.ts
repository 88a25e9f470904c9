import { type ChildProcess, spawn } from "node:child_process";
import type { Program } from "./program.ts";

/**
 * A server on the NATS and with the log store of another program, which may go away without it. It
 * fires for no jobs unless its roles say so: that program does. Whoever asks it has to sign in.
 */
export class Server {
  url = "";
  /** The path of the one-time link by which the first administrator is made, as its log says it. */
  readonly welcome: Promise<string>;
  private said = "";
  private heard: () => void = () => {};
  private child: ChildProcess | undefined;
  private readonly program: Program;

  constructor(program: Program) {
    this.program = program;
    this.welcome = new Promise((resolve) => {
      this.heard = () => {
        const path = /\/sign-in#invitation=[^\s"]+/.exec(this.said)?.[0];
        if (path) resolve(path);
      };
    });
  }

  async start(roles = "store,api"): Promise<void> {
    const { natsURL: nats, data } = this.program;
    const flags = { nats, data, http: "127.0.0.1:0", node: "second", roles };
    const args = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, value]);
    const child = spawn(process.env.CARILLON_BIN ?? "carillon", ["server", ...args]);
    this.child = child;
    await new Promise<void>((resolve, reject) => {
      child.stderr?.on("data", (chunk: Buffer) => {
        this.said += chunk.toString();
        this.heard();
        const address = /api listens" address=(\S+)/.exec(this.said)?.[1];
        if (!address) return;
        this.url = `http://${address}`;
        resolve();
      });
      child.on("exit", (code) => reject(new Error(`carillon server ended with ${code}: ${this.said}`)));
    });
  }

  async remove(): Promise<void> {
    const child = this.child;
    this.child = undefined;
    if (child && child.exitCode === null) {
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGKILL"); // an orderly end would wait for NATS
      await ended;
    }
  }
}
