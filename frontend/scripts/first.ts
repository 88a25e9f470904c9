import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

const src = new URL("../src/", import.meta.url).pathname;
const imports = /^import (?!type\b)(?:(?:[^"]*?\{([^}]*)\}|[^"]*?) from )?"([^"]+)";/gm;

/** What a first visit loads: the modules below some entries, and the icons that these show. */
export function firstVisit(...entries: string[]): { modules: Set<string>; icons: Set<string> } {
  const modules = new Set<string>();
  const icons = new Set<string>();
  const visit = (file: string) => {
    if (modules.has(file)) return;
    modules.add(file);
    for (const [, names = "", from = ""] of readFileSync(file, "utf8").matchAll(imports)) {
      if (from === "lucide-react") {
        for (const name of names.matchAll(/(?<!type )\b[A-Z]\w*/g)) icons.add(name[0].toLowerCase());
      }
      const path = from.startsWith("@/") ? join(src, from.slice(2)) : join(dirname(file), from);
      const found = [".ts", ".tsx", "/index.ts"].map((end) => path + end).find((p) => existsSync(p));
      if (found && (from.startsWith("@/") || from.startsWith("."))) visit(found);
    }
  };
  for (const entry of entries) visit(join(src, entry));
  return { modules, icons };
}
