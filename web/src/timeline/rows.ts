/**
 * From what is known of a thread to the rows of its timeline: pure. Items keep the server's order; marks, requests and
 * ends stand with their run. A fold hides nothing that a person must see,
 * and nothing that a person decided.
 */
import type { Checkpoint, Degradation, Item, Message, Node, NoticeEntry, Plan, Request, Run } from "../api/types";
import type { Opened } from "../store/state";

export type Row =
  | { kind: "message"; key: string; item: Item; message: Message | null; run: Run | null }
  | { kind: "item"; key: string; item: Item; children: Item[]; node: Node | null; waiting: boolean }
  | { kind: "fold"; key: string; run: Run; hidden: Item[]; open: boolean }
  | { kind: "plan"; key: string; plan: Plan }
  | { kind: "request"; key: string; request: Request }
  | { kind: "checkpoint"; key: string; checkpoint: Checkpoint }
  | { kind: "degradation"; key: string; degradation: Degradation }
  | { kind: "notice"; key: string; notice: NoticeEntry }
  | { kind: "ended"; key: string; run: Run }
  | { kind: "working"; key: string; run: Run };

const NOTHING: Item[] = [];

export type Folds = { readonly [run: string]: boolean };

/** Items that stay visible when their run is folded. */
function stays(item: Item, node: Node | null, lastText: Item | undefined): boolean {
  switch (item.item_kind) {
    case "user_message":
    case "compaction":
      return true;
    case "assistant_message":
      return item === lastText;
    case "command":
      return item.state !== "completed" || (item.content.exit_code ?? 0) !== 0;
    case "subagent":
      return item.state === "open" || node?.state === "running" || item.state === "failed";
    default:
      return item.state === "open" || item.state === "failed" || item.state === "unverifiable";
  }
}

const worth = (c: Checkpoint): boolean => c.moment === "safety" || c.state === "failed";

export function timeline(opened: Opened, folds: Folds): Row[] {
  const items = inOrder(opened);
  const nodes = Object.values(opened.nodes);
  const byItem = new Map(nodes.filter((n) => n.item_id !== null).map((n) => [n.item_id as string, n]));
  const nested = childrenOf(items, nodes);
  const inside = new Set([...nested.values()].flat().map((i) => i.id));
  const messages = new Map(Object.values(opened.messages).map((m) => [m.item_id, m]));
  const runs = Object.values(opened.runs).sort((a, b) => a.ordinal - b.ordinal);
  const rows: Row[] = [];
  const used = new Set<string>();
  const groups = byRun(items.filter((i) => !inside.has(i.id)));
  const seen = new Set<string>();

  for (const group of groups) {
    const run = group.run === null ? undefined : opened.runs[group.run];
    const last = run !== undefined && groups.findLast((g) => g.run === run.id) === group;
    const first = run !== undefined && !seen.has(run.id);
    if (run) seen.add(run.id);
    const marks = run ? marksOf(opened, run.id) : NO_MARKS;
    const lastText = group.items.findLast((i) => i.item_kind === "assistant_message");
    const folded = run !== undefined && isFolded(opened, run, runs, folds);
    const hidden = folded || (run && folds[run.id] === true) ? group.items.filter((i) => !stays(i, byItem.get(i.id) ?? null, lastText)) : [];
    let shownFold = false;
    if (first) for (const c of marks.checkpoints) if (c.moment === "start" && worth(c)) rows.push(checkpoint(c));
    const begins = group.items.findLast((i) => i.item_kind === "user_message")?.id;
    if (first && begins === undefined) rows.push(...marks.degradations.map(degradation), ...unanchored(opened, marks.plans));
    for (const item of group.items) {
      if (hidden.includes(item)) {
        if (!shownFold && run) rows.push({ kind: "fold", key: `fold-${run.id}`, run, hidden, open: !folded });
        shownFold = true;
      }
      const away = folded && hidden.includes(item);
      const asked = requestsOf(opened, item, nested.get(item.id) ?? []);
      const waiting = asked.some((r) => r.item_id === item.id && r.state === "pending");
      if (!away && item.item_kind === "user_message") {
        rows.push({ kind: "message", key: item.id, item, message: messages.get(item.id) ?? null, run: run ?? null });
      } else if (!away) {
        rows.push({ kind: "item", key: item.id, item, children: nested.get(item.id) ?? NOTHING, node: byItem.get(item.id) ?? null, waiting });
      }
      if (item.id === begins && first) rows.push(...marks.degradations.map(degradation), ...unanchored(opened, marks.plans));
      for (const plan of marks.plans) if (opened.anchors[plan.id] === item.id && !folded) rows.push({ kind: "plan", key: plan.id, plan });
      for (const request of asked) {
        used.add(request.id);
        rows.push({ kind: "request", key: request.id, request });
      }
    }
    if (run && last) rows.push(...tail(opened, run, runs, marks, used));
  }
  for (const run of runs) {
    if (seen.has(run.id) || !loaded(opened, run)) continue;
    const marks = marksOf(opened, run.id);
    rows.push(...marks.degradations.map(degradation), ...unanchored(opened, marks.plans), ...tail(opened, run, runs, marks, used));
  }
  for (const notice of Object.values(opened.notices)) {
    if (notice.run_id === null && worthNotice(notice)) rows.push({ kind: "notice", key: notice.id, notice });
  }
  for (const c of Object.values(opened.checkpoints)) if (c.run_id === null && worth(c)) rows.push(checkpoint(c));
  for (const r of Object.values(opened.requests)) {
    if (!used.has(r.id) && r.run_id === null && r.state === "pending") rows.push({ kind: "request", key: r.id, request: r });
  }
  return rows;
}

