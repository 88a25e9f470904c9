import type { Layout, Plan } from "./layout";

const most = 20;
const known = new Map<string, Promise<Layout>>();
const asked = new Map<number, { resolve(layout: Layout): void; reject(error: Error): void }>();
let worker: Worker | undefined;
let last = 0;

/** Lays out a plan beside the page, which goes on meanwhile. The last answers are kept. */
export function laidOut(plan: Plan): Promise<Layout> {
  const key = JSON.stringify(plan);
  const found = known.get(key) ?? ask(plan);
  known.delete(key); // it is the newest again
  known.set(key, found);
  found.catch(() => known.delete(key));
  for (const old of [...known.keys()].slice(0, -most)) known.delete(old);
  return found;
}

function ask(plan: Plan): Promise<Layout> {
  worker ??= start();
  const id = ++last;
  return new Promise((resolve, reject) => {
    asked.set(id, { resolve, reject });
    worker?.postMessage({ id, plan });
  });
}

function start(): Worker {
  const made = new Worker(new URL("./layout.worker.ts", import.meta.url), { type: "module" });
  made.onmessage = ({ data }: MessageEvent<{ id: number; layout: Layout }>) => {
    asked.get(data.id)?.resolve(data.layout);
    asked.delete(data.id);
  };
  // What it could not do it is asked for anew, by another one.
  made.onerror = (event) => {
    worker = undefined;
    made.terminate();
    for (const { reject } of asked.values()) reject(new Error(event.message || "the graph has no layout"));
    asked.clear();
  };
  return made;
}
