import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { follow, type LiveState } from "./live";
import { readEvents, type ServerEvent } from "./sse";

function bodyOf(...chunks: string[]): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream({
    start(c) {
      for (const chunk of chunks) c.enqueue(encoder.encode(chunk));
      c.close();
    },
  });
}

async function all(...chunks: string[]): Promise<ServerEvent[]> {
  const events: ServerEvent[] = [];
  for await (const e of readEvents(bodyOf(...chunks))) events.push(e);
  return events;
}

describe("server-sent events", () => {
  const want = [
    { event: "lines", data: "[1]", id: "1:5" },
    { event: "end", data: "{}\n{}", id: undefined },
  ];
  const text = ":\n\nevent: lines\nid: 1:5\ndata: [1]\n\n:\n\nevent: end\ndata: {}\ndata: {}\n\n";

  it("are read however they are cut", async () => {
    expect(await all(text)).toEqual(want);
    expect(await all(...text)).toEqual(want);
    expect(await all(text.replaceAll("\n", "\r\n"))).toEqual(want);
  });

  it("that are not whole when the stream ends are left out", async () => {
    expect(await all("event: lines\ndata: [1]\n")).toEqual([]);
  });

  it("may have characters that a chunk cuts through", async () => {
    const bytes = new TextEncoder().encode("data: 世界\n\n");
    const body = new ReadableStream<Uint8Array>({
      start(c) {
        c.enqueue(bytes.slice(0, 8));
        c.enqueue(bytes.slice(8));
        c.close();
      },
    });
    for await (const e of readEvents(body)) expect(e.data).toBe("世界");
  });
});

describe("following a stream", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  /** Answers each request with the next of these, and tells which ids were asked for. */
  function serve(...answers: (Response | Error)[]): (string | null)[] {
    const asked: (string | null)[] = [];
    vi.stubGlobal("fetch", (_: string, init: RequestInit) => {
      asked.push(new Headers(init.headers).get("Last-Event-ID"));
      const answer = answers.shift();
      if (answer === undefined) return new Promise(() => {});
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
    });
    return asked;
  }

  function start(lastEventId?: string) {
    const states: LiveState[] = [];
    const events: string[] = [];
    const stop = follow({
      url: "/tail",
      lastEventId,
      onState: (s) => states.push(s),
      onEvent: (e) => {
        events.push(`${e.event} ${e.data}`);
        return e.event === "end" ? "end" : undefined;
      },
    });
    return { states, events, stop };
  }

  it("goes on after the last event when the connection breaks", async () => {
    const asked = serve(
      new Response(bodyOf("event: lines\nid: 1:5\ndata: a\n\n")),
      new Error("network"),
      new Response(bodyOf("event: lines\nid: 1:6\ndata: b\n\nevent: end\ndata: c\n\n")),
    );
    const { states, events } = start("1:2");
    await vi.advanceTimersByTimeAsync(20_000);
    expect(asked).toEqual(["1:2", "1:5", "1:5"]);
    expect(events).toEqual(["lines a", "lines b", "end c"]);
    expect(states.at(-1)).toBe("ended");
  });

  it("connects again at once after a goodbye", async () => {
    const asked = serve(new Response(bodyOf("event: bye\ndata: {}\n\n")));
    const { events, stop } = start();
    await vi.advanceTimersByTimeAsync(500);
    expect(asked).toHaveLength(2);
    expect(events).toEqual([]);
    stop();
  });

  it("gives up on a stream that is refused", async () => {
    const asked = serve(new Response("", { status: 404 }));
    const { states } = start();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(asked).toHaveLength(1);
    expect(states.at(-1)).toBe("refused");
  });

  it("waits longer each time, but never more than fifteen seconds", async () => {
    const asked = serve(...Array.from({ length: 100 }, () => new Response("", { status: 503 })));
    vi.spyOn(Math, "random").mockReturnValue(1);
    const { stop } = start();
    await vi.advanceTimersByTimeAsync(15_500);
    expect(asked).toHaveLength(6); // after 0, .5, 1.5, 3.5, 7.5 and 15.5 s
    await vi.advanceTimersByTimeAsync(30_000);
    expect(asked).toHaveLength(8);
    stop();
  });

  it("asks no more once it is stopped", async () => {
    const asked = serve(new Error("network"));
    const { stop } = start();
    await vi.advanceTimersByTimeAsync(1);
    stop();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(asked).toHaveLength(1);
  });

  /** Opens streams that say nothing until they are told to, and break when they are given up. */
  function open() {
    const streams: { say(text: string): void; givenUp: boolean }[] = [];
    vi.stubGlobal("fetch", (_: string, init: RequestInit) => {
      const body = new ReadableStream<Uint8Array>({
        start(c) {
          const stream = { say: (text: string) => c.enqueue(new TextEncoder().encode(text)), givenUp: false };
          streams.push(stream);
          init.signal?.addEventListener("abort", () => {
            stream.givenUp = true;
            c.error(new Error("aborted"));
          });
        },
      });
      return Promise.resolve(new Response(body));
    });
    return streams;
  }

  it("takes a connection that is silent for 45 seconds for a dead one, and a heartbeat for life", async () => {
    const streams = open();
    const { stop } = start();
    await vi.advanceTimersByTimeAsync(40_000);
    streams[0]?.say(":\n\n");
    await vi.advanceTimersByTimeAsync(40_000);
    expect(streams).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(6000);
    expect(streams).toHaveLength(2);
    expect(streams[0]?.givenUp).toBe(true);
    stop();
  });

  it("gives its connection back when nobody looks for five seconds, and goes on when somebody does", async () => {
    const streams = open();
    const { states, stop } = start();
    let hidden = false;
    vi.spyOn(document, "hidden", "get").mockImplementation(() => hidden);
    const look = (at: boolean) => {
      hidden = !at;
      document.dispatchEvent(new Event("visibilitychange"));
    };
    await vi.advanceTimersByTimeAsync(1000);
    look(false);
    await vi.advanceTimersByTimeAsync(4000);
    look(true); // a glance at another tab costs nothing
    await vi.advanceTimersByTimeAsync(10_000);
    expect(streams.map((s) => s.givenUp)).toEqual([false]);
    look(false);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(streams.map((s) => s.givenUp)).toEqual([true]);
    expect(states.at(-1)).toBe("hidden");
    look(true);
    await vi.advanceTimersByTimeAsync(0);
    expect(streams).toHaveLength(2);
    stop();
  });
});
