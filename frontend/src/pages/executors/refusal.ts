import type { Instance } from "@/api/schema.gen";
import type { Sayer } from "@/lib/reason";

/** Why servers refused a message of an executor: the field that is wrong, and what is wrong with it. */
export const refusedFor = (i: Instance, say: Sayer["say"]) =>
  [i.refused_for?.field, say(i.refused_for?.why)].filter(Boolean).join(" ");
