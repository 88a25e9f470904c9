import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { deadlinesQuery } from "@/api/deadlines";
import type { Deadline } from "@/api/schema.gen";
import { at } from "@/test/factories";
import { type Rendered, render } from "@/test/render";
import { DeadlineNotice } from "./DeadlineNotice";

let shown: Rendered | undefined;
beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"], now: Date.parse(at(600)) }));
afterEach(() => {
  vi.useRealTimers();
  shown?.remove();
});

const late: Deadline = {
  job: "billing/nightly",
  run_id: "r",
  at: at(1800),
  by: "alert",
  alert: "in-time",
  late: true,
  expected_end: at(3000),
  usual_ms: 2_400_000,
  runs: 12,
};

function show(...items: Deadline[]): string {
  const client = new QueryClient({ defaultOptions: { queries: { staleTime: Number.POSITIVE_INFINITY } } });
  client.setQueryData(deadlinesQuery("r").queryKey, { items });
  shown = render(
    <QueryClientProvider client={client}>
      <DeadlineNotice runId="r" />
    </QueryClientProvider>,
  );
  return shown.host.textContent ?? "";
}

it("warns of a run that will likely miss its deadline, and says why", () => {
  const text = show(late);
  expect(text).toContain("will likely miss its deadline");
  expect(text).toContain("alert rule in-time");
  expect(text).toContain("12 successful runs");
  expect(text).toContain("40m");
});

it("says of a run past its deadline that it has missed it", () => {
  const text = show({ ...late, at: at(300), by: "timeout", alert: undefined, expected_end: undefined });
  expect(text).toContain("has missed its deadline");
  expect(text).toContain("timeout");
  expect(text).not.toContain("successful");
});

it("is silent about a run in time, and one without a deadline", () => {
  expect(show({ ...late, late: false })).toBe("");
  shown?.remove();
  expect(show()).toBe("");
});
