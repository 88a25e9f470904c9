import type { Program } from "./program.ts";

/** Saves a job that fails, which ann owns, and one that succeeds, which bob owns, both with the same tag. */
export async function arrangeOwners(p: Program, more: Record<string, unknown>): Promise<void> {
  const jobs = { report: ["ann", "echo the disk is full >&2; exit 4"], sync: ["bob", "true"] } as const;
  for (const [name, [owner, shell]] of Object.entries(jobs))
    await p.job(`default/${name}`, shell, { owner, tags: ["money"], ...more });
}
