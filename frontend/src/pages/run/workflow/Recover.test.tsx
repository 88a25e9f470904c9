import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act } from "react";
import { afterEach, expect, it, vi } from "vitest";
import { find, fire, type Rendered, render, type as typeIn } from "@/test/render";
import { ResolveDialog } from "./Recover";

const resolved = vi.hoisted(() => vi.fn(async () => ({ run_id: "r2", step: "a", round: 2 })));
vi.mock("@/api/steps", () => ({ resolveStep: resolved, retryStep: vi.fn() }));
vi.mock("@/components/CodeEditor", () => ({
  CodeEditor: (p: { value: string; onChange(v: string): void }) => (
    <input name="result" value={p.value} onChange={(e) => p.onChange(e.target.value)} />
  ),
}));

let shown: Rendered | undefined;
afterEach(() => shown?.remove());

it("resolves a step with a result that is JSON, or skips it without one", async () => {
  const onClose = vi.fn();
  shown = render(
    <QueryClientProvider client={new QueryClient()}>
      <ResolveDialog runId="r1" step="a" onClose={onClose} />
    </QueryClientProvider>,
  );
  const send = async () => {
    fire(find(document, "form"), "submit");
    await act(async () => {});
  };
  typeIn(find<HTMLInputElement>(document, "input[name=result]"), '{"rows":');
  await send();
  expect(resolved).not.toHaveBeenCalled();
  typeIn(find<HTMLInputElement>(document, "input[name=result]"), '{"rows":3}');
  await send();
  expect(resolved).toHaveBeenLastCalledWith("r1", "a", { as: "succeeded", result: { rows: 3 } });
  expect(onClose).toHaveBeenCalledOnce();
  fire(find(document, "fieldset button", 1), "click");
  await send();
  expect(resolved).toHaveBeenLastCalledWith("r1", "a", { as: "skipped" });
});
