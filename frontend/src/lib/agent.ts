const browsers: [string, RegExp][] = [
  ["Edge", /Edg(?:e|A|iOS)?\/(\d+)/],
  ["Opera", /OPR\/(\d+)/],
  ["Firefox", /(?:Firefox|FxiOS)\/(\d+)/],
  ["Chrome", /(?:Headless)?Chrom(?:e|ium)\/(\d+)/],
  ["Safari", /Version\/(\d+)[\d.]* (?:Mobile\/\S+ )?Safari/],
];

const systems: [string, RegExp][] = [
  ["Android", /Android/],
  ["iPhone", /iPhone/],
  ["iPad", /iPad/],
  ["Windows", /Windows/],
  ["macOS", /Macintosh|Mac OS X/],
  ["Linux", /Linux|X11/],
];

/** Names the browser and the system of a User-Agent ("Firefox 140, Linux"); programs by their own first word. */
export function agentName(agent: string): string {
  for (const [name, pattern] of browsers) {
    const found = pattern.exec(agent);
    if (!found) continue;
    const system = systems.find(([, p]) => p.test(agent))?.[0];
    return `${name} ${found[1]}${system ? `, ${system}` : ""}`;
  }
  return agent.split(/[\s/]/)[0] ?? "";
}
