import { beforeEach, describe, expect, it } from "vitest";
import * as normal from "../src/api/normalize";
import type { AgentCard, Request } from "../src/api/types";
import { asPatch, countsOf, filesOf, pathOf } from "../src/changes/patch";
import { draftOf, keepDraft, sentDraft } from "../src/composer/drafts";
import { meanings } from "../src/composer/meaning";
import { clientId, settled } from "../src/composer/sending";
import { linesOf, spansOf } from "../src/items/ansi";
import { inOrder, narrowest, outcome } from "../src/requests/decide";
import { forget, GUARD, mayDecide, sent, showed } from "../src/requests/guard";
import { answersOf, complete } from "../src/requests/QuestionForm";
import { codeOf } from "../src/shell/login";
import { placeOf } from "../src/shell/router";
import { agentsInOrder, standing } from "../src/start/choose";
import { applyEvent, openThread } from "../src/store/reducer";
import { EMPTY } from "../src/store/state";
import { order, titleOf, WAITING_SHOWN } from "../src/threads/order";
import { AT_END, follow, moves, NEAR } from "../src/timeline/follow";
import { duration, foldSentence, isFolded, timeline } from "../src/timeline/rows";
import { within } from "../src/words/paths";
import { markOf, waitsFor } from "../src/words/states";
import { affordance, affordances, event, item, request, row, run, snapshot } from "./made";

const view = (raw: object) => ({ item: raw, text: {} });
const open = (more: object) => {
  const state = openThread(EMPTY, snapshot(more as never)).opened;
  if (state === null) throw new Error("no thread");
  return state;
};

