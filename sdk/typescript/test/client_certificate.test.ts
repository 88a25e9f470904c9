import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { TLSSocket } from "node:tls";

import { Bus } from "../src/bus";
import { Logger } from "../src/log";
import { complete } from "../src/settings";

/** A certificate for 127.0.0.1 that is its own authority, until 2126, and its key. */
const CERTIFICATE = `
-----BEGIN CERTIFICATE-----
MIIBhzCCASygAwIBAgIUUqU6SicIH/eClwMqrl72MTkJqQgwCgYIKoZIzj0EAwIw
DzENMAsGA1UEAwwEdGVzdDAgFw0yNjExMjkxMDQzMjhaGA8yMTI2MTEwNTEwNDMy
OFowDzENMAsGA1UEAwwEdGVzdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABOT1
fEyX0CemnWOlnkZrN51CsipXN2kiOPojTx49+ATeu+R8zQpA22avZ+t/LPO3T/6A
OJLerEcx4MiQTjGGLkOjZDBiMB0GA1UdDgQWBBS40P0eNJDqRRlKoBWQNDHhdT5U
GDAfBgNVHSMEGDAWgBS40P0eNJDqRRlKoBWQNDHhdT5UGDAPBgNVHREECDAGhwR/
AAABMA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZIzj0EAwIDSQAwRgIhANRDiUgChT7O
/6Gwq0mvx2JvJC6ujuK4xugzaOpq0f/TAiEAiqfox3UzJorIPtjMi2IyeK23VExV
S55CvzZhhv6wCLE=
-----END CERTIFICATE-----
`.trim();
const KEY = `
-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgB+iNmewt+y7AiFEV
xAXKZ98sBhCfWZMnX1bcE38wlPWhRANCAATk9XxMl9Anpp1jpZ5GazedQrIqVzdp
Ijj6I08ePfgE3rvkfM0KQNtmr2frfyzzt0/+gDiS3qxHMeDIkE4xhi5D
-----END PRIVATE KEY-----
`.trim();

function file(text: string): string {
  const path = join(mkdtempSync(join(tmpdir(), "carillon-")), "file.pem");
  writeFileSync(path, text);
  return path;
}

const FILE = file(CERTIFICATE);
const INFO = `INFO ${JSON.stringify({ server_id: "x", version: "2.12.0", headers: true, max_payload: 1 << 20, tls_required: true, tls_verify: true })}\r\n`;

/** A NATS server that asks for a client certificate. It keeps the names in those that it admits. */
async function secureServer(t: TestContext) {
  const admitted: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((plain) => {
    sockets.add(plain);
    plain.write(INFO);
    const secure = new TLSSocket(plain, { isServer: true, requestCert: true, rejectUnauthorized: true, cert: CERTIFICATE, key: KEY, ca: CERTIFICATE });
    plain.on("error", () => {}); // a client that goes
    secure.on("error", () => {}); // one without a certificate
    secure.on("data", (data) => {
      if (String(data).includes("PING")) {
        admitted.push(String(secure.getPeerCertificate().subject.CN));
        secure.write("PONG\r\n");
      }
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    for (const socket of sockets) {
      socket.destroy();
    }
    server.close();
  });
  return { url: `tls://127.0.0.1:${(server.address() as AddressInfo).port}`, admitted };
}

test("an executor connects with a client certificate", async (t) => {
  const { url, admitted } = await secureServer(t);
  const settings = complete({ group: "g", nats: url, caFile: FILE, certFile: FILE, keyFile: file(KEY) }, {});
  const bus = await Bus.connect(settings, new Logger((_level, line) => assert.fail(line)), new AbortController().signal);
  await bus?.close();
  assert.equal(admitted[0], "test");
});

test("without a client certificate it says that NATS asks for one", async (t) => {
  const { url, admitted } = await secureServer(t);
  const stop = new AbortController();
  const lines: string[] = [];
  const log = new Logger((_level, line) => {
    lines.push(line);
    stop.abort();
  });
  assert.equal(await Bus.connect(complete({ group: "g", nats: url, caFile: FILE }, {}), log, stop.signal), undefined);
  assert.match(lines.join(), /asks for a client certificate: set CARILLON_NATS_CERT and CARILLON_NATS_KEY/);
  assert.deepEqual(admitted, []);
});
