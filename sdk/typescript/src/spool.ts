/** Ends of runs on disk, so that they outlive a restart while NATS is away. */

import { randomBytes } from "node:crypto";
import { mkdir, open, readdir, readFile, rename, stat, unlink } from "node:fs/promises";
import { join } from "node:path";

import type { Bus, Headers } from "./bus";
import { fitted } from "./ends";
import { ConfigurationError, textOf } from "./errors";
import type { Logger } from "./log";
import { isObject } from "./trigger";

interface Kept {
  subject: string;
  data: string;
  headers: Headers;
}

export class Spool {
  /** A folder of "" keeps nothing. */
  constructor(
    private readonly folder: string,
    private readonly most: number,
    private readonly log: Logger,
  ) {}

  /** Make the folder, and see that it can be written to. Throws a ConfigurationError. */
  async open(): Promise<void> {
    if (this.folder === "") {
      return;
    }
    const path = join(this.folder, `${randomBytes(12).toString("hex")}.new`);
    try {
      await mkdir(this.folder, { recursive: true, mode: 0o700 });
      await writeSynced(path, "");
      await unlink(path);
    } catch (e) {
      throw new ConfigurationError(`spool ${JSON.stringify(this.folder)} (CARILLON_SPOOL) must be a folder that this program can make and write to: ${textOf(e)}`);
    }
  }

  /** Keep a message until the returned function is called. Only its owner may read it: it has a token. */
  async keep(subject: string, data: string, headers: Headers): Promise<() => Promise<void>> {
    if (this.folder === "") {
      return async () => {};
    }
    const path = join(this.folder, `${randomBytes(12).toString("hex")}.json`);
    try {
      await mkdir(this.folder, { recursive: true, mode: 0o700 });
      const text = JSON.stringify({ subject, headers, data });
      if ((await this.size()) + Buffer.byteLength(text) > this.most) {
        throw new Error(`it has no room for more: ${this.most} bytes (CARILLON_SPOOL_BYTES)`);
      }
      await writeSynced(`${path}.new`, text);
      await rename(`${path}.new`, path);
    } catch (e) {
      this.log.warn(`the spool ${this.folder} does not take the end of a run, which is kept in memory: ${textOf(e)}`);
      return async () => {};
    }
    return async () => {
      await unlink(path).catch(() => {});
    };
  }

  /** Publish what an earlier process has kept, unless the executor has to stop. */
  async report(bus: Bus, stop: AbortSignal): Promise<void> {
    for (const name of await this.names()) {
      const path = join(this.folder, name);
      const kept = await this.read(path);
      if (kept !== undefined && (await bus.untilStored(kept.subject, () => fitted(kept.data, bus.maxPayload), kept.headers, { stop }))) {
        await unlink(path).catch(() => {});
      }
    }
  }

  private async read(path: string): Promise<Kept | undefined> {
    try {
      const kept = JSON.parse(await readFile(path, "utf8"));
      if (typeof kept.subject === "string" && typeof kept.data === "string" && isObject(kept.headers) && isObject(JSON.parse(kept.data))) {
        return kept;
      }
      throw new Error("fields are missing");
    } catch (e) {
      this.log.warn(`what is in ${path} is no end of a run: ${textOf(e)}`);
      await rename(path, `${path}.refused`).catch(() => {});
      return undefined;
    }
  }

  private async names(): Promise<string[]> {
    const all = this.folder === "" ? [] : await readdir(this.folder).catch(() => []);
    return all.filter((name) => name.endsWith(".json")).sort();
  }

  private async size(): Promise<number> {
    const sizes = (await this.names()).map(async (name) => (await stat(join(this.folder, name)).catch(() => undefined))?.size ?? 0);
    return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
  }
}

async function writeSynced(path: string, text: string): Promise<void> {
  const file = await open(path, "wx", 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}
