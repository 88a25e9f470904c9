// Fails when the built console has grown beyond its budgets: what a first visit loads,
// any page after that, the code editor, and all of it in the program.
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

const dist = new URL("../dist/", import.meta.url).pathname;
const kB = 1000;
// The size of the first form that there is: what packing makes no smaller is left out.
const form = (path, ...endings) =>
  statSync(endings.map((e) => path + e).find((p) => existsSync(p)) ?? path).size;
const gzip = (path) => form(path, ".gz");
const wire = (path) => form(path, ".br", ".gz");
const sum = (paths, size) => paths.reduce((n, p) => n + size(p), 0);

const manifest = JSON.parse(
  readFileSync(new URL("../node_modules/.vite/manifest.json", import.meta.url), "utf8"),
);
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
const fonts = assets.filter((f) => f.endsWith(".woff2"));
const rest = chunks.filter((c) => c.file.endsWith(".js") && !first.includes(c));
const isEditor = (c) => /\/code\/|setup/.test(c.src ?? c.file);
const pages = rest.filter((c) => !isEditor(c));
const largest = pages.reduce((a, b) => (gzip(file(a)) > gzip(file(b)) ? a : b));
const editor = [...new Set(rest.filter(isEditor).flatMap((c) => [...closure(c)]))].filter(
  (c) => !first.includes(c),
);
const everything = readdirSync(dist, { recursive: true, withFileTypes: true })
  .filter((f) => f.isFile())
  .map((f) => join(f.parentPath, f.name));

const rows = [
  ["first visit: JavaScript, gzip", sum(scripts, gzip), 180 * kB],
  ["first visit: CSS, gzip", sum(css, gzip), 14 * kB],
  ["fonts", sum(fonts, (p) => statSync(p).size), 52 * kB],
  [
    "first visit on the wire, brotli, with fonts",
    sum([...scripts, ...css, ...fonts, join(dist, "index.html")], wire),
    225 * kB,
  ],
  [`largest other chunk (${largest.file.split("/").at(-1)}), gzip`, gzip(file(largest)), 40 * kB],
  ["code editor, gzip", sum(editor.map(file), gzip), 180 * kB],
  ["all of dist, in the program", sum(everything, (p) => statSync(p).size), 1500 * kB],
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