describe("rows of the timeline", () => {
  const items = [
    view(item({ id: "u", position: 1, item_kind: "user_message", state: "completed" })),
    view(item({ id: "a", position: 2, state: "completed" })),
    view(item({ id: "c", position: 3, item_kind: "command", state: "completed", content: { command: "ls", exit_code: 0 } })),
    view(item({ id: "x", position: 4, item_kind: "command", state: "failed", content: { command: "no", exit_code: 2 } })),
    view(item({ id: "z", position: 5, state: "completed" })),
  ];
  const ended = run({ state: "ended", outcome: "completed", started_at: 10, ended_at: 140 });
  const kinds = (more: object, folds = {}) => timeline(open(more), folds).map((r) => r.key);

  it("fold a run that was over when the thread was opened, but no failure", () => {
    expect(kinds({ runs: [ended], items })).toEqual(["u", "fold-r1", "x", "z"]);
    expect(kinds({ runs: [ended], items }, { r1: true })).toEqual(["u", "fold-r1", "a", "c", "x", "z"]);
  });

  it("stay open under the reader's eyes until the next run begins", () => {
    const before = open({ runs: [run()], items });
    const after = { ...before, runs: { r1: { ...before.runs["r1"]!, state: "ended" as const, outcome: "completed" as const } } };
    expect(isFolded(after, after.runs.r1, [after.runs.r1], {})).toBe(false);
    const next = { ...after.runs.r1, id: "r2", ordinal: 2, state: "running" as const };
    expect(isFolded(after, after.runs.r1, [after.runs.r1, next], {})).toBe(true);
  });

  it("never fold an open request, a substitution, a failed end", () => {
    const more = {
      runs: [run({ state: "ended", outcome: "failed", failure: { kind: "error", code: "x" } })],
      items: items.slice(0, 3),
      requests: [request({ item_id: "c" })],
      degradations: [{ kind: "degradation", id: "d1", thread_id: "t1", run_id: "r1", feature: "f", outcome: "o", reason: "r", consequence: "c" }],
    };
    expect(kinds(more, { r1: false })).toEqual(["u", "d1", "a", "fold-r1", "q1", "end-r1"]);
  });

  it("keep what was decided at its place when its run folds", () => {
    const over = run({ state: "ended", outcome: "interrupted", created_at: 10 });
    const next = run({ id: "r2", ordinal: 2, state: "ended", outcome: "completed", created_at: 100 });
    const more = {
      runs: [over, next],
      items: [...items.slice(0, 3), view(item({ id: "u2", run_id: "r2", position: 9, item_kind: "user_message", state: "completed" }))],
      requests: [
        request({ id: "q1", item_id: "c", state: "answered", answer: { decision: "accept" } }),
        request({ id: "q2", state: "expired", created_at: 30 }),
        request({ id: "q3", run_id: null, state: "expired", created_at: 40 }),
        request({ id: "q4", run_id: null, state: "answered", answer: { decision: "decline" }, created_at: 200 }),
      ],
    };
    expect(kinds(more)).toEqual(["u", "a", "fold-r1", "q1", "q2", "q3", "end-r1", "u2", "q4"]);
  });

  it("put a message that waited where its run begins, and while it waits at the end", () => {
    const said = (id: string, position: number, run_id: string) => view(item({ id, position, run_id, item_kind: "user_message", state: "completed" }));
    const text = (id: string, position: number, run_id: string) => view(item({ id, position, run_id }));
    const message = (id: string, run_id: string, intent: string) => ({ kind: "message", id: `m-${id}`, thread_id: "t1", client_id: id, fingerprint: "f", item_id: id, run_id, intent });
    const messages = [message("u", "r1", "start"), message("s", "r1", "steer"), message("u2", "r2", "queue"), message("u3", "r3", "queue")];
    const waiting = (n: number) => run({ id: `r${n}`, ordinal: n, state: "queued", started_at: null });
    const asked = [said("u", 1, "r1"), said("u2", 2, "r2"), said("s", 3, "r1"), said("u3", 4, "r3"), text("a", 5, "r1")];
    expect(kinds({ runs: [run(), waiting(2), waiting(3)], messages, items: asked })).toEqual(["u", "s", "a", "work-r1", "u2", "u3"]);
    const later = { runs: [ended, run({ id: "r2", ordinal: 2 }), waiting(3)], messages, items: [...asked, text("b", 6, "r2")] };
    expect(kinds(later, { r1: true })).toEqual(["u", "s", "a", "u2", "b", "work-r2", "u3"]);
    // What came while words waited did not come after them.
    const state = openThread(EMPTY, snapshot({ runs: [run(), waiting(2)], messages: messages.slice(0, 3), items: asked.slice(0, 2) }));
    const after = applyEvent(state, event(6, request({ state: "pending" })));
    expect(timeline(after.opened!, {}).map((r) => r.key)).toEqual(["u", "q1", "work-r1", "u2"]);
  });

  it("put a subagent's items inside it, also deeper ones", () => {
    const rows = timeline(
      open({
        runs: [run()],
        nodes: [
          { kind: "node", id: "n0", thread_id: "t1", run_id: "r1", node_kind: "root" },
          { kind: "node", id: "n1", thread_id: "t1", run_id: "r1", node_kind: "subagent", parent_id: "n0", item_id: "s" },
          { kind: "node", id: "n2", thread_id: "t1", run_id: "r1", node_kind: "subagent", parent_id: "n1", item_id: "s2" },
        ],
        items: [
          view(item({ id: "s", position: 1, item_kind: "subagent", node_id: "n0" })),
          view(item({ id: "in", position: 2, node_id: "n1" })),
          view(item({ id: "s2", position: 3, item_kind: "subagent", node_id: "n1" })),
          view(item({ id: "deep", position: 4, node_id: "n2" })),
          view(item({ id: "out", position: 5, node_id: "n0" })),
        ],
      }),
      {},
    );
    expect(rows.map((r) => r.key)).toEqual(["s", "out", "work-r1"]);
    expect(rows[0]?.kind === "item" && rows[0].children.map((c) => c.id)).toEqual(["in", "s2", "deep"]);
  });

  it("show a request without an item at the end of its run, once", () => {
    expect(kinds({ runs: [run({ state: "waiting" })], items: items.slice(0, 2), requests: [request()] })).toEqual(["u", "a", "q1", "work-r1"]);
  });

  it("put what was seen coming where it came, and an unseen plan at the beginning", () => {
    const plan = { kind: "plan", id: "p1", thread_id: "t1", run_id: "r1", plan_kind: "todo_list", steps: [] };
    expect(kinds({ runs: [run()], items: items.slice(0, 3), plans: [plan] })).toEqual(["u", "p1", "a", "c", "work-r1"]);
    let state = openThread(EMPTY, snapshot({ runs: [run()], items: items.slice(0, 2) }));
    state = [
      event(6, request({ state: "pending" })),
      event(7, plan),
      event(8, item({ id: "c", position: 3, item_kind: "command" })),
      event(9, request({ revision: 2, state: "answered", answer: { decision: "accept" } })),
      event(10, { ...plan, revision: 2 }),
    ].reduce(applyEvent, state);
    expect(timeline(state.opened!, {}).map((r) => r.key)).toEqual(["u", "a", "p1", "q1", "c", "work-r1"]);
  });

  it("say what a fold holds", () => {
    const opened = open({ runs: [ended], items });
    const all = opened.order.slice(1).map((id) => opened.items[id]!);
    expect(foldSentence(opened.runs["r1"]!, all)).toBe("Worked 2 m 10 s · ran 2 commands (1 failed), wrote 2 more messages");
    expect(duration(3661)).toBe("1 h 01 m");
  });

  it("say of a fold what was changed, and not what was declined", () => {
    const edit = (id: string, position: number, state: string, path: string) =>
      view(item({ id, position, item_kind: "file_change", state, content: { changes: [{ path, kind: "update", diff: "+x" }] } }));
    const said = (...edits: object[]) => {
      const opened = open({ runs: [ended], items: [items[0], ...edits] });
      return foldSentence(opened.runs["r1"]!, opened.order.slice(1).map((id) => opened.items[id]!));
    };
    expect(said(edit("e", 2, "declined", "/w/a"))).toBe("Worked 2 m 10 s · was not allowed to change 1 file");
    expect(said(edit("e", 2, "completed", "/w/a"), edit("f", 3, "declined", "/w/b"), edit("g", 4, "completed", "/w/a"))).toBe(
      "Worked 2 m 10 s · changed 1 file, was not allowed to change 1 file",
    );
    expect(said(edit("e", 2, "interrupted", "/w/a"))).toBe("Worked 2 m 10 s");
  });
});

