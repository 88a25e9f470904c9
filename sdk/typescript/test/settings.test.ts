import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { rootCertificates } from "node:tls";

import { nkeys } from "@nats-io/transport-node";

import { ConfigurationError } from "../src/errors";
import { complete } from "../src/settings";

const SEED = Buffer.from(nkeys.createUser().getSeed()).toString();

function file(text: string): string {
  const path = join(mkdtempSync(join(tmpdir(), "carillon-")), "file");
  writeFileSync(path, text);
  return path;
}

const CA = file(rootCertificates.slice(0, 2).join("\n"));
const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
const KEY = file(privateKey.export({ type: "pkcs8", format: "pem" }).toString());

test("settings come from the environment", () => {
  const s = complete({ slots: 4 }, { CARILLON_GROUP: "g", CARILLON_SLOTS: "8", CARILLON_LABEL: "zone=eu;disk=ssd", CARILLON_GRACE: "1m", CARILLON_NATS_CA: CA });
  assert.deepEqual([s.slots, s.labels, s.grace, s.servers, s.tls], [4, { zone: "eu", disk: "ssd" }, 60_000, ["nats://127.0.0.1:4222"], { caFile: CA }]);
  assert.match(s.instance, /^[a-z0-9][a-z0-9_-]*-\d+-[a-z0-9]{6}$/);
});

test("a wrong setting is named, with what would be right", () => {
  const wrong: Array<[env: Record<string, string>, message: RegExp]> = [
    [{}, /CARILLON_GROUP/],
    [{ CARILLON_GROUP: "Billing!" }, /group "Billing!" must be/],
    [{ CARILLON_GROUP: "g", CARILLON_INSTANCE: "-" }, /instance "-" must be/],
    [{ CARILLON_GROUP: "g", CARILLON_SLOTS: "many" }, /CARILLON_SLOTS "many" must be a whole number/],
    [{ CARILLON_GROUP: "g", CARILLON_SLOTS: "0" }, /between 1 and 10000/],
    [{ CARILLON_GROUP: "g", CARILLON_GRACE: "30" }, /CARILLON_GRACE "30" must be a duration/],
    [{ CARILLON_GROUP: "g", CARILLON_LABEL: "zone" }, /CARILLON_LABEL "zone" must be KEY=VALUE/],
    [{ CARILLON_GROUP: "g", CARILLON_LABEL: `zone=${"x".repeat(8192)}` }, /labels has 8203 bytes; at most 8192 are allowed/],
    [{ CARILLON_GROUP: "g", CARILLON_CREDENTIAL_FILE: "/nowhere" }, /CARILLON_CREDENTIAL_FILE "\/nowhere" cannot be read/],
    [{ CARILLON_GROUP: "g", CARILLON_CREDENTIAL: "secret" }, /carillon credential create/],
    [{ CARILLON_GROUP: "g", CARILLON_CREDENTIAL: `${SEED.slice(0, -4)}AAAA` }, /is not the seed of an nkey/],
    [{ CARILLON_GROUP: "g", CARILLON_CREDENTIAL_FILE: file("\n") }, /CARILLON_CREDENTIAL_FILE ".*" is empty/],
    [{ CARILLON_GROUP: "g", CARILLON_SECRET_KEY_FILE: file("") }, /CARILLON_SECRET_KEY_FILE ".*" is empty/],
    [{ CARILLON_GROUP: "g", CARILLON_NATS_CA: "/nowhere" }, /CARILLON_NATS_CA "\/nowhere" cannot be read/],
    [{ CARILLON_GROUP: "g", CARILLON_NATS_CA: file("nothing") }, /CARILLON_NATS_CA ".*" must be a file of certificates/],
    [{ CARILLON_GROUP: "g", CARILLON_NATS_CERT: CA }, /CARILLON_NATS_CERT and CARILLON_NATS_KEY belong together/],
    [{ CARILLON_GROUP: "g", CARILLON_NATS_CERT: CA, CARILLON_NATS_KEY: CA }, /CARILLON_NATS_KEY ".*" must be a file of a private key/],
    [{ CARILLON_GROUP: "g", CARILLON_NATS_CERT: KEY, CARILLON_NATS_KEY: KEY }, /CARILLON_NATS_CERT ".*" must be a file of a certificate/],
    [{ CARILLON_GROUP: "g", CARILLON_NATS_CERT: CA, CARILLON_NATS_KEY: KEY }, /must have the key of the certificate/],
    [{ CARILLON_GROUP: "g", CARILLON_SECRET_KEY: "x" }, /carillon secret key/],
    [{ CARILLON_GROUP: "g", CARILLON_SECRET_KEY: `carillon-group-1.other.${"A".repeat(43)}` }, /group other, not of g/],
  ];
  for (const [env, message] of wrong) {
    assert.throws(() => complete({}, env), (e) => e instanceof ConfigurationError && message.test(e.message), String(message));
  }
});

test("a credential is read from its file, and one in the environment is removed from it", () => {
  assert.equal(complete({}, { CARILLON_GROUP: "g", CARILLON_CREDENTIAL_FILE: file(`${SEED}\n`) }).credential, SEED);
  const env: Record<string, string | undefined> = { CARILLON_GROUP: "g", CARILLON_CREDENTIAL: SEED };
  assert.equal(complete({}, env).credential, SEED);
  assert.equal("CARILLON_CREDENTIAL" in env, false);
});
