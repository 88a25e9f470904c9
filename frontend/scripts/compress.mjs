// Leaves of each text file of dist its brotli and gzip forms, which the server sends as
// they are: the program need not hold what a browser never asks for. Where gzip makes a
// file no smaller, it stays. What Vite tells of its chunks is for scripts/budgets.mjs.
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const dist = new URL("../dist/", import.meta.url).pathname;
const notes = new URL("../node_modules/.vite/", import.meta.url).pathname;
const texts = /\.(js|css|html|svg|txt)$/;

for (const file of readdirSync(dist, { recursive: true, withFileTypes: true })) {
  if (!file.isFile() || !texts.test(file.name)) continue;
  const path = join(file.parentPath, file.name);
  const raw = readFileSync(path);
  const brotli = brotliCompressSync(raw, {
    params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: raw.length },
  });
  const gzip = gzipSync(raw, { level: 9 });
  if (gzip.length >= raw.length) continue;
  writeFileSync(`${path}.gz`, gzip);
  if (brotli.length < gzip.length) writeFileSync(`${path}.br`, brotli);
  rmSync(path);
}

mkdirSync(notes, { recursive: true });
renameSync(join(dist, ".vite/manifest.json"), join(notes, "manifest.json"));
rmSync(join(dist, ".vite"), { recursive: true });
