import { describe, expect, it } from "vitest";
import * as normal from "../src/api/normalize";
import type { PageEvent } from "../src/api/types";
import { CUT, KEPT_MAX, lacks, NO_TEXT, withDelta, withView } from "../src/store/live";
import { addPage, applyEvent, hello, listThreads, openThread } from "../src/store/reducer";
import { EMPTY, type PageState } from "../src/store/state";
import { delta, event, item, request, row, run, snapshot } from "./made";

const opened = (state: PageState) => {
  if (state.opened === null) throw new Error("no thread is open");
  return state.opened;
};

const EVENTS: PageEvent[] = [
  event(6, run({ revision: 1, state: "starting" })),
  event(7, item({ revision: 1, position: 1, item_kind: "user_message" })),
  event(8, item({ id: "i2", revision: 1, position: 2 })),
  event(9, run({ revision: 2, state: "running" })),
  event(10, request({ revision: 1 })),
  event(11, run({ revision: 3, state: "waiting" })),
  event(12, request({ revision: 2, state: "answered", answer: { decision: "accept" } })),
  event(13, item({ id: "i2", revision: 2, position: 2, state: "completed" })),
  event(14, run({ revision: 4, state: "ended", outcome: "completed" })),
];

const all = (state: PageState, events: PageEvent[]) => events.reduce(applyEvent, state);

describe("the store", () => {
  const begun = openThread(EMPTY, snapshot());

  it("gives the same for events once, twice, and in any order", () => {
    const once = opened(all(begun, EVENTS));
    const tables = (o: typeof once) => ({ runs: o.runs, items: o.items, requests: o.requests, order: o.order, state: o.state });
    expect(tables(opened(all(begun, [...EVENTS, ...EVENTS])))).toEqual(tables(once));
    expect(tables(opened(all(begun, [...EVENTS].reverse())))).toEqual(tables(once));
    expect(once.order).toEqual(["i1", "i2"]);
    expect(once.state).toBe("idle");
  });

  it("keeps the higher revision when a snapshot is behind its events", () => {
    const ahead = all(begun, EVENTS);
    const late = openThread(ahead, snapshot({ runs: [run({ revision: 2, state: "running" })], requests: [request()], items: [{ item: item({ id: "i2", position: 2, revision: 1 }), text: {} }] }));
    expect(opened(late).runs["r1"]?.state).toBe("ended");
    expect(opened(late).requests["q1"]?.state).toBe("answered");
    expect(opened(late).items["i2"]?.state).toBe("completed");
  });

  it("says what a thread does in the server's words", () => {
    expect(opened(all(begun, EVENTS.slice(0, 4))).state).toBe("working");
    expect(opened(all(begun, EVENTS.slice(0, 6))).state).toBe("question");
    expect(opened(all(begun, [...EVENTS.slice(0, 4), EVENTS[5] as PageEvent])).state).toBe("needs_input");
  });

  it("asks for affordances anew after what they depend on, and not after text", () => {
    expect(opened(all(begun, [EVENTS[1] as PageEvent])).dated).toBe(false);
    expect(opened(all(begun, [EVENTS[0] as PageEvent])).dated).toBe(true);
    const read = openThread(all(begun, EVENTS), snapshot({ sequence: 14 }));
    expect(opened(read).dated).toBe(false);
    expect(opened(openThread(all(begun, EVENTS), snapshot({ sequence: 8 }))).dated).toBe(true);
  });

  it("leaves an unknown kind of entity aside", () => {
    const state = applyEvent(begun, event(20, { kind: "weather", id: "w", degrees: 3 }));
    expect(state.sequence).toBe(20);
    expect(opened(state).items).toEqual({});
    expect(applyEvent(begun, normal.event({ sequence: 21, type: "x", thread_id: "t1", entity: null })).sequence).toBe(21);
  });

  it("puts older items before, and knows where the beginning is", () => {
    const state = openThread(EMPTY, snapshot({ items: [{ item: item({ id: "i9", position: 9 }), text: {} }], before: 9 }));
    const page = normal.itemPage({ sequence: 5, items: [{ item: item({ id: "i8", position: 8 }), text: {} }], before: null });
    const more = addPage(state, "t1", page);
    expect(opened(more).order).toEqual(["i8", "i9"]);
    expect(opened(more).before).toBeNull();
    expect(addPage(state, "other", page)).toBe(state);
    // Reading the thread again with fewer items forgets nothing.
    expect(opened(openThread(more, snapshot({ items: [], before: 9 }))).order).toEqual(["i8", "i9"]);
    expect(opened(openThread(more, snapshot({ items: [], before: 9 }))).before).toBeNull();
  });

  it("notices another server", () => {
    const first = hello(EMPTY, "rt_1", 1);
    expect(first.rebooted).toBe(false);
    expect(hello(first, "rt_1", 2).rebooted).toBe(false);
    expect(hello(first, "rt_2", 3).rebooted).toBe(true);
  });

  it("moves a row for a message of the user only", () => {
    const list = normal.threadList({ boot: "rt_1", sequence: 5, threads: [row("t1", { last_message_at: 5 }), row("t2", { last_message_at: 4 })] });
    const state = listThreads(EMPTY, list);
    const acted = all(state, [event(6, run({ origin: "agent", created_at: 90 })), event(7, item()), event(8, request())]);
    expect(acted.rows["t1"]?.last_message_at).toBe(5);
    expect(acted.rows["t1"]?.requests).toHaveLength(1);
    expect(all(acted, [event(9, request({ revision: 2, state: "expired" }))]).rows["t1"]?.requests).toHaveLength(0);
    expect(all(state, [event(6, run({ created_at: 90 }))]).rows["t1"]?.last_message_at).toBe(90);
  });
});

