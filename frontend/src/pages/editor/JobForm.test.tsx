import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import {
  createMemoryHistory,
  createRootRoute,
  createRouter,
  RouterContextProvider,
} from "@tanstack/react-router";
import { act, useState } from "react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Job } from "@/api/schema.gen";
import { find, type Rendered, render } from "@/test/render";
import { JobForm } from "./JobForm";

let shown: Rendered | undefined;
beforeEach(() => vi.stubGlobal("fetch", () => new Promise(() => {})));
afterEach(() => shown?.remove());

const router = createRouter({ routeTree: createRootRoute(), history: createMemoryHistory() });

const fresh: Job = {
  job: "default/",
  schedule: { cron: "0 3 * * *", zone: "Europe/Berlin" },
  task: { shell: "" },
};

/** The form of a job, and what is wrong with it. */
async function show(job: Job, errors: [string, string][] = []) {
  function Form() {
    const [doc, setDoc] = useState(job);
    return (
      <JobForm
        doc={doc}
        onChange={setDoc}
        errors={new Map(errors)}
        wrong={new Map()}
        isNew
        openStep={undefined}
        onOpenStep={() => {}}
      />
    );
  }
  shown = render(
    <QueryClientProvider client={new QueryClient()}>
      <RouterContextProvider router={router}>
        <Form />
      </RouterContextProvider>
    </QueryClientProvider>,
  );
  await act(() => import("@/components/code/CodeMirror"));
  const { host } = shown;
  const fold = (title: string) => {
    const found = [...host.querySelectorAll("details")].find(
      (d) => d.querySelector("h2")?.textContent === title,
    );
    if (!found) throw new Error(`there is no fold ${title}`);
    return found;
  };
  return { host, fold, head: (title: string) => find(fold(title), "summary > span").textContent?.trim() };
}

it("a new job shows at most 14 fields, and folds the others", async () => {
  const { host } = await show(fresh);
  const fields = [...host.querySelectorAll("input, select, textarea, .cm-host")];
  const folded = fields.filter((field) => field.closest("details:not([open])"));
  expect(fields.length - folded.length).toBeLessThanOrEqual(14);
  expect(folded.length).toBeGreaterThan(20);
});

it("the head of a fold shows what is set in it, or else what it is about", async () => {
  const { head, fold } = await show({
    ...fresh,
    timeout: "5m",
    retry: { limit: 3 },
    labels: { zone: "eu" },
    children: [{ job: "billing/notify", on: "failure" }],
    schedule: { ...fresh.schedule, spread: "2m", except: ["holidays"] },
    task: { shell: "true", env: { REGION: "north" }, secrets: { TOKEN: "reports-api" } },
  });
  expect(head("Limits and retries")).toBe("Timeout 5m · Retries 3");
  expect(head("Where to run")).toBe("Labels zone=eu");
  expect(head("Child jobs")).toBe("billing/notify after failure");
  expect(head("Calendars and DST")).toBe("Spread 2m · Not on days of holidays");
  expect(head("Environment and secrets")).toBe("Environment REGION · Secrets TOKEN");
  expect(head("Owner and tags")).toMatch(/^Who is responsible/);
  expect(fold("Limits and retries").open).toBe(false);
});

it("a fold with an error in it is open", async () => {
  const { fold } = await show(fresh, [
    ["retry.limit", "must be at most 100"],
    ["schedule.except[0]", "is no calendar"],
  ]);
  expect(fold("Limits and retries").open).toBe(true);
  expect(fold("Calendars and DST").open).toBe(true);
  expect(fold("Where to run").open).toBe(false);
});

it("a job that runs elsewhere shows no field that only executors use, unless it is wrong", async () => {
  const titles = (host: HTMLElement) => [...host.querySelectorAll("details h2")].map((h) => h.textContent);
  const watched: Job = { ...fresh, task: { watch: { grace: "30m" } } };
  const { host, head } = await show(watched);
  expect(titles(host)).toEqual([
    "Calendars and DST",
    "Limits and retries",
    "Owner and tags",
    "Target and notifications",
    "Child jobs",
  ]);
  expect(head("Limits and retries")).toMatch(/^How long runs may take\. By default/);
  const labels = [...host.querySelectorAll("label, .lab")].map((l) => l.textContent?.trim());
  expect(labels).toContain("Ends within");
  expect(labels).not.toContain("Spread");
  expect(labels).not.toContain("Start within");
  expect(labels.some((l) => l?.startsWith("Parameters"))).toBe(false);
  shown?.remove();
  const wrong = await show({ ...watched, labels: { zone: "eu" }, start_within: "1m" }, [
    ["labels", "does not go with task.watch"],
    ["start_within", "does not go with task.watch: write task.watch.grace"],
    ["task.watch.early", "must be at most half of the shortest gap"],
  ]);
  expect(wrong.fold("Where to run").open).toBe(true);
  expect([...wrong.host.querySelectorAll(".ferr")].map((p) => p.textContent)).toEqual([
    "must be at most half of the shortest gap",
    "does not go with task.watch: write task.watch.grace",
    "does not go with task.watch",
  ]);
});