describe("following the end", () => {
  it("is left and taken up by acts of the user only", () => {
    const grown = follow(AT_END, { act: "scrolled", distance: 500, at: 10 });
    expect(grown.following).toBe(true);
    const away = follow(follow(AT_END, { act: "wheel", at: 10 }), { act: "scrolled", distance: NEAR + 1, at: 20 });
    expect(away.following).toBe(false);
    // Content that shrinks brings the end near, and must not take following up.
    expect(follow(away, { act: "scrolled", distance: 0, at: 5000 }).following).toBe(false);
    expect(follow(follow(away, { act: "wheel", at: 5000 }), { act: "scrolled", distance: NEAR, at: 5010 }).following).toBe(true);
    expect(follow(away, { act: "jump" }).following).toBe(true);
  });

  it("waits while something is selected, held or pressed", () => {
    const pressed = follow(AT_END, { act: "press", down: true });
    expect([moves(pressed), pressed.following, moves(follow(pressed, { act: "press", down: false }))]).toEqual([false, true, true]);
    expect(moves(follow(AT_END, { act: "selection", some: true }))).toBe(false);
    expect(moves(follow(AT_END, { act: "hold" }))).toBe(false);
    expect(moves(follow(follow(AT_END, { act: "hold" }), { act: "release", at: 1 }))).toBe(true);
  });
});

describe("the list", () => {
  const rows = (...raw: object[]) => raw.map(normal.threadRow);

  it("groups by folder in the order of the user's last message, with copies of what waits, oldest first", () => {
    const found = order(
      rows(
        row("a", { last_message_at: 1, requests: [request({ created_at: 50 })] }),
        row("b", { last_message_at: 3 }, { workspace: "/w/api" }),
        row("c", { last_message_at: 2, requests: [request({ created_at: 40 })] }),
        row("d", { last_message_at: 9 }, { archived: true }),
      ),
    );
    expect(found.waiting.map((r) => r.thread.id)).toEqual(["c", "a"]);
    expect(found.groups.map((g) => [g.name, g.rows.map((r) => r.thread.id)])).toEqual([["api", ["b"]], ["shop", ["c", "a"]]]);
    expect(found.archived.map((r) => r.thread.id)).toEqual(["d"]);
  });

  it("copies at most five and says how many more", () => {
    const many = Array.from({ length: 8 }, (_, i) => row(`t${i}`, { requests: [request({ created_at: i })] }));
    const found = order(rows(...many));
    expect([found.waiting.length, found.waitingMore]).toEqual([WAITING_SHOWN, 3]);
  });

  it("finds titles and folders", () => {
    expect(order(rows(row("a", { title: "Fix the Parser" }), row("b")), "parser").groups.flatMap((g) => g.rows)).toHaveLength(1);
  });

  it("never says Working without a connection", () => {
    expect(markOf("working", null, true, []).word).toBe("Working");
    expect(markOf("working", null, false, []).shape).toBe("stale");
    expect(markOf("left", null, true, []).word).toBe("Not observed");
  });

  it("says what kind of answer is wanted", () => {
    const word = (...kinds: string[]) =>
      markOf("question", null, true, kinds.map((request_kind, i) => normal.entity(request({ id: `q${i}`, request_kind })) as Request)).word;
    expect([word("command_approval"), word("question"), word("tool_approval", "permission_approval"), word("question", "tool_approval")]).toEqual([
      "Approval",
      "Question",
      "2 approvals",
      "2 requests",
    ]);
  });

  it("names characters that deceive the eye", () => {
    const [found] = rows(row("a", { title: "see \u202egpj.exe", requests: [request({ content: { command: "echo \u2066x" } })] }));
    expect([titleOf(found!), waitsFor(found!)]).toEqual(["see ⟨U+202E⟩gpj.exe", "wants to run: echo ⟨U+2066⟩x"]);
  });
});

