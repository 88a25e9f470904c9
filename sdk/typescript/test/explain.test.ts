import assert from "node:assert/strict";
import { test } from "node:test";

import { nkeys } from "@nats-io/transport-node";

import { explain, whyNot } from "../src/bus";
import { complete } from "../src/settings";

const AT = { group: "billing", nats: "nats://n1:4222" };
const WITHOUT = complete(AT, {});
const WITH = complete(AT, { CARILLON_CREDENTIAL: Buffer.from(nkeys.createUser().getSeed()).toString() });

test("why there is no connection says what to do", () => {
  const cases: Array<[name: string, settings: typeof WITH, error: unknown, says: string]> = [
    ["no credential", WITHOUT, new Error("Authorization Violation"), "NATS at nats://n1:4222 wants a credential: set CARILLON_CREDENTIAL_FILE; make one with: carillon credential create NAME -g billing --file FILE (Authorization Violation)"],
    ["a credential that is refused", WITH, new Error("'Authorization Violation'"), "refuses the credential: is it for group billing, and not revoked? Else make one with: carillon credential create NAME -g billing"],
    ["one that expired", WITH, new Error("User Authentication Expired"), "refuses the credential"],
    ["nothing there", WITH, new Error("connection refused", { cause: new Error("connect ECONNREFUSED 10.0.0.1:4222") }), "cannot connect to NATS at nats://n1:4222: connection refused: connect ECONNREFUSED 10.0.0.1:4222; is it running, and is CARILLON_NATS right?"],
    ["no answer", WITH, new Error("timeout"), "cannot connect to NATS at nats://n1:4222: timeout; is it running"],
    ["an unknown certificate", WITH, new Error("closed", { cause: new Error("unable to verify the first certificate") }), "by TLS: closed: unable to verify the first certificate; CARILLON_NATS_CA must name the file of its certificate authority"],
    ["a certificate of its own", WITH, new Error("self-signed"), "CARILLON_NATS_CA must name"],
    ["a client certificate that is refused", WITH, new Error("closed", { cause: new Error("tlsv1.3 alert bad certificate") }), "asks for a client certificate: set CARILLON_NATS_CERT and CARILLON_NATS_KEY (closed: tlsv1.3"],
    ["one text twice", WITH, new Error("lost", { cause: new Error("lost") }), ": lost; is it running"],
    ["what is no error", WITH, "gone", "cannot connect to NATS at nats://n1:4222: gone; is it running"],
  ];
  for (const [name, settings, error, says] of cases) {
    const text = whyNot(error, settings);
    assert.ok(text.includes(says), `${name}: ${text}`);
  }
});

test("an error of a connection says what to do, and no secret", () => {
  const secret = "0123456789abcdef".repeat(3).slice(0, 40);
  const cases: Array<[settings: typeof WITH, error: string, says: string]> = [
    [WITH, 'Permissions Violation for Publish to "evt.3.other"', 'Permissions Violation for Publish to "evt.3.other"; each credential is for one group: check that this one is for group billing'],
    [WITH, `Permissions Violation for Subscription to "exec.billing.web1-4711-k3x9qa-${secret}.*"`, 'Permissions Violation for Subscription to "exec.billing.web1-4711-k3x9qa-….*"; each credential is for one group'],
    [WITH, "User Authentication Revoked", "it refuses the credential: is it for group billing, and not revoked?"],
    [WITHOUT, "Authorization Violation", "it wants a credential: set CARILLON_CREDENTIAL_FILE"],
    [WITH, "Slow Consumer", "Slow Consumer"],
  ];
  for (const [settings, error, says] of cases) {
    const text = explain(new Error(error), settings);
    assert.ok(text.startsWith(says) && !text.includes(secret), text);
  }
});
