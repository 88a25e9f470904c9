import { createElement } from "react";
import { expect, it, vi } from "vitest";
import { render } from "@/test/render";
import { JobName } from "./JobName";
import { JobTitle, UseTitle } from "./JobTitle";

vi.mock("@tanstack/react-router", () => ({
  Link: ({ children, className }: { children: string; className: string }) =>
    createElement("a", { className }, children),
}));

const shown = (title: string, name = <JobName group="billing" name="settle" />) => {
  const { host, remove } = render(
    <UseTitle value={(job) => (job === "billing/settle" ? title : "")}>{name}</UseTitle>,
  );
  const text = host.textContent;
  remove();
  return text;
};

it("a job has its title where there is one, with its key beside it", () => {
  expect(shown("Settle payments")).toBe("Settle payments billing/settle");
  expect(shown("")).toBe("settle billing");
});

it("a job without a title is called by its key where nothing else tells its group", () => {
  expect(shown("", <JobTitle job="billing/settle" />)).toBe("settle");
  expect(shown("", <JobTitle job="billing/settle" keyed />)).toBe("billing/settle");
  expect(shown("Settle payments", <JobTitle job="billing/settle" keyed />)).toBe("Settle payments");
});
