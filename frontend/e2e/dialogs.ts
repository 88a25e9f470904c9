import type { Page } from "playwright-core";

/** A dialog of the scene: its name, the page on which it is, and how it is opened. */
export interface Opening {
  name: string;
  path: string;
  open(page: Page): Promise<unknown>;
}

const press = (name: string | RegExp) => (page: Page) =>
  page
    .getByRole("button", { name, exact: typeof name === "string" })
    .first()
    .click();
const choose = (menu: string | RegExp, item: string) => async (page: Page) => {
  await press(menu)(page);
  await page.getByRole("menuitem", { name: item }).click();
};
const type =
  (...keys: string[]) =>
  async (page: Page) => {
    for (const key of keys) await page.keyboard.press(key);
  };

const job = "/jobs/default/invoice-close-daily";

/**
 * Every dialog that the console has, but for those that say what came of one of these. They are opened
 * in a wide window: on a phone some of their buttons are left out, or in a menu.
 */
export const openings: Opening[] = [
  { name: "palette", path: "/", open: type("Control+k") },
  { name: "shortcuts", path: "/", open: type("?") },
  { name: "import", path: "/jobs", open: press("Import") },
  {
    name: "bulk-pause",
    path: "/jobs",
    open: async (page) => {
      await page.getByLabel("Select default/invoice-close-daily").check();
      await page.getByLabel("Select default/orders-sync-erp").check();
      await page.getByRole("toolbar").getByRole("button", { name: "Pause" }).click();
    },
  },
  {
    name: "bulk-backfill",
    path: "/jobs",
    open: async (page) => {
      await page.getByLabel("Select default/invoice-close-daily").check();
      await page.getByRole("toolbar").getByRole("button", { name: "Run a day again…" }).click();
    },
  },
  { name: "save-view", path: "/jobs?group=default", open: choose("Views", "Save these filters…") },
  { name: "columns", path: "/jobs", open: press("Columns") },
  { name: "run-with", path: job, open: choose("Run with parameters…", "Run with parameters…") },
  { name: "backfill", path: job, open: choose("Run with parameters…", "Backfill a range…") },
  { name: "pause", path: job, open: press("Pause") },
  { name: "delete-job", path: job, open: choose("More actions", "Delete") },
  {
    name: "restore",
    path: `${job}/versions?v=1`,
    open: press("Restore this version"),
  },
  {
    name: "review",
    path: `${job}/edit`,
    open: async (page) => {
      await page.getByLabel("Description").fill("Closes the previous day's invoices, and says how many");
      await page.keyboard.press("Control+s");
    },
  },
  {
    name: "leave",
    path: `${job}/edit`,
    open: async (page) => {
      await page.getByLabel("Description").fill("half a thought");
      await page.getByRole("link", { name: "Overview" }).click();
    },
  },
  { name: "test-run", path: `${job}/edit`, open: press("Test run") },
  {
    name: "cancel-run",
    path: "/jobs/default/search-index-delta",
    open: async (page) => {
      for (const name of ["Run now", "Open run", "Cancel run"]) await press(name)(page);
    },
  },
  {
    name: "run-again",
    path: "/jobs/default/payment-reconcile/runs",
    open: async (page) => {
      await page.locator("table.runs tbody tr").first().getByRole("link").first().click();
      await press("Again, with options…")(page);
    },
  },
  {
    name: "mark",
    path: "/jobs/default/payment-reconcile/runs",
    open: async (page) => {
      await page.locator("table.runs tbody tr").first().getByRole("link").first().click();
      await press("Mark")(page);
    },
  },
  {
    name: "whole-line",
    path: "/jobs/default/log-of-everything/runs",
    open: async (page) => {
      await page.locator("table.runs tbody tr").first().getByRole("link").first().click();
      await page.locator(".ll").first().waitFor();
      await page.locator(".log").evaluate((log) => log.scrollTo(0, 0));
      await press(/^\+[\d,]+ more$/)(page);
    },
  },
  { name: "drain", path: "/executors/default", open: press("Drain") },
  { name: "instance", path: "/executors/default", open: choose(/^More actions: /, "Slots and labels…") },
  { name: "limits", path: "/executors/risk", open: press("Limits…") },
  { name: "credential", path: "/executors/default", open: press("New credential") },
  { name: "rotate", path: "/executors/default", open: press("Rotate") },
  { name: "revoke", path: "/executors/default", open: press("Revoke") },
  { name: "offsets", path: "/schedule/load", open: press("Suggest offsets") },
  { name: "calendar", path: "/calendars", open: press("Edit finance-freeze") },
  { name: "delete-calendar", path: "/calendars", open: press("Delete: finance-freeze") },
  {
    name: "incident",
    path: "/alerts",
    open: (page) => page.locator("table.incidents tbody tr").first().click(),
  },
  { name: "rule", path: "/alerts/rules", open: press("Edit settlements-fail") },
  { name: "channel", path: "/alerts/channels", open: press("Edit on-call") },
  { name: "new-channel", path: "/alerts/channels", open: press("New channel") },
  { name: "user", path: "/settings/users", open: choose("More actions: lin.wei", "Edit") },
  { name: "sessions", path: "/settings/users", open: choose("More actions: lin.wei", "Sessions…") },
  {
    name: "invitation",
    path: "/settings/users",
    open: choose("More actions: lin.wei", "Create a link to set a password"),
  },
  { name: "token", path: "/settings/tokens", open: press("New token") },
  { name: "secret", path: "/settings/secrets?group=default", open: press("New secret…") },
  {
    name: "retention",
    path: "/settings/retention",
    open: async (page) => {
      await page.getByLabel("Runs: All jobs").fill("60d");
      await page.getByText("Long-term estimate").waitFor();
      await press("Save retention")(page);
    },
  },
  { name: "pause-all", path: "/cluster", open: press("Pause everything") },
];
