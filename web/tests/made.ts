/** Entities for tests, as the server would send them: without what holds its default. */
import * as normal from "../src/api/normalize";
import type { Delta, PageEvent, Snapshot } from "../src/api/types";

type Raw = { [key: string]: unknown };

export const THREAD = { kind: "thread", id: "t1", workspace: "/w/shop", agent: "one", agent_kind: "one", created_at: 1 };

export const run = (more: Raw = {}): Raw => ({ kind: "run", id: "r1", thread_id: "t1", ordinal: 1, state: "running", created_at: 10, started_at: 10, ...more });
export const item = (more: Raw = {}): Raw => ({ kind: "item", id: "i1", thread_id: "t1", item_kind: "assistant_message", position: 1, run_id: "r1", content: {}, bodies: {}, ...more });
export const request = (more: Raw = {}): Raw => ({
  kind: "request",
  id: "q1",
  thread_id: "t1",
  session_id: "s1",
  key: "k",
  request_kind: "command_approval",
  content: { title: "Run it", command: "ls" },
  options: [
    { id: "decline", label: "Decline", effect: "decline" },
    { id: "always", label: "Always", effect: "allow_always" },
    { id: "accept", label: "Allow once", effect: "allow_once" },
  ],
  run_id: "r1",
  created_at: 20,
  ...more,
});

export const affordance = (more: Raw = {}): Raw => ({ state: "available", code: "native", reason: "The agent does this itself.", ...more });

export const affordances = (message: Raw = {}, more: Raw = {}): Raw => ({
  message: {
    means: "start",
    auto: affordance(),
    start: affordance(),
    steer: affordance({ state: "disabled" }),
    restart: affordance({ state: "disabled" }),
    queue: affordance({ state: "disabled" }),
    ...message,
  },
  interrupt: { state: "unavailable", how: affordance({ state: "disabled" }) },
  fork: [],
  requests: [],
  plan_panel: affordance(),
  rollback: [],
  images: affordance(),
  model_switch: affordance(),
  archive: affordance(),
  ...more,
});

export function snapshot(more: Raw = {}): Snapshot {
  return normal.snapshot({
    boot: "rt_1",
    sequence: 5,
    thread: THREAD,
    title: "Title",
    state: "idle",
    runs: [],
    messages: [],
    nodes: [],
    requests: [],
    plans: [],
    checkpoints: [],
    degradations: [],
    notices: [],
    provider_threads: [],
    session: null,
    items: [],
    before: null,
    affordances: affordances(),
    ...more,
  });
}

export function event(sequence: number, entity: Raw, more: Raw = {}): PageEvent {
  return normal.event({ sequence, type: `${String(entity["kind"])}.updated`, thread_id: "t1", run_id: null, at: 0, actor: "x", command_id: null, entity, ...more });
}

export const delta = (from: number, to: number, text: string, more: Partial<Delta> = {}): Delta => ({
  thread_id: "t1",
  item: "i1",
  field: "text",
  body_epoch: 1,
  from_part: from,
  to_part: to,
  text,
  ...more,
});

export const row = (id: string, more: Raw = {}, thread: Raw = {}): Raw => ({
  thread: { ...THREAD, id, ...thread },
  title: id,
  state: "idle",
  run: null,
  requests: [],
  queued: 0,
  last_message_at: 1,
  ...more,
});
