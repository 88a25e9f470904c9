import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";

/** Utilities, which mean the same on whatever element they are. */
const utilities = /^(c|s)-|^(trunc|grow|plain)$/;

// A word such as "off" is a state of many things. A rule for the bare word would style them all.
it("no class that is a state of several things has a rule of its own", () => {
  const files = readdirSync("src", { recursive: true, encoding: "utf8" }).filter((f) => f.endsWith(".css"));
  const bare = new Set<string>();
  const bases = new Map<string, Set<string>>();
  for (const file of files) {
    const css = readFileSync(`src/${file}`, "utf8").replace(/\/\*[\s\S]*?\*\//g, "");
    for (const [, list = ""] of css.matchAll(/([^{}]+)\{/g)) {
      for (const selector of list.split(",").map((x) => x.trim())) {
        const [, only] = /^\.([\w-]+)(?::[\w-]+)*$/.exec(selector) ?? [];
        if (only) bare.add(only);
        for (const compound of selector.replace(/:[\w-]+\([^)]*\)/g, "").split(/[\s>+~]+/)) {
          const [base, ...states] = [...compound.matchAll(/\.([\w-]+)/g)].map((m) => m[1] ?? "");
          for (const state of states) bases.set(state, (bases.get(state) ?? new Set()).add(base ?? ""));
        }
      }
    }
  }
  const both = [...bases].filter(([state, of]) => of.size > 1 && bare.has(state) && !utilities.test(state));
  expect(both.map(([state, of]) => `.${state}, a state of ${[...of].join(", ")}`)).toEqual([]);
});

// Each class belongs to one file. Else a rule of one component styles another that happens to have the same word.
it("no class has a rule of its own in two files", () => {
  const files = readdirSync("src", { recursive: true, encoding: "utf8" }).filter((f) => f.endsWith(".css"));
  const homes = new Map<string, Set<string>>();
  for (const file of files) {
    const css = readFileSync(`src/${file}`, "utf8")
      .replace(/\/\*[\s\S]*?\*\//g, "")
      .replace(/@(?:media|container|supports)[^{]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}/g, ""); // of another width
    for (const [, list = ""] of css.matchAll(/([^{}]+)\{/g)) {
      for (const selector of list.split(/,(?![^(]*\))/)) {
        const [, name] = /^\.([\w-]+)$/.exec(selector.trim()) ?? [];
        if (name) homes.set(name, (homes.get(name) ?? new Set()).add(file));
      }
    }
  }
  const several = [...homes].filter(([, of]) => of.size > 1);
  expect(several.map(([name, of]) => `.${name} in ${[...of].join(" and ")}`)).toEqual([]);
});
