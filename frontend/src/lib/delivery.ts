import type { Delivery } from "@/api/schema.gen";
import type { Tone } from "./status";

/** What became of a message: its state, or that it is tried again because it did not get through. */
export type Outcome = Delivery["state"] | "retrying";

export const deliveryTones: Record<Outcome, Tone> = {
  failed: "bad",
  retrying: "bad",
  waiting: "idle",
  dropped: "idle",
  sent: "ok",
};

export function outcomeOf({ state, tried_at }: Delivery): Outcome {
  return state === "waiting" && tried_at ? "retrying" : state;
}

/** The gravest outcome first. */
const gravity = Object.keys(deliveryTones) as Outcome[];

/** What became of an incident's newest message to each channel: the gravest outcome, and the channels with it. */
export function resultOf(
  deliveries: readonly Delivery[],
): { outcome: Outcome; channels: string[] } | undefined {
  const newest = new Map(deliveries.map((d) => [d.channel, outcomeOf(d)]));
  const outcomes = [...newest.values()];
  const outcome = gravity.find((o) => outcomes.includes(o));
  return outcome && { outcome, channels: [...newest].filter(([, o]) => o === outcome).map(([c]) => c) };
}
