/**
 * How the page's knowledge changes: pure, and safe to repeat. An entity is kept with its highest revision, so that a
 * snapshot and the events above it may come in any order and more than once.
 */
import type { Entity, Item, ItemPage, PageEvent, Request, Run, Snapshot, ThreadList, ThreadRow, ThreadState } from "../api/types";
import type { Opened, PageState, Table } from "./state";

interface Revised {
  readonly id: string;
  readonly revision: number;
}

/** A table with one entity put in, or the same table if it knows a newer one. */
export function keep<T extends Revised>(table: Table<T>, entity: T): Table<T> {
  const known = table[entity.id];
  return known !== undefined && known.revision >= entity.revision ? table : { ...table, [entity.id]: entity };
}

function keepAll<T extends Revised>(table: Table<T>, entities: readonly T[]): Table<T> {
  return entities.reduce(keep, table);
}

/** Item ids in the order the server stored them. */
function ordered(items: Table<Item>): readonly string[] {
  return Object.values(items)
    .sort((a, b) => a.position - b.position)
    .map((i) => i.id);
}

// ---- the list

export function listThreads(state: PageState, list: ThreadList): PageState {
  const rows: { [id: string]: ThreadRow } = {};
  for (const row of list.threads) {
    const known = state.rows[row.thread.id];
    rows[row.thread.id] = known && state.sequence > list.sequence ? newer(known, row) : row;
  }
  return { ...state, rows, listed: true, boot: state.boot ?? list.boot };
}

function newer(known: ThreadRow, read: ThreadRow): ThreadRow {
  const run = known.run && (!read.run || read.run.id !== known.run.id || known.run.revision > read.run.revision) ? known.run : read.run;
  return { ...read, run };
}

/** One row read anew. */
export function putRow(state: PageState, row: ThreadRow): PageState {
  return { ...state, rows: { ...state.rows, [row.thread.id]: row } };
}

function rowWith(row: ThreadRow, event: PageEvent): ThreadRow {
  const entity = event.entity as Entity;
  switch (entity.kind) {
    case "thread":
      if (entity.revision <= row.thread.revision) return row;
      return {
        ...row,
        thread: entity,
        title: entity.title || row.title,
        state: word(entity.archived, row.run, row.requests.length > 0, row.state),
      };
    case "run":
      return runInRow(row, entity);
    case "request": {
      const others = row.requests.filter((r) => r.id !== entity.id);
      const requests = entity.state === "pending" ? [...others, entity].sort((a, b) => a.created_at - b.created_at) : others;
      return { ...row, requests, state: word(row.thread.archived, row.run, requests.length > 0, row.state) };
    }
    default:
      return row;
  }
}

function runInRow(row: ThreadRow, run: Run): ThreadRow {
  const known = row.run;
  if (known && known.id === run.id && known.revision >= run.revision) return row;
  const newest = !known || run.ordinal >= known.ordinal;
  // What is shown of a thread is the run at work, else the newest.
  const shown = newest || (known.state === "queued" && run.state !== "ended") ? run : known;
  const spoken = newest && run.origin !== "agent" ? Math.max(row.last_message_at, run.created_at) : row.last_message_at;
  return { ...row, run: shown, last_message_at: spoken, state: word(row.thread.archived, shown, row.requests.length > 0, row.state) };
}

/** One of the five words, by the server's rule; its own word replaces this one when the thread is read. */
export function word(archived: boolean, run: Run | null, pending: boolean, before: ThreadState): ThreadState {
  if (archived) return "ended";
  if (run === null || run.state === "ended") return "idle";
  if (before === "left") return "left";
  if (pending) return "question";
  return run.state === "waiting" ? "needs_input" : "working";
}

// ---- one thread

/**
 * A thread read whole, or with fewer items than are known; entities that are known with a higher revision stay. Events
 * come without a hole, so what lies between the items that are known and those that were read comes by itself.
 */
export function openThread(state: PageState, read: Snapshot): PageState {
  const same = state.opened?.id === read.thread.id ? state.opened : null;
  const items = keepAll(same?.items ?? {}, read.items.map((v) => v.item));
  const runs = keepAll(same?.runs ?? {}, read.runs);
  const opened: Opened = {
    id: read.thread.id,
    sequence: read.sequence,
    thread: same && same.thread.revision > read.thread.revision ? same.thread : read.thread,
    title: read.title,
    state: read.state,
    runs,
    messages: keepAll(same?.messages ?? {}, read.messages),
    nodes: keepAll(same?.nodes ?? {}, read.nodes),
    requests: keepAll(same?.requests ?? {}, read.requests),
    plans: keepAll(same?.plans ?? {}, read.plans),
    checkpoints: keepAll(same?.checkpoints ?? {}, read.checkpoints),
    degradations: keepAll(same?.degradations ?? {}, read.degradations),
    notices: keepAll(same?.notices ?? {}, read.notices),
    providerThreads: keepAll(same?.providerThreads ?? {}, read.provider_threads),
    session: read.session,
    items,
    order: [],
    before: same && same.order.length > 0 ? older(same.before, read.before) : read.before,
    affordances: read.affordances,
    // An event above the snapshot came while it was read.
    dated: same !== null && same.dated && state.sequence > read.sequence,
    anchors: same?.anchors ?? {},
    endedAtOpen: same?.endedAtOpen ?? read.runs.filter((r) => r.state === "ended").map((r) => r.id),
  };
  const row = state.rows[read.thread.id];
  const rows = row
    ? { ...state.rows, [read.thread.id]: { ...row, state: read.state, title: read.title || row.title, thread: opened.thread } }
    : state.rows;
  return { ...state, rows, trouble: null, opened: { ...opened, order: ordered(opened.items) } };
}

