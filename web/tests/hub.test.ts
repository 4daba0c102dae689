import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Hub, SILENT_MAX, SWEEP_EVERY, TABS_MAX, type ToTab, UNREAD_MAX, type Way } from "../src/stream/hub";
import { BACKOFF_MAX, SILENCE_MAX } from "../src/stream/pump";
import type { Frame } from "../src/stream/sse";

type Data = { [key: string]: unknown };

/** A server with one journal: each stream gets what happens while it is open, and what came after its cursor. */
class Server {
  boot = "rt_1";
  journal = "j1";
  status = 200;
  down = false;
  sequence = 0;
  log: [number, string][] = [];
  asked: URLSearchParams[] = [];
  streams = new Set<{ live: Set<string>; control: ReadableStreamDefaultController<Uint8Array> }>();

  open = (query: string, signal: AbortSignal): Promise<Response> => {
    const given = new URLSearchParams(query);
    this.asked.push(given);
    if (this.down) return Promise.reject(new TypeError("refused"));
    if (this.status !== 200) return Promise.resolve(new Response("", { status: this.status }));
    const body = new ReadableStream<Uint8Array>({
      start: (control) => {
        const stream = { live: new Set((given.get("live") ?? "").split(",")), control };
        this.streams.add(stream);
        signal.addEventListener("abort", () => {
          this.streams.delete(stream);
          control.error(new DOMException("aborted", "AbortError"));
        });
        const after = Number(given.get("after") ?? this.sequence);
        const old = this.log.filter(([n]) => n > after).map(([, text]) => text);
        this.put(stream, frame("hello", { boot: this.boot, journal: this.journal, sequence: this.sequence }) + old.join(""));
      },
    });
    return Promise.resolve(new Response(body));
  };

  put(stream: { control: ReadableStreamDefaultController<Uint8Array> }, text: string): void {
    stream.control.enqueue(new TextEncoder().encode(text));
  }

  event(thread: string, more: Data = {}): void {
    this.sequence += 1;
    const text = `id: ${this.sequence}\n${frame("event", { sequence: this.sequence, thread_id: thread, ...more })}`;
    this.log.push([this.sequence, text]);
    for (const s of this.streams) this.put(s, text);
  }

  say(event: string, data: Data): void {
    for (const s of this.streams) this.put(s, frame(event, data));
  }

  delta(thread: string, text: string): void {
    for (const s of this.streams) if (s.live.has(thread)) this.put(s, frame("delta", { thread_id: thread, text }));
  }

  cut(): void {
    for (const s of [...this.streams]) {
      this.streams.delete(s);
      s.control.close();
    }
  }
}

const frame = (event: string, data: Data): string => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;

/** A tab that notes what it was told. */
class Tab implements Way {
  told: ToTab[] = [];
  reads = true;

  constructor(
    readonly hub: Hub,
    thread: string | null = null,
  ) {
    hub.take(this, { type: "join", thread, again: false });
  }

  postMessage(message: ToTab): void {
    this.told.push(message);
    if (!this.reads || !("number" in message)) return;
    queueMicrotask(() => this.hub.take(this, { type: "read", number: message.number }));
  }

  want(thread: string | null): void {
    this.hub.take(this, { type: "want", thread });
  }

  get frames(): Frame[] {
    return this.told.flatMap((m) => (m.type === "frames" ? m.frames : []));
  }

  /** The frames in short: `hello`, `hello+` for one that goes on, `3` for an event, `delta:text`. */
  get short(): string[] {
    return this.frames.map((f) => {
      const data = JSON.parse(f.data) as Data;
      if (f.event === "hello") return data["resumed"] ? "hello+" : "hello";
      if (f.event === "event") return String(data["sequence"]);
      return f.event === "delta" ? `delta:${String(data["text"])}` : f.event;
    });
  }
}

const soon = () => vi.advanceTimersByTimeAsync(1);

let server: Server;
let hub: Hub;

beforeEach(() => {
  vi.useFakeTimers();
  server = new Server();
  hub = new Hub(server.open);
});
afterEach(() => vi.useRealTimers());

