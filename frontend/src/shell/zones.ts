import { localZone } from "@/lib/format";

/** The zones that the chip and the key z go through. */
export const zones = localZone === "UTC" ? ["local"] : ["local", "UTC"];

export function nextZone(zone: string): string {
  return zones[(zones.indexOf(zone) + 1) % zones.length] ?? "local";
}