function older(a: number | null, b: number | null): number | null {
  return a === null || b === null ? null : Math.min(a, b);
}

/** Older items, read by page. */
export function addPage(state: PageState, thread: string, page: ItemPage): PageState {
  const opened = state.opened;
  if (opened === null || opened.id !== thread) return state;
  const items = keepAll(opened.items, page.items.map((v) => v.item));
  return { ...state, opened: { ...opened, items, order: ordered(items), before: page.before } };
}

const AFFECTS_AFFORDANCES = new Set(["thread", "run", "request", "session", "turn", "attempt", "checkpoint", "provider_thread", "message"]);

/** An event of the stream. One that was applied already changes nothing. */
export function applyEvent(state: PageState, event: PageEvent): PageState {
  const row = state.rows[event.thread_id];
  const rows = row ? { ...state.rows, [event.thread_id]: rowWith(row, event) } : state.rows;
  const opened = state.opened?.id === event.thread_id ? put(state.opened, event) : state.opened;
  return { ...state, sequence: Math.max(state.sequence, event.sequence), rows, opened };
}

function put(opened: Opened, event: PageEvent): Opened {
  const next = { ...opened, dated: opened.dated || (AFFECTS_AFFORDANCES.has(event.entity.kind) && event.sequence > opened.sequence) };
  const entity = event.entity as Entity;
  switch (entity.kind) {
    case "thread":
      return entity.revision > opened.thread.revision ? { ...next, thread: entity, title: entity.title || opened.title } : next;
    case "run": {
      const runs = keep(opened.runs, entity);
      return { ...next, runs, state: now(opened, runs, opened.requests) };
    }
    case "request": {
      const requests = keep(opened.requests, entity);
      const anchors = entity.item_id === null ? anchored(opened, opened.requests, entity) : opened.anchors;
      return { ...next, requests, anchors, state: now(opened, opened.runs, requests) };
    }
    case "message":
      return { ...next, messages: keep(opened.messages, entity) };
    case "node":
      return { ...next, nodes: keep(opened.nodes, entity) };
    case "plan":
      return { ...next, plans: keep(opened.plans, entity), anchors: anchored(opened, opened.plans, entity) };
    case "checkpoint":
      return { ...next, checkpoints: keep(opened.checkpoints, entity) };
    case "degradation":
      return { ...next, degradations: keep(opened.degradations, entity) };
    case "notice":
      return { ...next, notices: keep(opened.notices, entity) };
    case "provider_thread":
      return { ...next, providerThreads: keep(opened.providerThreads, entity) };
    case "session":
      return { ...next, session: opened.session?.id === entity.id && opened.session.revision >= entity.revision ? opened.session : entity };
    case "item": {
      const items = keep(opened.items, entity);
      if (items === opened.items) return next;
      const known = opened.items[entity.id];
      return { ...next, items, order: known?.position === entity.position ? opened.order : ordered(items) };
    }
    default:
      return next;
  }
}

/** Notes the place of something that was not known before: after the newest item, but not after words that wait their turn. */
function anchored(opened: Opened, known: Table<Revised>, entity: Revised): Table<string> {
  const last = opened.order.findLast((id) => opened.runs[opened.items[id]?.run_id ?? ""]?.state !== "queued");
  return known[entity.id] !== undefined || last === undefined ? opened.anchors : { ...opened.anchors, [entity.id]: last };
}

function now(opened: Opened, runs: Table<Run>, requests: Table<Request>): ThreadState {
  const all = Object.values(runs).sort((a, b) => a.ordinal - b.ordinal);
  const run = all.find((r) => r.state !== "ended") ?? all.at(-1) ?? null;
  const pending = Object.values(requests).some((r) => r.state === "pending");
  return word(opened.thread.archived, run, pending, opened.state);
}

/** The stream cannot go on: nothing that is known counts any more until it is read again. */
export function forget(state: PageState, sequence: number): PageState {
  return { ...state, sequence, rows: {}, listed: false, opened: null };
}

/** The first frame of a stream: who answers, and where it stands. */
export function hello(state: PageState, boot: string, at: number): PageState {
  return { ...state, link: "live", heardAt: at, boot, rebooted: state.rebooted || (state.boot !== null && state.boot !== boot) };
}
