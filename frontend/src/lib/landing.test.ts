import { expect, it } from "vitest";
import { landingOf } from "./landing";

const bare = "https://ops.example";
const under = "https://ops.example/carillon/";

it("leads from the bare address to the list of jobs, for those who chose that", () => {
  expect(landingOf(`${bare}/`, `${bare}/`, "jobs", "navigate")).toBe(`${bare}/jobs`);
  expect(landingOf(`${bare}/#`, `${bare}/`, "jobs", "navigate")).toBe(`${bare}/jobs`);
  expect(landingOf(`${bare}/`, `${bare}/`, "overview", "navigate")).toBeUndefined();
});

it("knows the bare address below a path, with or without the slash", () => {
  expect(landingOf(under, under, "jobs", "navigate")).toBe(`${under}jobs`);
  expect(landingOf(under.slice(0, -1), under, "jobs", "navigate")).toBe(`${under}jobs`);
  expect(landingOf(`${bare}/`, under, "jobs", "navigate")).toBeUndefined();
});

it("leaves every other address alone, and what somebody was looking at", () => {
  for (const at of [`${under}?range=24h`, `${under}runs`, `${under}jobs/a/b`])
    expect(landingOf(at, under, "jobs", "navigate")).toBeUndefined();
  for (const arrival of ["reload", "back_forward", undefined] as const)
    expect(landingOf(under, under, "jobs", arrival)).toBeUndefined();
});
