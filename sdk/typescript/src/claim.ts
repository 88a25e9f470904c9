/** The claim of an at_most_once attempt: it starts only where the claim is stored. */

import { randomBytes } from "node:crypto";

import { type Bus, Refused } from "./bus";
import { pause } from "./time";
import type { Trigger } from "./trigger";
import { EXPECTED } from "./wire";

/** Another instance has the attempt. */
export class Dropped extends Error {
  override name = "Dropped";
}

const CLAIMED = 10071;

export class Claim {
  private readonly subject: string;
  private readonly body: { instance: string; delivery: number; try: string };

  constructor(
    private readonly bus: Bus,
    trigger: Trigger,
    instance: string,
  ) {
    this.subject = `$KV.CLAIM.${trigger.group}.${trigger.key}`;
    this.body = { instance, delivery: trigger.delivered, try: randomBytes(8).toString("hex") };
  }

  /** Store the claim. Throws Dropped if another instance has it, or the signal's reason if the attempt has to end before. */
  async take(signal: AbortSignal): Promise<void> {
    const headers = { [EXPECTED]: "0", "Nats-TTL": "744h" };
    for (let unanswered = false; ; signal.throwIfAborted()) {
      try {
        await this.bus.stored(this.subject, JSON.stringify(this.body), headers);
        return;
      } catch (e) {
        if (!(e instanceof Refused)) {
          unanswered = true; // it may have been stored
          await pause(250, signal);
        } else if (e.code !== CLAIMED) {
          await pause(500, signal); // with 10164, another claim is in flight, and may get lost
        } else if (unanswered && (await this.holder(signal)) === this.body.try) {
          return;
        } else {
          throw new Dropped("another instance has claimed the attempt");
        }
      }
    }
  }

  /** The try that is stored. A replica that lags behind may not have it yet. */
  private async holder(signal: AbortSignal): Promise<unknown> {
    for (; ; signal.throwIfAborted()) {
      try {
        return JSON.parse((await this.bus.request(`$JS.API.DIRECT.GET.KV_CLAIM.${this.subject}`, "")).string()).try;
      } catch {
        await pause(500, signal);
      }
    }
  }

  /** Say that the attempt's end is stored, so that the claim need not be kept for long. */
  async release(): Promise<void> {
    const body = { ...this.body, ended: true };
    await this.bus.stored(this.subject, JSON.stringify(body), { "Nats-TTL": "10m" }).catch(() => {}); // it ends by itself, later
  }
}