/** The stored order, but a message that waited its turn stands where its run begins; while it waits, at the end. */
function inOrder(opened: Opened): Item[] {
  const items = opened.order.map((id) => opened.items[id]).filter((i): i is Item => i !== undefined);
  const queued = new Set(Object.values(opened.messages).filter((m) => m.intent === "queue").map((m) => m.item_id));
  const ordinal = (item: Item) => (item.run_id === null ? 0 : (opened.runs[item.run_id]?.ordinal ?? 0));
  const waited = items.filter((i) => queued.has(i.id) && ordinal(i) > 0);
  if (waited.length === 0) return items;
  const ordered = items.filter((i) => !waited.includes(i));
  for (const item of waited.sort((a, b) => ordinal(a) - ordinal(b))) {
    const later = ordered.findIndex((other) => ordinal(other) >= ordinal(item));
    ordered.splice(later < 0 ? ordered.length : later, 0, item);
  }
  return ordered;
}

/** A run whose items are not loaded yet has no place in the timeline. */
function loaded(opened: Opened, run: Run): boolean {
  if (opened.before === null) return true;
  const oldest = opened.items[opened.order[0] ?? ""];
  const first = oldest?.run_id ? opened.runs[oldest.run_id] : undefined;
  return first === undefined || run.ordinal > first.ordinal;
}

function tail(opened: Opened, run: Run, runs: readonly Run[], marks: Marks, used: Set<string>): Row[] {
  const rows: Row[] = [];
  marks.notices.filter(worthNotice).forEach((notice) => rows.push({ kind: "notice", key: notice.id, notice }));
  for (const request of Object.values(opened.requests)) {
    if (used.has(request.id) || placeOf(request, runs) !== run.id) continue;
    used.add(request.id);
    rows.push({ kind: "request", key: request.id, request });
  }
  if (run.state === "ended" && run.outcome !== "completed") rows.push({ kind: "ended", key: `end-${run.id}`, run });
  if (run.state !== "ended" && run.state !== "queued") rows.push({ kind: "working", key: `work-${run.id}`, run });
  for (const c of marks.checkpoints) if (c.moment !== "start" && worth(c)) rows.push(checkpoint(c));
  return rows;
}

const checkpoint = (c: Checkpoint): Row => ({ kind: "checkpoint", key: c.id, checkpoint: c });
const degradation = (d: Degradation): Row => ({ kind: "degradation", key: d.id, degradation: d });
const worthNotice = (n: NoticeEntry): boolean => n.text !== "";

interface Marks {
  checkpoints: Checkpoint[];
  degradations: Degradation[];
  notices: NoticeEntry[];
  plans: Plan[];
}

const NO_MARKS: Marks = { checkpoints: [], degradations: [], notices: [], plans: [] };

function marksOf(opened: Opened, run: string): Marks {
  const of = <T extends { run_id: string | null }>(table: { readonly [id: string]: T }) =>
    Object.values(table).filter((e) => e.run_id === run);
  return {
    checkpoints: of(opened.checkpoints).sort((a, b) => a.at - b.at),
    degradations: of(opened.degradations),
    notices: of(opened.notices),
    // Only the newest version of a plan is shown.
    plans: of(opened.plans).slice(-1),
  };
}

/** The requests of an item and of what is nested in it, and those that came right after it. */
function requestsOf(opened: Opened, item: Item, inner: readonly Item[]): Request[] {
  const here = new Set([item.id, ...inner.map((i) => i.id)]);
  return Object.values(opened.requests)
    .filter((r) => here.has(r.item_id ?? opened.anchors[r.id] ?? ""))
    .sort((a, b) => a.created_at - b.created_at);
}

