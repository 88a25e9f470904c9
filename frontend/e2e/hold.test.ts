import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { axe } from "./browser.ts";
import { stage } from "./stage.ts";

const file = () => join(program.data, "loaded");

const { program, open } = stage((p) =>
  p.api("PUT", "/jobs/default/held", {
    job: "default/held",
    schedule: {},
    steps: [
      { step: "load", task: { shell: `until [ -f ${join(p.data, "loaded")} ]; do sleep 0.1; done` } },
      { step: "book", after: ["load"], task: { shell: "echo booked" } },
    ],
  }),
);

it("a run on hold says so, begins no step, and goes on once it is resumed", async () => {
  const { run_id } = await program.api<{ run_id: string }>("POST", "/jobs/default/held/run", {});
  const { page, faults, close } = await open(`/runs/${run_id}?step=book`);
  await page.getByRole("treeitem", { name: /load, running/ }).waitFor();
  await page.getByRole("button", { name: "Hold", exact: true }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel(/Reason/).fill("disk is full");
  expect(await axe(page)).toEqual([]);
  await dialog.getByRole("button", { name: "Hold", exact: true }).click();
  const notice = page.getByRole("status").filter({ hasText: "On hold since" });
  await notice.filter({ hasText: "disk is full" }).waitFor();
  await page.getByRole("button", { name: "Hold", exact: true }).waitFor({ state: "detached" });

  writeFileSync(file(), "");
  await page.getByRole("treeitem", { name: /load, succeeded/ }).waitFor();
  const panel = page.getByRole("complementary", { name: "Step book" });
  await panel.getByText("disk is full").waitFor();
  expect(await axe(page)).toEqual([]);

  await notice.getByRole("button", { name: "Resume" }).click();
  await page.getByRole("treeitem", { name: /book, succeeded/ }).waitFor();
  await notice.waitFor({ state: "detached" });
  expect(faults).toEqual([]);
  await close();
});
