import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act } from "react";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { RunDetail, RunStep, RunWait } from "@/api/schema.gen";
import { meKey } from "@/api/session";
import { at } from "@/test/factories";
import { find, fire, type Rendered, render, type as typeIn } from "@/test/render";
import { WaitPart } from "./WaitPart";

const { decided, sent } = vi.hoisted(() => ({
  decided: vi.fn(async () => ({ run_id: "r2", step: "ok", round: 1, status: "succeeded" })),
  sent: vi.fn(async () => ({ run_id: "r1", step: "paid", status: "queued" })),
}));
vi.mock("@/api/steps", () => ({ decideStep: decided, sendSignal: sent }));
vi.mock("@/components/Toasts", () => ({ toast: vi.fn() }));
vi.mock("@/components/CodeEditor", () => ({
  CodeEditor: (p: { value: string; onChange(v: string): void }) => (
    <input name="data" value={p.value} onChange={(e) => p.onChange(e.target.value)} />
  ),
}));
vi.mock("@/components/JobName", () => ({ JobLink: ({ job }: { job: string }) => <b>{job}</b> }));

let shown: Rendered | undefined;
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.parse(at(600)) });
  decided.mockClear();
  sent.mockClear();
});
afterEach(() => {
  vi.useRealTimers();
  shown?.remove();
});

const detail = {
  run_id: "r1",
  job: "deploy/release",
  status: "running",
  attempts: [],
  changes: [],
} as RunDetail;

function show(step: Partial<RunStep>, operates = true) {
  const client = new QueryClient();
  client.setQueryData(meKey, { can: { see: ["*"], operate: operates ? ["deploy"] : [] } });
  const whole = { step: "ok", task: "wait", state: "queued", ...step } as RunStep;
  const node = (s: RunStep) => (
    <QueryClientProvider client={client}>
      <WaitPart detail={detail} step={s} />
    </QueryClientProvider>
  );
  shown = render(node(whole));
  const { host } = shown;
  const button = (text: string) => {
    const found = [...document.querySelectorAll("button")].filter((b) => b.textContent === text).at(-1);
    if (!found) throw new Error(`there is no button ${text}`);
    return found;
  };
  const send = async () => {
    fire(find(document, "form"), "submit");
    await act(async () => {});
  };
  return { host, button, send, again: (more: Partial<RunStep>) => shown?.show(node({ ...whole, ...more })) };
}

const approval: RunWait = { kind: "approval", since: at(0), by: ["role:operator"], expires_at: at(28_800) };

it("a step is approved with a note, once a round", async () => {
  const { host, button, send, again } = show({ wait: approval, may: true });
  expect(host.textContent).toContain("approval by role Operator");
  fire(button("Approve"), "click");
  typeIn(find<HTMLInputElement>(document, "form input"), " fine ");
  await send();
  expect(decided).toHaveBeenCalledExactlyOnceWith("approve", "r1", "ok", "fine");
  expect(button("Approve").disabled).toBe(true);
  expect(host.textContent).toContain("Approved");
  again({ wait: { ...approval, since: at(300) } });
  expect(button("Approve").disabled).toBe(false);
  fire(button("Reject"), "click");
  await send();
  expect(decided).toHaveBeenLastCalledWith("reject", "r1", "ok", "");
});

it("who may not approve is told why, and the buttons are off", () => {
  const why_not = { code: "", text: "li.wei started the run", params: {} };
  const { host, button } = show({ wait: { ...approval, not_by_requester: true }, why_not });
  expect(button("Approve").disabled).toBe(true);
  expect(button("Reject").disabled).toBe(true);
  expect(host.querySelector(".whynot")?.textContent).toBe("li.wei started the run");
});

it("says how many approvals there are of those that are needed, from whom", () => {
  const approvals = [{ by: "li.wei", at: at(60), note: "checked" }];
  const { host } = show({ wait: { ...approval, min: 2, approvals }, may: true });
  expect(host.querySelector(".note")?.textContent).toBe("Waits for approval by role Operator, 1 of 2 given");
  expect(host.textContent).toMatch(/li\.wei .*checked/);
});

it("of a decided step it says what it waited for, and offers nothing", () => {
  const { host } = show({ wait: approval, state: "failed" });
  expect(host.textContent).toContain("approval by role Operator");
  expect(host.querySelector("button")).toBeNull();
});

it("a signal is sent with JSON as data, also before the step waits for it", async () => {
  const wait = { kind: "signal", signal: "paid", key: "17" } as const;
  const { host, button, send, again } = show({ step: "paid", state: "waiting", wait });
  expect(host.textContent).toContain("signal paid with key 17");
  fire(button("Send signal"), "click");
  expect(document.body.textContent).toContain("has not begun to wait");
  typeIn(find<HTMLInputElement>(document, "input[name=data]"), '{"sum":');
  await send();
  expect(sent).not.toHaveBeenCalled();
  typeIn(find<HTMLInputElement>(document, "input[name=data]"), '{"sum":3}');
  await send();
  expect(sent).toHaveBeenCalledExactlyOnceWith("r1", "paid", { data: { sum: 3 } });
  again({ state: "succeeded", wait: { ...wait, since: at(0) } });
  expect(host.querySelector("button")).toBeNull();
});

it("who does not operate the group sends no signals", () => {
  const { button } = show({ wait: { kind: "signal", signal: "paid", since: at(0) } }, false);
  expect(button("Send signal").disabled).toBe(true);
});

it("lists the runs that are missing", () => {
  const runs = { job: "etl/hour", from: at(-86_400), to: at(0), need: "80%" };
  const texts = ["the run of 07:00 is failed", "job etl/hour was deleted"];
  const missing = texts.map((text) => ({ code: "", text, params: {} }));
  const { host } = show({ wait: { kind: "runs", since: at(0), runs }, met: 22, of: 24, missing });
  expect(host.querySelector(".note")?.textContent).toBe("Waits for runs of etl/hour, 22 of 24 are there");
  expect([...host.querySelectorAll("li")].map((li) => li.textContent)).toEqual(texts);
  expect(host.textContent).toContain("80% of them");
});
