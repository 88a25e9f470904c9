import { createElement } from "react";
import { expect, it, vi } from "vitest";
import { render } from "@/test/render";
import { JobName } from "./JobName";
import { UseTitle } from "./JobTitle";

vi.mock("@tanstack/react-router", () => ({
  Link: ({ children, className }: { children: string; className: string }) =>
    createElement("a", { className }, children),
}));

const shown = (title: string) => {
  const { host, remove } = render(
    <UseTitle value={(job) => (job === "billing/settle" ? title : "")}>
      <JobName group="billing" name="settle" />
    </UseTitle>,
  );
  const text = host.textContent;
  remove();
  return text;
};

it("a job has its title where there is one, with its key beside it", () => {
  expect(shown("Settle payments")).toBe("Settle payments billing/settle");
  expect(shown("")).toBe("settle billing");
});
