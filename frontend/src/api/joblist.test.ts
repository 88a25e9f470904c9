import { QueryClient } from "@tanstack/react-query";
import { expect, it, vi } from "vitest";
import { api } from "./client";
import { askForJobs, filterOf, orderOf } from "./joblist";
import { meKey } from "./session";

it("asks for what the address says", () => {
  expect(filterOf({ q: " a ", owner: ["lin"], tag: ["-old"] }, "mia")).toEqual({
    q: "a",
    where: ["owner:lin", "-tag:old"],
  });
  expect(filterOf({ view: "mine" }, "mia")).toEqual({ where: ["owner:mia"] });
  expect(filterOf({ view: "failing", last: ["lost", "succeeded"] }, "mia")).toEqual({ last: ["lost"] });
  expect(orderOf(undefined)).toBe("attention");
  expect(orderOf("-p95")).toBe("-p95");
  expect(orderOf("colour")).toBe("attention");
});

it("asks for the list before the page is there, once it is known who asks", async () => {
  const get = vi.spyOn(api, "GET").mockImplementation(() => new Promise(() => {}));
  const client = new QueryClient();
  void askForJobs(client, { view: "mine" });
  await vi.waitFor(() => expect(get).toHaveBeenCalledWith("/api/v1/me", expect.anything()));
  expect(get).toHaveBeenCalledTimes(1);
  client.clear();
  client.setQueryData(meKey, { user: "mia" });
  void askForJobs(client, { view: "mine" });
  await vi.waitFor(() => expect(get).toHaveBeenCalledTimes(2));
  const query = expect.objectContaining({ where: ["owner:mia"], sort: "attention", limit: 30 });
  expect(get).toHaveBeenLastCalledWith("/api/v1/jobs", expect.objectContaining({ params: { query } }));
  get.mockRestore();
});
