// Builds the console anew, beside dist, and fails when a file differs from the one in dist: what is
// embedded is what its sources say. Then it fails when the console has grown beyond its budgets: what a
// first visit loads, any page after that, the layout of graphs, the code editor, and all of it in the program.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "vite";

const dist = new URL("../dist/", import.meta.url).pathname;
const anew = new URL("../../.cache/console/", import.meta.url).pathname;
const kB = 1000;
const text = /\.(js|css|html|svg|txt)$/;
const raw = (path) => readFileSync(path).length;
/** The size as the server sends it. */
const gzip = (path) => (text.test(path) ? gzipSync(readFileSync(path), { level: 9 }).length : raw(path));
const sum = (paths, size) => paths.reduce((n, p) => n + size(p), 0);
const filesIn = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((f) => f.isFile())
    .map((f) => join(f.parentPath, f.name));

await build({ logLevel: "error", build: { outDir: anew, emptyOutDir: true, manifest: "manifest.json" } });
const manifest = JSON.parse(readFileSync(join(anew, "manifest.json"), "utf8"));

const names = (folder) => filesIn(folder).map((path) => path.slice(folder.length));
const ours = new Set(names(dist).filter((name) => name !== ".built-from"));
const theirs = new Set(names(anew).filter((name) => name !== "manifest.json"));
const different = [...new Set([...ours, ...theirs])].filter(
  (name) =>
    !ours.has(name) ||
    !theirs.has(name) ||
    !readFileSync(join(dist, name)).equals(readFileSync(join(anew, name))),
);
if (different.length > 0) {
  console.error(
    `frontend/dist differs from a build of its sources: run \`task console\`, and commit it\n${different.join("\n")}`,
  );
  process.exit(1);
}

const chunks = Object.values(manifest);
const file = (chunk) => join(dist, chunk.file);

/** A chunk and all that it imports statically. */
function closure(chunk, seen = new Set()) {
  if (seen.has(chunk)) return seen;
  seen.add(chunk);
  for (const key of chunk.imports ?? []) closure(manifest[key], seen);
  return seen;
}

const entry = chunks.find((c) => c.isEntry);
const overview = manifest["src/pages/overview/OverviewPage.tsx"];
// Of the languages, the one that is larger.
const language = ["en", "zh"]
  .map((l) => manifest[`src/i18n/${l}/index.ts`])
  .reduce((a, b) => (gzip(file(a)) > gzip(file(b)) ? a : b));
const first = [...closure(language, closure(overview, closure(entry)))];
const scripts = first.map(file).concat(join(dist, "theme.js"));
const css = [...new Set(first.flatMap((c) => c.css ?? []))].map((f) => join(dist, f));
const assets = readdirSync(join(dist, "assets")).map((f) => join(dist, "assets", f));
const workers = assets.filter((f) => /\.worker-[^/]*\.js$/.test(f));
const fonts = assets.filter((f) => f.endsWith(".woff2"));
const rest = chunks.filter((c) => c.file.endsWith(".js") && !first.includes(c));
const isEditor = (c) => /\/code\/|setup/.test(c.src ?? c.file);
const pages = rest.filter((c) => !isEditor(c));
const largest = pages.reduce((a, b) => (gzip(file(a)) > gzip(file(b)) ? a : b));
const editor = [...new Set(rest.filter(isEditor).flatMap((c) => [...closure(c)]))].filter(
  (c) => !first.includes(c),
);
const rows = [
  ["first visit: JavaScript, gzip", sum(scripts, gzip), 180 * kB],
  ["first visit: CSS, gzip", sum(css, gzip), 14 * kB],
  ["fonts", sum(fonts, raw), 52 * kB],
  [
    "first visit: all, gzip, with fonts",
    sum([...scripts, ...css, ...fonts, join(dist, "index.html")], gzip),
    245 * kB,
  ],
  [`largest other chunk (${largest.file.split("/").at(-1)}), gzip`, gzip(file(largest)), 40 * kB],
  ["layout of graphs, gzip", sum(workers, gzip), 40 * kB],
  ["code editor, gzip", sum(editor.map(file), gzip), 180 * kB],
  ["all of dist, in the program", sum(filesIn(dist), raw), 2325 * kB],
];

let failed = false;
for (const [what, size, budget] of rows) {
  const over = size > budget;
  failed ||= over;
  console.log(
    `${over ? "OVER " : "ok   "} ${(size / kB).toFixed(1).padStart(8)} of ${String(budget / kB).padStart(5)} kB  ${what}`,
  );
}
process.exit(failed ? 1 : 0);
