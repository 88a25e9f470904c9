import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const root = new URL("../../", import.meta.url).pathname;

/** Builds the program once for all test files, with the console as it is in dist. */
export default function build(): () => void {
  const dir = mkdtempSync(join(tmpdir(), "carillon-bin-"));
  execFileSync("go", ["build", "-o", dir, "./cmd/carillon"], {
    cwd: root,
    stdio: ["ignore", "inherit", "inherit"],
  });
  process.env.CARILLON_BIN = join(dir, "carillon");
  return () => rmSync(dir, { recursive: true, force: true });
}
