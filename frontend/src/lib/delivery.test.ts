import { expect, it } from "vitest";
import type { Delivery } from "@/api/schema.gen";
import { resultOf } from "./delivery";

const to = (channel: string, state: Delivery["state"], tried = true): Delivery => ({
  delivery: "1",
  channel,
  kind: "opened",
  state,
  attempts: tried ? 1 : 0,
  made_at: "2026-01-05T09:00:00Z",
  ...(tried && { tried_at: "2026-01-05T09:00:01Z" }),
});

it("an incident's messages are as well as the worst of them, the newest to each channel", () => {
  expect(resultOf([])).toBeUndefined();
  expect(resultOf([to("chat", "failed"), to("mail", "sent"), to("chat", "sent")])).toEqual({
    outcome: "sent",
    channels: ["chat", "mail"],
  });
  const waits = to("chat", "waiting", false);
  expect(resultOf([waits, to("mail", "sent")])?.outcome).toBe("waiting");
  expect(resultOf([to("mail", "sent"), to("chat", "waiting"), to("hook", "dropped")])).toEqual({
    outcome: "retrying",
    channels: ["chat"],
  });
  expect(resultOf([to("chat", "waiting"), to("hook", "failed")])?.channels).toEqual(["hook"]);
});