describe("what sending means", () => {
  const means = (message: object) => meanings(normal.snapshot(snapshot({ affordances: affordances(message as never) })).affordances, "one");

  it("is to start, to steer or to queue, with the other on the second key", () => {
    expect(means({}).first?.intent).toBe("start");
    const steering = means({ means: "steer", steer: affordance(), queue: affordance() });
    expect([steering.first?.intent, steering.other?.intent]).toEqual(["steer", "queue"]);
    const queueing = means({ means: "queue", queue: affordance(), restart: affordance({ state: "fallback", consequence: "Begins again." }) });
    expect([queueing.first?.intent, queueing.other?.intent, queueing.other?.line]).toEqual(["queue", "restart", "Begins again."]);
    expect(means({ means: "queue", queue: affordance() }).other).toBeNull();
  });

  it("is nothing with its reason", () => {
    const none = means({ means: "none", auto: affordance({ state: "disabled", reason: "The thread is archived." }) });
    expect([none.first, none.none?.reason]).toEqual([null, "The thread is archived."]);
  });
});

describe("drafts and ids of messages", () => {
  beforeEach(() => localStorage.clear());

  it("stay until the receipt, and beyond it if something else was typed", () => {
    keepDraft("t1", "hello");
    expect(localStorage.getItem("podium.draft.t1")).toBe("hello");
    keepDraft("t1", "hello again");
    expect(sentDraft("t1", "hello")).toBe(false);
    expect(draftOf("t1")).toBe("hello again");
    expect(sentDraft("t1", "hello again")).toBe(true);
    expect(draftOf("t1")).toBe("");
  });

  it("are the same id for the same text until the server has spoken", () => {
    const first = clientId("t1", "x", "start");
    expect(clientId("t1", "x", "start")).toBe(first);
    expect(clientId("t1", "y", "start")).not.toBe(first);
    const again = clientId("t1", "x", "start");
    settled("t1");
    expect(clientId("t1", "x", "start")).not.toBe(again);
  });
});

describe("requests", () => {
  const asked = (more: object = {}) => normal.entity(request(more as never)) as Request;

  it("offer exactly their options, the narrowest allow strongest", () => {
    expect(inOrder(asked().options).map((o) => o.id)).toEqual(["accept", "always", "decline"]);
    expect(narrowest(asked().options)?.id).toBe("accept");
    expect(narrowest([])).toBeUndefined();
  });

  it("are not decided by a key too soon after they appeared, after a send, or by a repeat", () => {
    forget();
    expect(mayDecide("q", false, 0)).toBe(false);
    showed("q", 1000);
    showed("q", 1500);
    expect(mayDecide("q", false, 1000 + GUARD - 1)).toBe(false);
    expect(mayDecide("q", false, 1000 + GUARD)).toBe(true);
    expect(mayDecide("q", true, 1000 + GUARD)).toBe(false);
    sent(2000);
    expect(mayDecide("q", false, 2000 + GUARD - 1)).toBe(false);
    expect(mayDecide("q", false, 2000 + GUARD)).toBe(true);
  });

  it("take answers by position", () => {
    const questions = asked({ content: { questions: [{ id: "a", text: "A" }, { id: "b", text: "B", multiple: true, required: false }] } }).content.questions;
    const answers = answersOf(questions, [{ chosen: [], own: "mine" }, { chosen: ["x", "y"], own: "" }]);
    expect(answers).toEqual([["mine"], ["x", "y"]]);
    expect(complete(questions, [[], ["x"]])).toBe(false);
    expect(complete(questions, [["a"], []])).toBe(true);
  });

  it("read well once they are over, and keep secrets", () => {
    expect(outcome(asked({ state: "answered", answer: { decision: "accept" } }))).toContain("Allow once");
    expect(outcome(asked({ state: "expired" }))).toContain("The agent ended this request");
    expect(outcome(asked({ state: "answered", answer: { decision: "decline", text: "use \u202emake" } }))).toContain("“use ⟨U+202E⟩make”");
    const secret = asked({ state: "answered", answer: { decision: "accept", answers: [["hunter2"]] }, content: { questions: [{ id: "a", text: "A", secret: true }] } });
    expect(outcome(secret)).not.toContain("hunter2");
  });
});