describe("growing text", () => {
  const have = withDelta(NO_TEXT, delta(1, 2, "ab"))[1];

  it("takes the next part, ignores an old one, and knows a gap", () => {
    expect(have).toMatchObject({ text: "ab", parts: 2, chars: 2 });
    expect(withDelta(have, delta(3, 3, "c"))).toMatchObject(["applied", { text: "abc", parts: 3 }]);
    expect(withDelta(have, delta(1, 2, "ab"))).toEqual(["old", have]);
    expect(withDelta(have, delta(4, 5, "de"))).toEqual(["gap", have]);
    expect(withDelta(have, delta(2, 3, "bc"))).toEqual(["gap", have]);
    expect(withDelta(NO_TEXT, delta(2, 2, "x"))[0]).toBe("gap");
  });

  it("begins anew with an epoch, and never goes back to an old one", () => {
    const [how, next] = withDelta(have, delta(1, 1, "new", { body_epoch: 2 }));
    expect([how, next.text, next.epoch]).toEqual(["applied", "new", 2]);
    expect(withDelta(next, delta(3, 3, "old"))).toEqual(["old", next]);
    expect(withDelta(have, delta(2, 2, "x", { body_epoch: 2 }))[0]).toBe("gap");
  });

  it("takes what was read, but never less than it has", () => {
    const view = { epoch: 1, parts: 4, chars: 4, text: "abcd", closed: false, tail: null };
    expect(withView(have, view)).toMatchObject({ text: "abcd", parts: 4 });
    expect(withView(have, { ...view, parts: 1, text: "a" })).toBe(have);
    expect(withView(NO_TEXT, { ...view, text: "a", chars: 10, tail: "z" })).toMatchObject({ text: `a${CUT}z`, omitted: 8 });
  });

  it("knows when text is missing that will not come by itself", () => {
    const ref = { epoch: 1, parts: 3, chars: 3, sha256: null, closed: true };
    expect(lacks(have, ref, true)).toBe(true);
    expect(lacks(have, ref, false)).toBe(false);
    expect(lacks(have, { ...ref, parts: 2 }, true)).toBe(false);
    expect(lacks(undefined, ref, true)).toBe(true);
  });

  it("is bounded", () => {
    const long = withDelta(have, delta(3, 3, "x".repeat(KEPT_MAX)))[1];
    expect(long.text.length).toBeLessThanOrEqual(KEPT_MAX);
    expect(long.omitted + long.text.length).toBe(long.chars);
  });
});
