import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, useState } from "react";
import { afterEach, expect, it } from "vitest";
import type { StepWait } from "@/api/schema.gen";
import { find, fire, type Rendered, render, type as typeIn } from "@/test/render";
import { WaitFields } from "./WaitFields";

let shown: Rendered | undefined;
afterEach(() => shown?.remove());

/** The fields of a wait, which change it. */
function show(first: StepWait, errors: [string, string][] = []) {
  let now = first;
  function Form() {
    const [wait, setWait] = useState(first);
    now = wait;
    return <WaitFields wait={wait} errors={new Map(errors)} onChange={setWait} />;
  }
  shown = render(
    <QueryClientProvider client={new QueryClient()}>
      <Form />
    </QueryClientProvider>,
  );
  const { host } = shown;
  const labelled = <T extends HTMLElement = HTMLInputElement>(label: string) => {
    const found = [...host.querySelectorAll("label")].find((l) => l.textContent?.startsWith(label));
    return (found?.querySelector("input") ?? document.getElementById(found?.htmlFor ?? "")) as T;
  };
  const press = (text: string) => {
    const button = [...host.querySelectorAll("button")].find((b) => b.textContent === text);
    if (!button) throw new Error(`there is no button ${text}`);
    fire(button, "click");
  };
  return { host, labelled, press, wait: () => now };
}

it("another kind of wait begins empty, and keeps after how long it expires", () => {
  const { press, labelled, wait } = show({ for: "10m" });
  press("A signal");
  expect(wait()).toEqual({ signal: "" });
  typeIn(labelled("Signal"), "paid");
  typeIn(labelled("Key"), "${params.order}");
  typeIn(labelled("Expires after"), "2d");
  expect(wait()).toEqual({ signal: "paid", key: "${params.order}", expires: "2d" });
  typeIn(labelled("Key"), "");
  expect(wait()).toEqual({ signal: "paid", expires: "2d" });
  press("An approval");
  expect(wait()).toEqual({ approval: {}, expires: "2d" });
  press("An instant");
  expect(wait()).toEqual({ until: "" });
});

it("who may approve is a list of lines, and what is not said is left out", () => {
  const { host, labelled, wait } = show({ approval: {} });
  typeIn(find<HTMLTextAreaElement>(host, "textarea"), "role:operator\nuser:li.wei\n");
  act(() => labelled("Whoever started").click());
  typeIn(labelled("Approvals needed"), "2");
  expect(wait()).toEqual({
    approval: { by: ["role:operator", "user:li.wei"], not_by_requester: true, min: 2 },
  });
  act(() => labelled("Whoever started").click());
  typeIn(labelled("Approvals needed"), "");
  expect(wait()).toEqual({ approval: { by: ["role:operator", "user:li.wei"] } });
});

it("awaited runs are the last ones or those of a period, all of them or some", () => {
  const { host, press, labelled, wait } = show({ runs: { job: "etl/hour", last: 1 } });
  press("Of a period");
  expect(wait().runs).toEqual({ job: "etl/hour", from: "${fire_time|-1d|day}", to: "${fire_time|day}" });
  typeIn(labelled("How many must"), "80%");
  expect(wait().runs?.need).toBe("80%");
  typeIn(labelled("How many must"), "3");
  expect(wait().runs?.need).toBe("3");
  press("The last ones");
  expect(wait().runs).toEqual({ job: "etl/hour", last: 1, need: "3" });
  typeIn(find<HTMLInputElement>(host, "input"), "");
  expect(wait().runs?.job).toBe("");
});

it("says what is wrong below the field, and of what has no field below the kind", () => {
  const { host, labelled } = show({ approval: { by: ["li.wei"] } }, [
    ["wait.approval.by[0]", "is neither a user nor a role"],
    ["wait", "has to have one of them"],
    ["after", "is no step"],
  ]);
  const said = [...host.querySelectorAll(".ferr")].map((p) => p.textContent);
  expect(said).toEqual(["has to have one of them", "is neither a user nor a role"]);
  expect(labelled("Who may approve").getAttribute("aria-invalid")).toBe("true");
});
