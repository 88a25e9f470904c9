import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { approvalsQuery } from "@/api/approvals";
import type { Approval, ApprovalList } from "@/api/schema.gen";
import { at } from "@/test/factories";
import { fire, type Rendered, render } from "@/test/render";
import ApprovalsPage from "./ApprovalsPage";

const { search, navigate } = vi.hoisted(() => ({
  search: { all: undefined as string | undefined },
  navigate: vi.fn(),
}));
vi.mock("@tanstack/react-router", async (original) => ({
  ...(await original<object>()),
  useSearch: () => search,
  useNavigate: () => navigate,
  Link: ({
    to,
    params,
    search,
    children,
  }: {
    to: string;
    params: object;
    search?: object;
    children: ReactNode;
  }) => <a href={`${to} ${Object.values({ ...params, ...search }).join(" ")}`}>{children}</a>,
}));
vi.mock("@/shell/Page", () => ({ Page: ({ children }: { children: ReactNode }) => <main>{children}</main> }));

let shown: Rendered | undefined;
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.parse(at(600)) });
  navigate.mockClear();
  search.all = undefined;
});
afterEach(() => {
  vi.useRealTimers();
  shown?.remove();
});

const wanted = (step: string, more: Partial<Approval> = {}): Approval => ({
  job: "deploy/release",
  run_id: `run-${step}`,
  step,
  fire_time: at(0),
  wait: { kind: "approval", since: at(300), by: ["user:li.wei"] },
  may: true,
  ...more,
});
const why_not = { code: "", text: "not for you", params: {} };

function show(list: ApprovalList) {
  const client = new QueryClient({ defaultOptions: { queries: { staleTime: Number.POSITIVE_INFINITY } } });
  client.setQueryData(approvalsQuery.queryKey, list);
  shown = render(
    <QueryClientProvider client={client}>
      <ApprovalsPage />
    </QueryClientProvider>,
  );
  const { host } = shown;
  return {
    host,
    items: () => [...host.querySelectorAll(".approvals > li")].map((li) => li.textContent ?? ""),
    segments: [...host.querySelectorAll("fieldset button")],
  };
}

it("shows what waits for me, and leads to the step of its run", () => {
  const { host, items, segments } = show({
    items: [
      wanted("ok", { title: "Release it", requested_by: "chen.yu" }),
      wanted("no", { may: false, why_not }),
    ],
  });
  expect(segments.map((s) => s.textContent)).toEqual(["For me (1)", "All (2)"]);
  expect(items()).toHaveLength(1);
  expect(items()[0]).toMatch(/Release it.*approval by li\.wei/);
  expect(items()[0]).toContain("started by chen.yu");
  expect(host.querySelector("h2 a")?.getAttribute("href")).toBe("/runs/$runId run-ok ok");
  fire(segments[1] as Element, "click");
  expect(navigate).toHaveBeenCalledWith({ to: "/approvals", search: { all: "true" }, replace: true });
});

it("shows all of them with why one may not decide", () => {
  search.all = "true";
  const { host, items } = show({ items: [wanted("ok"), wanted("no", { may: false, why_not })] });
  expect(items()).toHaveLength(2);
  expect(items()[1]).toContain("not for you");
  expect([...host.querySelectorAll<HTMLButtonElement>(".decide button")].map((b) => b.disabled)).toEqual([
    false,
    false,
    true,
    true,
  ]);
});

it("says who started a run: a person, its schedule, or that nobody knows it any more", () => {
  const { items } = show({
    items: [wanted("a", { requested_by: "chen.yu" }), wanted("b"), wanted("c", { requester_unknown: true })],
  });
  expect(
    items().map((text) => text.match(/started by its schedule|started by chen\.yu|no longer known/)?.[0]),
  ).toEqual(["started by chen.yu", "started by its schedule", "no longer known"]);
});

it("says that nothing waits, or that all waits for others", () => {
  expect(show({ items: [] }).host.textContent).toContain("Nothing waits for approval");
  shown?.remove();
  const { host } = show({ items: [wanted("no", { may: false })] });
  expect(host.textContent).toContain("1 step waits for somebody else.");
});
