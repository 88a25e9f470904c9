// Writes the brotli and gzip forms of each text file of dist beside it, where they
// are smaller. The server sends them as they are.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const dist = new URL("../dist/", import.meta.url).pathname;
const texts = /\.(js|css|html|svg|txt)$/;

for (const file of readdirSync(dist, { recursive: true, withFileTypes: true })) {
  if (!file.isFile() || !texts.test(file.name)) continue;
  const path = join(file.parentPath, file.name);
  const raw = readFileSync(path);
  const brotli = brotliCompressSync(raw, {
    params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: raw.length },
  });
  const gzip = gzipSync(raw, { level: 9 });
  if (brotli.length < raw.length) writeFileSync(`${path}.br`, brotli);
  if (gzip.length < raw.length) writeFileSync(`${path}.gz`, gzip);
}