describe("one stream for all tabs", () => {
  it("gives ten tabs the same frames in order over one stream", async () => {
    const tabs = Array.from({ length: 10 }, () => new Tab(hub, "t1"));
    await soon();
    expect(server.streams.size).toBe(1);
    server.event("t1");
    server.delta("t1", "a");
    server.event("t2");
    await soon();
    for (const tab of tabs) expect(tab.short).toEqual(["hello", "1", "delta:a", "2"]);
  });

  it("greets a tab that joins late with where the stream is, and asks for no other stream", async () => {
    const first = new Tab(hub, "t1");
    await soon();
    server.event("t1");
    await soon();
    const late = new Tab(hub, "t1");
    await soon();
    expect(server.asked).toHaveLength(1);
    expect(late.short).toEqual(["hello"]);
    expect(JSON.parse(late.frames[0]?.data ?? "")).toEqual({ boot: "rt_1", journal: "j1", sequence: 1 });
    server.event("t1");
    await soon();
    expect(late.short).toEqual(["hello", "2"]);
    expect(first.short).toEqual(["hello", "1", "2"]);
  });

  it("takes up another thread after the last event, without a hole and without a new greeting of the others", async () => {
    const one = new Tab(hub, "t1");
    await soon();
    server.event("t1");
    await soon();
    const two = new Tab(hub, "t2");
    server.event("t1");
    await soon();
    server.event("t2");
    server.delta("t2", "b");
    server.delta("t1", "a");
    await soon();
    expect(server.asked.at(-1)?.get("live")).toBe("t1,t2");
    expect(server.asked.at(-1)?.get("after")).toBe("1");
    expect(server.asked.at(-1)?.get("journal")).toBe("j1");
    expect(server.streams.size).toBe(1);
    expect(one.short).toEqual(["hello", "1", "hello+", "2", "3", "delta:a"]);
    expect(two.short).toEqual(["hello", "2", "3", "delta:b"]);
  });

  it("loses no event of a tab that goes from thread to thread in haste", async () => {
    const tab = new Tab(hub, "t1");
    await soon();
    for (let n = 0; n < 20; n++) {
      server.event("t1");
      tab.want(`t${n}`);
      if (n % 3 === 0) await soon();
      server.event("t9");
    }
    await soon();
    const seen = tab.short.filter((s) => /^\d+$/.test(s)).map(Number);
    expect(seen).toEqual(Array.from({ length: 40 }, (_, i) => i + 1));
    expect(server.streams.size).toBe(1);
  });

  it("sends snapshots to those who show their thread only", async () => {
    const [one, two] = [new Tab(hub, "t1"), new Tab(hub, "t2")];
    await soon();
    server.say("reset", { reason: "too_far_behind", sequence: 70, boot: "rt_1" });
    server.say("snapshot", { thread: { id: "t1" } });
    await soon();
    expect(one.short.slice(-2)).toEqual(["reset", "snapshot"]);
    expect(two.short.at(-1)).toBe("reset");
    server.cut();
    await vi.advanceTimersByTimeAsync(BACKOFF_MAX);
    expect(server.asked.at(-1)?.get("after")).toBe("70");
  });

  it("tells every tab of a loss, and goes on where it was", async () => {
    const tabs = [new Tab(hub, "t1"), new Tab(hub, "t1")];
    await soon();
    server.event("t1");
    await soon();
    server.down = true;
    server.cut();
    await soon();
    for (const tab of tabs) expect(tab.told.at(-1)?.type).toBe("lost");
    server.event("t1");
    server.down = false;
    server.boot = "rt_2";
    await vi.advanceTimersByTimeAsync(BACKOFF_MAX);
    for (const tab of tabs) expect(tab.short).toEqual(["hello", "1", "hello", "2"]);
    expect(server.streams.size).toBe(1);
  });

  it("tries at once when a tab asks for it", async () => {
    server.down = true;
    const tab = new Tab(hub);
    await vi.advanceTimersByTimeAsync(60_000);
    const before = server.asked.length;
    hub.take(tab, { type: "retry" });
    await soon();
    expect(server.asked.length).toBe(before + 1);
  });

  it("gives up a stream that fell silent", async () => {
    new Tab(hub);
    await soon();
    await vi.advanceTimersByTimeAsync(SILENCE_MAX + BACKOFF_MAX);
    expect(server.asked.length).toBeGreaterThan(1);
  });
});

