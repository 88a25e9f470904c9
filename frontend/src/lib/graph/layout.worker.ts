import { layout, type Plan } from "./layout";

addEventListener("message", ({ data: { id, plan } }: MessageEvent<{ id: number; plan: Plan }>) => {
  postMessage({ id, layout: layout(plan) });
});
