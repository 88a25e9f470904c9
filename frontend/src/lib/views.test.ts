import { expect, it } from "vitest";
import { mostViews, removeView, saveView, viewsOf } from "./views";

it("views are kept by user and page, and one of the same name is replaced", () => {
  saveView("ann", "jobs", { name: "mine", query: "group=billing" });
  saveView("ann", "jobs", { name: "red", query: "view=failing" });
  saveView("ann", "jobs", { name: "mine", query: "group=orders" });
  expect(viewsOf("ann", "jobs")).toEqual([
    { name: "red", query: "view=failing" },
    { name: "mine", query: "group=orders" },
  ]);
  expect(viewsOf("ann", "runs")).toEqual([]);
  expect(viewsOf("bob", "jobs")).toEqual([]);
  removeView("ann", "jobs", "red");
  expect(JSON.parse(localStorage.getItem("carillon.views.ann.jobs") ?? "")).toEqual([
    { name: "mine", query: "group=orders" },
  ]);
});

it("what is stored and is no view is left out", () => {
  localStorage.setItem("carillon.views.carl.jobs", '[{"name":"ok","query":""},{"name":5},null]');
  expect(viewsOf("carl", "jobs")).toEqual([{ name: "ok", query: "" }]);
  localStorage.setItem("carillon.views.dora.jobs", "{");
  expect(viewsOf("dora", "jobs")).toEqual([]);
});

it("of very many the oldest go", () => {
  for (let i = 0; i <= mostViews; i++) saveView("eve", "runs", { name: `v${i}`, query: "" });
  expect(viewsOf("eve", "runs").map((v) => v.name)).toEqual(
    Array.from({ length: mostViews }, (_, i) => `v${i + 1}`),
  );
});