/** The run at whose end a request stands that belongs to no item. One of no run that is over: the run that was the newest then. */
function placeOf(request: Request, runs: readonly Run[]): string | null {
  if (request.run_id !== null || request.state === "pending") return request.run_id;
  return runs.findLast((r) => r.created_at <= request.created_at)?.id ?? null;
}

/** A plan whose place nobody saw stands at the beginning of its run. */
function unanchored(opened: Opened, plans: readonly Plan[]): Row[] {
  return plans.filter((p) => opened.anchors[p.id] === undefined).map((plan) => ({ kind: "plan", key: plan.id, plan }));
}

/** Runs rest folded once the next one began, or if they were over when the thread was opened; a choice stays. */
export function isFolded(opened: Opened, run: Run, runs: readonly Run[], folds: Folds): boolean {
  if (run.state !== "ended") return false;
  const chosen = folds[run.id];
  if (chosen !== undefined) return !chosen;
  if (run.outcome === "failed" || run.outcome === "unverifiable") return false;
  const later = runs.some((r) => r.ordinal > run.ordinal && r.state !== "queued");
  return later || opened.endedAtOpen.includes(run.id);
}

interface Group {
  run: string | null;
  items: Item[];
}

function byRun(items: readonly Item[]): Group[] {
  const groups: Group[] = [];
  for (const item of items) {
    const last = groups.at(-1);
    if (last && last.run === item.run_id) last.items.push(item);
    else groups.push({ run: item.run_id, items: [item] });
  }
  return groups;
}

/** The items that stand inside a subagent's, one level deep: the subagent's item → its items. */
function childrenOf(items: readonly Item[], nodes: readonly Node[]): Map<string, Item[]> {
  const byId = new Map(nodes.map((n) => [n.id, n]));
  const children = new Map<string, Item[]>();
  const known = new Set(items.map((i) => i.id));
  for (const item of items) {
    let node = item.node_id === null ? undefined : byId.get(item.node_id);
    let owner: string | null = null;
    for (let depth = 0; node && depth < 64; depth++) {
      if (node.node_kind === "subagent" && node.item_id !== null && node.item_id !== item.id && known.has(node.item_id)) {
        owner = node.item_id;
      }
      node = node.parent_id === null ? undefined : byId.get(node.parent_id);
    }
    if (owner === null) continue;
    children.set(owner, [...(children.get(owner) ?? []), item]);
  }
  return children;
}

/** What a folded run did, as a sentence. */
export function foldSentence(run: Run, hidden: readonly Item[]): string {
  const count = (of: (i: Item) => boolean) => hidden.filter(of).length;
  const failed = count((i) => i.item_kind === "command" && (i.state === "failed" || (i.content.exit_code ?? 0) !== 0));
  const commands = count((i) => i.item_kind === "command");
  const paths = pathsIn(hidden, (state) => state === "completed");
  const declined = pathsIn(hidden, (state) => state === "declined");
  const tools = count((i) => ["tool_call", "web_search", "image", "review", "question"].includes(i.item_kind));
  const subagents = count((i) => i.item_kind === "subagent");
  const texts = count((i) => i.item_kind === "assistant_message");
  const did = [
    commands > 0 && `ran ${number(commands, "command")}${failed > 0 ? ` (${failed} failed)` : ""}`,
    paths.size > 0 && `changed ${number(paths.size, "file")}`,
    declined.size > 0 && `was not allowed to change ${number(declined.size, "file")}`,
    tools > 0 && `used ${number(tools, "tool")}`,
    subagents > 0 && `had ${number(subagents, "subagent")}`,
    texts > 0 && `wrote ${number(texts, "more message")}`,
  ].filter((part): part is string => typeof part === "string");
  const time = run.started_at !== null && run.ended_at !== null ? ` ${duration(run.ended_at - run.started_at)}` : "";
  return `Worked${time}${did.length > 0 ? ` · ${did.join(", ")}` : ""}`;
}

/** The paths of the file changes that ended so. */
function pathsIn(items: readonly Item[], ended: (state: Item["state"]) => boolean): Set<string> {
  const changes = items.filter((i) => i.item_kind === "file_change" && ended(i.state));
  return new Set(changes.flatMap((i) => i.content.changes.map((c) => c.path)));
}

export function number(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** A length of time in seconds, in words. */
export function duration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes} m ${String(whole % 60).padStart(2, "0")} s`;
  return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, "0")} m`;
}
