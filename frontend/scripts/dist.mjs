// Keeps dist, which is in the repository, together with the sources that it is built from.
//
//   node scripts/dist.mjs write   notes in dist what it was built from; ends a build
//   node scripts/dist.mjs check   fails unless dist is what its sources were built to
//
// The note is two hashes: of the sources, the lock file, which pins the tools, and the configuration;
// and of the files that were built. Tests of the console are no sources of dist.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative, sep } from "node:path";

const root = new URL("../", import.meta.url).pathname;
const note = join(root, "dist/.built-from");
const sources = ["src", "public"];
const single = [
  "index.html",
  "package.json",
  "package-lock.json",
  "tsconfig.json",
  "vite.config.ts",
  "scripts/first.ts",
];
const isTest = /^src\/test\/|\.test\.tsx?$/;

/** The names of the files below a folder, as paths from the console's folder. */
function filesIn(folder) {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((f) => f.isFile())
    .map((f) => relative(root, join(f.parentPath, f.name)).split(sep).join("/"));
}

/** A hash of files: of their names and of what is in them. */
function hash(names) {
  const all = createHash("sha256");
  for (const name of [...names].sort()) {
    const one = createHash("sha256")
      .update(readFileSync(join(root, name)))
      .digest("hex");
    all.update(`${one}  ${name}\n`);
  }
  return all.digest("hex");
}

function current() {
  const from = sources.flatMap(filesIn).filter((name) => !isTest.test(name));
  const built = filesIn("dist").filter((name) => name !== "dist/.built-from");
  return `sources ${hash([...from, ...single])}\nfiles ${hash(built)}\n`;
}

/** The note, empty without one. */
function noted() {
  try {
    return readFileSync(note, "utf8");
  } catch {
    return "";
  }
}

switch (process.argv[2]) {
  case "write":
    writeFileSync(note, current());
    break;
  case "check":
    if (noted() !== current()) {
      console.error(
        "frontend/dist is not built from the sources beside it: run `task console`, and commit frontend/dist",
      );
      process.exit(1);
    }
    break;
  default:
    console.error("want write or check");
    process.exit(2);
}
