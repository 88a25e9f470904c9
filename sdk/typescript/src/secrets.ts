/** Secrets of tasks: opened here, masked in everything that a run says. */

import { createDecipheriv } from "node:crypto";

import type { Bus } from "./bus";
import { ConfigurationError, Failure, textOf } from "./errors";

const LEAST_MASKED = 4; // shorter ones would make holes in every text

/** The key in what `carillon secret key` prints. */
export function keyOf(text: string, group: string): Buffer {
  const [form, of, key = "", ...more] = text.split(".");
  const bytes = Buffer.from(key, "base64url");
  if (form !== "carillon-group-1" || more.length > 0 || bytes.length !== 32) {
    throw new ConfigurationError("the key for secrets is none: take what `carillon secret key` prints");
  }
  if (of !== group) {
    throw new ConfigurationError(`the key for secrets is that of group ${of}, not of ${group}: run carillon secret key -g ${group}`);
  }
  return bytes;
}

/** The value of a sealed secret. */
export function openSecret(key: Buffer, group: string, name: string, sealed: string): string {
  const data = Buffer.from(sealed, "base64");
  const cipher = createDecipheriv("aes-256-gcm", key, data.subarray(0, 12), { authTagLength: 16 });
  cipher.setAAD(Buffer.from(`${group}/${name}`));
  cipher.setAuthTag(data.subarray(-16));
  return Buffer.concat([cipher.update(data.subarray(12, -16)), cipher.final()]).toString("utf8");
}

/** Replaces secrets of four bytes and more by ***, also as they look in URLs and in JSON. */
export function masker(values: Record<string, string>): (text: string) => string {
  const forms = new Set<string>();
  for (const part of Object.values(values).flatMap((value) => value.split("\n"))) {
    const secret = part.trim();
    if (Buffer.byteLength(secret) >= LEAST_MASKED) {
      const inUrl = encodeURIComponent(secret.toWellFormed());
      for (const form of [secret, inUrl, inUrl.replaceAll("%20", "+"), encodeURI(secret.toWellFormed()), JSON.stringify(secret).slice(1, -1)]) {
        forms.add(form);
      }
    }
  }
  const longest = [...forms].sort((a, b) => b.length - a.length || (a < b ? -1 : 1)); // a secret may begin with another
  return (text) => longest.reduce((masked, form) => masked.replaceAll(form, "***"), text);
}

/** The secrets that a task asks for, by variable. A run without one of them must not begin. */
export async function fetchSecrets(bus: Bus, key: Buffer | undefined, group: string, wanted: Record<string, string>): Promise<Record<string, string>> {
  const secrets: Record<string, string> = {};
  for (const [variable, name] of Object.entries(wanted)) {
    if (key === undefined) {
      throw new Failure("the task asks for secrets, and this executor has no key for them: set CARILLON_SECRET_KEY_FILE");
    }
    secrets[variable] = await fetchSecret(bus, key, group, name);
  }
  return secrets;
}

async function fetchSecret(bus: Bus, key: Buffer, group: string, name: string): Promise<string> {
  const m = await bus.request(`$JS.API.DIRECT.GET.KV_SECRET.$KV.SECRET.${group}.${name}`, "").catch((e: unknown) => {
    throw new Failure(`secret ${JSON.stringify(name)} cannot be read from NATS: ${textOf(e)}`);
  });
  if (m.data.length === 0) {
    throw new Failure(`there is no secret ${JSON.stringify(name)} in group ${group}; set it with: carillon secret set ${name} -g ${group}`);
  }
  try {
    return openSecret(key, group, name, JSON.parse(m.string()).sealed);
  } catch {
    throw new Failure(`secret ${JSON.stringify(name)} does not open with this executor's key: is it that of another master key?`);
  }
}
