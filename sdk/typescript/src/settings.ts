/** The settings of an executor: options first, then the variables that `carillon executor` reads. */

import { createPrivateKey, randomInt, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { hostname } from "node:os";

import { nkeys } from "@nats-io/transport-node";

import { ConfigurationError, textOf } from "./errors";
import { keyOf } from "./secrets";
import { milliseconds } from "./time";
import { isWhole } from "./trigger";
import { isSlug, MAX_LABELS, MAX_VERSION } from "./wire";

/** What is not set is read from the environment. */
export interface Options {
  /** The executor group. Defaults to CARILLON_GROUP. */
  group?: string;
  /** NATS servers, separated by commas. Defaults to CARILLON_NATS, else nats://127.0.0.1:4222. */
  nats?: string;
  /** The seed that `carillon credential create` writes. Defaults to the file CARILLON_CREDENTIAL_FILE, else CARILLON_CREDENTIAL. */
  credential?: string;
  /** Certificate authorities for NATS. Defaults to CARILLON_NATS_CA, else the system's. */
  caFile?: string;
  /** A client certificate for NATS. Defaults to CARILLON_NATS_CERT. */
  certFile?: string;
  /** Its key. Defaults to CARILLON_NATS_KEY. */
  keyFile?: string;
  /** A name that no other instance of the group has. Defaults to CARILLON_INSTANCE, else one is made. */
  instance?: string;
  /** How many runs there may be at once. Defaults to CARILLON_SLOTS, else 32. */
  slots?: number;
  /** Tell instances apart. Defaults to CARILLON_LABEL: KEY=VALUE, separated by semicolons. */
  labels?: Record<string, string>;
  /** How long live runs may take to end when the executor stops. Defaults to CARILLON_GRACE, else 30s. */
  grace?: string;
  /** A folder that keeps ends of runs which NATS has not taken, across a restart. Defaults to CARILLON_SPOOL. */
  spool?: string;
  /** How much it may hold. Defaults to CARILLON_SPOOL_BYTES, else 64 MiB. */
  spoolBytes?: number;
  /** What `carillon secret key` prints. Defaults to the file CARILLON_SECRET_KEY_FILE, else CARILLON_SECRET_KEY. */
  secretKey?: string;
  /** How many lines an attempt may log. Defaults to CARILLON_MAX_LOG_LINES, else 1,000,000. */
  maxLogLines?: number;
  /** How many bytes. Defaults to CARILLON_MAX_LOG_BYTES, else 64 MiB. */
  maxLogBytes?: number;
  /** The version of your program, for people. */
  version?: string;
}

export interface Settings {
  group: string;
  servers: string[];
  credential: string;
  tls: { caFile?: string; certFile?: string; keyFile?: string } | undefined;
  instance: string;
  slots: number;
  labels: Record<string, string>;
  grace: number;
  spool: string;
  spoolBytes: number;
  secretKey: Buffer | undefined;
  logLimits: { lines: number; bytes: number };
  version: string;
}

type Env = Record<string, string | undefined>;

/** Fill what is not set from the environment, and check everything. */
export function complete(options: Options, env: Env = process.env): Settings {
  const group = slug("group", options.group ?? env.CARILLON_GROUP ?? "", "CARILLON_GROUP");
  const tls = tlsOf({
    ...optional("caFile", options.caFile ?? env.CARILLON_NATS_CA),
    ...optional("certFile", options.certFile ?? env.CARILLON_NATS_CERT),
    ...optional("keyFile", options.keyFile ?? env.CARILLON_NATS_KEY),
  });
  const secretKey = options.secretKey ?? key(env, "CARILLON_SECRET_KEY");
  return {
    group,
    servers: (options.nats || env.CARILLON_NATS || "nats://127.0.0.1:4222").split(",").map((server) => server.trim()),
    credential: seed(options.credential ?? key(env, "CARILLON_CREDENTIAL")),
    tls,
    instance: slug("instance", options.instance || env.CARILLON_INSTANCE || madeUpName(), "CARILLON_INSTANCE"),
    slots: whole(options.slots, env, "CARILLON_SLOTS", 32, 10_000),
    labels: fits("labels", options.labels ?? labels(env.CARILLON_LABEL ?? ""), MAX_LABELS),
    grace: time(options.grace, env, "CARILLON_GRACE", 30_000),
    spool: options.spool ?? env.CARILLON_SPOOL ?? "",
    spoolBytes: whole(options.spoolBytes, env, "CARILLON_SPOOL_BYTES", 64 << 20),
    secretKey: secretKey === "" ? undefined : keyOf(secretKey, group),
    logLimits: {
      lines: whole(options.maxLogLines, env, "CARILLON_MAX_LOG_LINES", 1_000_000),
      bytes: whole(options.maxLogBytes, env, "CARILLON_MAX_LOG_BYTES", 64 << 20),
    },
    version: fits("version", options.version ?? "", MAX_VERSION),
  };
}

/** What has at most so many bytes, as JSON or as a text. */
function fits<T>(name: string, value: T, most: number): T {
  const bytes = Buffer.byteLength(typeof value === "string" ? value : JSON.stringify(value));
  if (bytes > most) {
    throw new ConfigurationError(`${name} has ${bytes} bytes; at most ${most} are allowed`);
  }
  return value;
}

function optional(name: string, value: string | undefined): Record<string, string> {
  return value ? { [name]: value } : {};
}

function slug(name: string, text: string, variable: string): string {
  if (text === "") {
    throw new ConfigurationError(`${name} is missing: set it, or the variable ${variable}`);
  }
  if (!isSlug(text)) {
    throw new ConfigurationError(`${name} ${JSON.stringify(text)} must be 1 to 63 of a-z 0-9 - _, the first a letter or digit`);
  }
  return text;
}

/** A key from the file that VARIABLE_FILE names, or from the variable, which is removed: child
 * processes get the environment. */
function key(env: Env, variable: string): string {
  const file = env[`${variable}_FILE`];
  if (file) {
    const text = readText(file, `${variable}_FILE`).trim();
    if (text === "") {
      throw new ConfigurationError(`${variable}_FILE ${JSON.stringify(file)} is empty: it must have a key`);
    }
    return text;
  }
  const text = (env[variable] ?? "").trim();
  delete env[variable];
  return text;
}

function readText(file: string, name: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (e) {
    throw new ConfigurationError(`${name} ${JSON.stringify(file)} cannot be read: ${textOf(e)}`);
  }
}

/** Files for TLS, which are looked at now: NATS' client would fail at each try. */
function tlsOf(files: { caFile?: string; certFile?: string; keyFile?: string }): Settings["tls"] {
  const { caFile, certFile, keyFile } = files;
  if ((certFile === undefined) !== (keyFile === undefined)) {
    throw new ConfigurationError("CARILLON_NATS_CERT and CARILLON_NATS_KEY belong together: set both, or neither");
  }
  if (caFile !== undefined) {
    pem("CARILLON_NATS_CA", caFile, "certificates", (text) => new X509Certificate(text));
  }
  if (certFile !== undefined && keyFile !== undefined) {
    const key = pem("CARILLON_NATS_KEY", keyFile, "a private key", createPrivateKey);
    const certificate = pem("CARILLON_NATS_CERT", certFile, "a certificate", (text) => new X509Certificate(text));
    if (!certificate.checkPrivateKey(key)) {
      throw new ConfigurationError(`CARILLON_NATS_KEY ${JSON.stringify(keyFile)} must have the key of the certificate in ${JSON.stringify(certFile)}`);
    }
  }
  return Object.keys(files).length > 0 ? files : undefined;
}

function pem<T>(variable: string, file: string, what: string, read: (text: string) => T): T {
  const text = readText(file, variable);
  try {
    return read(text);
  } catch (e) {
    throw new ConfigurationError(`${variable} ${JSON.stringify(file)} must be a file of ${what} in PEM: ${textOf(e)}`);
  }
}

function seed(text: string): string {
  if (text.trim() !== "" && !isSeed(text.trim())) {
    throw new ConfigurationError("the credential is not the seed of an nkey (SU…): take the file that `carillon credential create` writes");
  }
  return text.trim();
}

function isSeed(text: string): boolean {
  try {
    nkeys.fromSeed(Buffer.from(text));
    return text.startsWith("SU");
  } catch {
    return false;
  }
}

function whole(given: number | undefined, env: Env, variable: string, otherwise: number, most = Number.MAX_SAFE_INTEGER): number {
  const text = env[variable] ?? "";
  const value = given ?? (text === "" ? otherwise : Number(text));
  if (!isWhole(value, 1) || value > most) {
    const range = most < Number.MAX_SAFE_INTEGER ? `between 1 and ${most}` : "of at least 1";
    throw new ConfigurationError(`${variable} ${JSON.stringify(given ?? text)} must be a whole number ${range}`);
  }
  return value;
}

function time(given: string | undefined, env: Env, variable: string, otherwise: number): number {
  const text = given ?? env[variable] ?? "";
  try {
    return text === "" ? otherwise : milliseconds(text);
  } catch (e) {
    throw new ConfigurationError(`${variable} ${textOf(e)}`);
  }
}

function labels(text: string): Record<string, string> {
  const all: Record<string, string> = {};
  for (const part of text.split(";").map((p) => p.trim())) {
    const at = part.indexOf("=");
    if (part !== "" && at < 1) {
      throw new ConfigurationError(`CARILLON_LABEL ${JSON.stringify(part)} must be KEY=VALUE`);
    }
    if (part !== "") {
      all[part.slice(0, at)] = part.slice(at + 1);
    }
  }
  return all;
}

function madeUpName(): string {
  const host = hostname().toLowerCase().replaceAll(/[^a-z0-9_-]/g, "-").slice(0, 40).replaceAll(/^[-_]+|[-_]+$/g, "");
  const letters = randomInt(36 ** 6).toString(36).padStart(6, "0");
  return `${host || "host"}-${process.pid}-${letters}`;
}