describe("output", () => {
  it("shows what a screen would: carriage returns, no other sequences, no half ones", () => {
    expect(linesOf("10%\r50%\r100%\nnext\r\nlast")).toEqual(["100%", "next", "last"]);
    expect(linesOf("a\u001b[2Kb\u001b]0;title\u0007c\u001b[?25l\u0007")).toEqual(["abc"]);
    expect(linesOf("done\u001b[3")).toEqual(["done"]);
  });

  it("has colours as classes, and carries them on", () => {
    const [spans, carry] = spansOf("\u001b[31mred", "");
    expect(spans).toMatchObject([{ text: "red", className: "ansi-red-fg" }]);
    expect(spansOf("still", carry)[0]).toMatchObject([{ text: "still", className: "ansi-red-fg" }]);
    expect(spansOf("x\u001b[0m", carry)[1]).toBe("");
    expect(spansOf("\u001b[38;2;1;2;3mt\u001b[0m\u001b[38;5;196mp", "")[0]).toMatchObject([{ color: "rgb(1, 2, 3)" }, { color: "rgb(255, 0, 0)" }]);
  });
});

describe("diffs", () => {
  it("are read with a head, without one, and as bare text of a new file", () => {
    const [file] = filesOf(asPatch("@@ -1 +1,2 @@\n a\n+b\n", "x.txt"));
    expect([pathOf(file!), countsOf(file!)]).toEqual(["x.txt", [1, 0]]);
    expect(countsOf(filesOf(asPatch("one\ntwo\n", "n.txt", "add"))[0]!)).toEqual([2, 0]);
    expect(countsOf(filesOf(asPatch("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", "x"))[0]!)).toEqual([1, 1]);
    expect(countsOf(filesOf(asPatch("--- /w/x\n@@ -0,0 +1,1 @@\n+b\n", "x"))[0]!)).toEqual([1, 0]);
    expect(filesOf(asPatch("no diff at all", "x"))).toEqual([]);
  });
});

describe("paths", () => {
  it("are shown as they stand below the workspace", () => {
    expect([within("/w/shop", "/w/shop/a/b"), within("/w/shop/", "/w/shop/a"), within("/w/shop", "/w/shopping/a"), within("", "/a")]).toEqual(["a/b", "a", "/w/shopping/a", "/a"]);
  });
});

describe("places and logins", () => {
  it("stand in the address", () => {
    expect(placeOf("/t/abc", "?panel=changes&run=r1")).toEqual({ at: "thread", thread: "abc", panel: "changes", run: "r1" });
    expect(placeOf("/start", "")).toEqual({ at: "start" });
    expect(placeOf("/anything", "")).toEqual({ at: "home" });
    expect(codeOf("#code=abc-1")).toBe("abc-1");
    expect(codeOf("#")).toBeNull();
  });
});

describe("agents to choose from", () => {
  const card = (id: string, more: Partial<AgentCard>) => normal.agentCard({ id, name: id, health: "ok", ...more });

  it("begin with the rehearsal where nothing else is ready, and end with it where something is", () => {
    const only = agentsInOrder([card("b", { health: "missing", fix: "install b" }), card("r", { rehearsal: true })]);
    expect(only.map((a) => a.id)).toEqual(["r", "b"]);
    const both = agentsInOrder([card("r", { rehearsal: true }), card("b", {})]);
    expect(both.map((a) => a.id)).toEqual(["b", "r"]);
    expect(standing(only[1]!)).toEqual({ ready: false, words: "not found", command: "install b" });
    expect(standing(only[0]!).words).toBe("ready, no account needed");
  });

  it("begin with nothing that would do more than is asked for, unless that was configured", () => {
    const bare = (more: Partial<AgentCard>) => [card("a", { modes: ["full"], ...more }), card("r", { rehearsal: true, default: true })];
    expect(agentsInOrder(bare({})).map((a) => a.id)).toEqual(["r", "a"]);
    expect(agentsInOrder(bare({ mode: "full" })).map((a) => a.id)).toEqual(["a", "r"]);
  });
});