describe("tabs", () => {
  it("all hear that there is no login, and the next one that joins begins anew", async () => {
    const [one, two] = [new Tab(hub), new Tab(hub)];
    await soon();
    hub.take(one, { type: "out" });
    for (const tab of [one, two]) expect(tab.told.at(-1)).toEqual({ type: "out" });
    await soon();
    expect(server.streams.size).toBe(0);
    const three = new Tab(hub);
    await soon();
    expect(server.streams.size).toBe(1);
    for (const tab of [one, two, three]) expect(tab.short.at(-1)).toMatch(/^hello/);
  });

  it("all hear of a stream that was refused for want of a login", async () => {
    server.status = 401;
    const tabs = [new Tab(hub), new Tab(hub)];
    await vi.advanceTimersByTimeAsync(60_000);
    for (const tab of tabs) expect(tab.told.filter((m) => m.type === "out")).toHaveLength(1);
    expect(server.asked.length).toBeLessThanOrEqual(2);
  });

  it("that close are forgotten; the last one takes the stream with it", async () => {
    const [one, two] = [new Tab(hub, "t1"), new Tab(hub, "t2")];
    await soon();
    hub.take(one, { type: "bye" });
    expect(hub.size).toBe(1);
    const told = one.told.length;
    server.event("t2");
    await soon();
    expect(one.told).toHaveLength(told);
    expect(two.short.at(-1)).toBe("1");
    hub.take(two, { type: "bye" });
    await soon();
    expect([hub.size, server.streams.size]).toEqual([0, 0]);
  });

  it("that vanish without a word are forgotten, and those that only slept read anew when they wake", async () => {
    const tab = new Tab(hub, "t1");
    const other = new Tab(hub, "t1");
    await soon();
    tab.reads = false;
    server.event("t1");
    await soon();
    for (let at = 0; at <= SILENT_MAX + SWEEP_EVERY; at += SWEEP_EVERY) {
      server.say("heartbeat", { sequence: 1 });
      await vi.advanceTimersByTimeAsync(SWEEP_EVERY);
    }
    expect(hub.size).toBe(1);
    tab.told = [];
    server.event("t1");
    await soon();
    expect(other.short.at(-1)).toBe("2");
    tab.reads = true;
    hub.take(tab, { type: "read", number: 2 });
    expect(tab.told).toEqual([{ type: "again" }]);
    hub.take(tab, { type: "join", thread: "t1", again: true });
    expect(tab.short).toEqual(["hello", "reset"]);
    server.event("t1");
    await soon();
    expect(tab.short).toEqual(["hello", "reset", "3"]);
  });

  it("that do not keep up get no more than they can hold, and a new beginning once they have read it", async () => {
    const tab = new Tab(hub, "t1");
    await soon();
    tab.reads = false;
    const much = "x".repeat(UNREAD_MAX / 4);
    for (let n = 0; n < 8; n++) {
      server.event("t1", { much });
      await soon();
    }
    const got = tab.short.length;
    expect(got).toBeLessThan(6);
    const last = tab.told.at(-1);
    tab.reads = true;
    hub.take(tab, { type: "read", number: last && "number" in last ? last.number : 0 });
    expect(tab.short.slice(got)).toEqual(["hello", "reset"]);
    server.event("t1");
    await soon();
    expect(tab.short.slice(got)).toEqual(["hello", "reset", "9"]);
  });

  it("beyond the bound are turned away", () => {
    for (let n = 0; n < TABS_MAX; n++) new Tab(hub);
    expect(new Tab(hub).told).toEqual([{ type: "full" }]);
  });
});
