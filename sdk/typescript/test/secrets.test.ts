import assert from "node:assert/strict";
import { createCipheriv, randomBytes } from "node:crypto";
import { test } from "node:test";

import { keyOf, masker, openSecret } from "../src/secrets";

test("a sealed secret opens with the key of its group, and with no other", () => {
  const bytes = randomBytes(32);
  const key = keyOf(`carillon-group-1.billing.${bytes.toString("base64url")}`, "billing");
  const nonce = randomBytes(12);
  const cipher = createCipheriv("aes-256-gcm", bytes, nonce);
  cipher.setAAD(Buffer.from("billing/db"));
  const sealed = Buffer.concat([nonce, cipher.update("hünter2"), cipher.final(), cipher.getAuthTag()]).toString("base64");
  assert.equal(openSecret(key, "billing", "db", sealed), "hünter2");
  assert.throws(() => openSecret(key, "other", "db", sealed));
  assert.throws(() => openSecret(randomBytes(32), "billing", "db", sealed));
});

test("secrets are masked as they are, in URLs and in JSON, the longest first; short ones are not", () => {
  const mask = masker({ A: 'p"ss word', B: "p\"ss word and more", C: "abc", D: "line one\nline two" });
  for (const text of ['p"ss word', "p%22ss+word", "p%22ss%20word", 'p\\"ss word', "line one", "line two", 'p"ss word and more']) {
    assert.equal(mask(`<${text}>`), "<***>");
  }
  assert.equal(mask("abc"), "abc");
});
