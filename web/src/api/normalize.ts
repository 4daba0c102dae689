/**
 * The server leaves out fields that hold their default; here they are filled in again, so that no component has to
 * know. Unknown kinds and unknown fields pass through untouched.
 */
import { MODES } from "../words/modes";
import type {
  Affordance,
  Affordances,
  AgentCard,
  Body,
  BodyRef,
  BodyView,
  Changes,
  Entity,
  Failure,
  Item,
  ItemPage,
  ItemView,
  PageEvent,
  Request,
  Restored,
  ShownPlan,
  Snapshot,
  ThreadList,
  ThreadRow,
} from "./types";

type Raw = { [key: string]: unknown };

const DEFAULTS: { [kind: string]: Raw } = {
  thread: { revision: 1, title: null, model: null, mode: "ask", archived: false, uncaptured: null, created_at: 0 },
  run: {
    revision: 1,
    origin: "user",
    state: "starting",
    outcome: null,
    evidence: null,
    failure: null,
    message_id: null,
    agent: "",
    model: null,
    interrupt_requested_at: null,
    limited: null,
    rolled_back_by: null,
    created_at: 0,
    started_at: null,
    ended_at: null,
  },
  node: { revision: 1, parent_id: null, item_id: null, title: null, state: "running" },
  message: { revision: 1, intent: "start", delivery: "pending", how: null, attachments: [], actor: "user" },
  item: { revision: 1, run_id: null, node_id: null, state: "open", closed_by: null },
  request: {
    revision: 1,
    run_id: null,
    node_id: null,
    item_id: null,
    state: "pending",
    answer: null,
    answered_by: null,
    reason: null,
    delivery: "pending",
    created_at: 0,
    closed_at: null,
  },
  session: { revision: 1, state: "opening", agent_version: null, ended_reason: null },
  provider_thread: { revision: 1, epoch: 1, state: "unbound", model: null, failure: null },
  plan: { revision: 1, steps: [], text: null, explanation: null, final: false },
  checkpoint: { revision: 1, run_id: null, state: "pending", trouble: null, restore: null, at: 0 },
  degradation: { revision: 1, run_id: null, capability: null, policy: null, fidelity: null },
  notice: { revision: 1, run_id: null, detail: null },
};

const CONTENT: Raw = {
  title: null,
  command: null,
  cwd: null,
  exit_code: null,
  duration_ms: null,
  changes: [],
  tool: null,
  server: null,
  arguments: null,
  result: null,
  phase: null,
  path: null,
  query: null,
  background: false,
  native_kind: null,
  payload: null,
  failure: null,
};

const REQUEST: Raw = { title: "", reason: null, command: null, cwd: null, paths: [], diff: null, questions: [], payload: null };
const QUESTION: Raw = { header: "", options: [], multiple: false, free_text: true, secret: false, required: true };
const FAILURE: Raw = { kind: "error", code: "", message: "", retryable: null, fix: "", detail: {} };
const REF: BodyRef = { epoch: 1, parts: 0, chars: 0, sha256: null, closed: false };
const AFFORDANCE: Raw = {
  outcome: "",
  consequence: "",
  capability: "",
  policy: "",
  standing: "",
  evidence_class: "",
  evidence: [],
};

const list = (value: unknown): Raw[] => (Array.isArray(value) ? (value as Raw[]) : []);
const record = (value: unknown): Raw => (value !== null && typeof value === "object" ? (value as Raw) : {});
const failure = (value: unknown): Failure | null =>
  value === null || value === undefined ? null : ({ ...FAILURE, ...record(value) } as unknown as Failure);

/** An entity with its defaults; one of a kind we do not know comes back as it is. */
export function entity(value: unknown, kind?: string): Entity {
  const raw = record(value);
  const known = typeof raw["kind"] === "string" ? raw["kind"] : (kind ?? "");
  const full: Raw = { ...DEFAULTS[known], ...raw, kind: known };
  if ("failure" in full) full["failure"] = failure(full["failure"]);
  if ("trouble" in full) full["trouble"] = failure(full["trouble"]);
  if (known === "item") return item(full);
  if (known === "request") return request(full);
  return full as unknown as Entity;
}

function item(full: Raw): Item {
  const content: Raw = { ...CONTENT, ...record(full["content"]) };
  content["changes"] = list(content["changes"]).map((c) => ({ diff: "", moved_to: null, ...c }));
  content["failure"] = failure(content["failure"]);
  const bodies: Partial<Record<Body, BodyRef>> = {};
  for (const [name, ref] of Object.entries(record(full["bodies"]))) {
    bodies[name as Body] = { ...REF, ...(record(ref) as Partial<BodyRef>) };
  }
  return { ...full, content, bodies } as unknown as Item;
}

function request(full: Raw): Request {
  const content: Raw = { ...REQUEST, ...record(full["content"]) };
  content["questions"] = list(content["questions"]).map((q) => ({
    ...QUESTION,
    ...q,
    options: list(q["options"]).map((o) => ({ description: "", ...o })),
  }));
  const options = list(full["options"]).map((o) => ({ native_label: null, ...o }));
  const answer = full["answer"] ? { answers: null, text: null, ...record(full["answer"]) } : null;
  return { ...full, content, options, answer } as unknown as Request;
}

export function itemView(value: unknown): ItemView {
  const raw = record(value);
  const text: Partial<Record<Body, BodyView>> = {};
  for (const [name, view] of Object.entries(record(raw["text"]))) {
    text[name as Body] = { tail: null, ...record(view) } as unknown as BodyView;
  }
  return { item: entity(raw["item"], "item") as Item, text };
}

export function itemPage(value: unknown): ItemPage {
  const raw = record(value);
  return {
    sequence: Number(raw["sequence"]),
    items: list(raw["items"]).map(itemView),
    before: (raw["before"] ?? null) as number | null,
  };
}

const affordance = (value: unknown): Affordance => ({ ...AFFORDANCE, ...record(value) }) as unknown as Affordance;

function affordances(value: unknown): Affordances {
  const raw = record(value);
  const message = record(raw["message"]);
  const interrupt = record(raw["interrupt"]);
  return {
    message: {
      means: (message["means"] ?? "none") as Affordances["message"]["means"],
      auto: affordance(message["auto"]),
      start: affordance(message["start"]),
      steer: affordance(message["steer"]),
      restart: affordance(message["restart"]),
      queue: affordance(message["queue"]),
    },
    interrupt: {
      state: (interrupt["state"] ?? "unavailable") as Affordances["interrupt"]["state"],
      how: affordance(interrupt["how"]),
    },
    requests: list(raw["requests"]) as unknown as Affordances["requests"],
    images: affordance(raw["images"]),
    archive: affordance(raw["archive"]),
  };
}

export function snapshot(value: unknown): Snapshot {
  const raw = record(value);
  const all = (name: string, kind: string) => list(raw[name]).map((e) => entity(e, kind));
  return {
    boot: String(raw["boot"]),
    sequence: Number(raw["sequence"]),
    thread: entity(raw["thread"], "thread"),
    title: String(raw["title"] ?? ""),
    state: raw["state"],
    runs: all("runs", "run"),
    messages: all("messages", "message"),
    nodes: all("nodes", "node"),
    requests: all("requests", "request"),
    plans: all("plans", "plan"),
    checkpoints: all("checkpoints", "checkpoint"),
    degradations: all("degradations", "degradation"),
    notices: all("notices", "notice"),
    provider_threads: all("provider_threads", "provider_thread"),
    session: raw["session"] ? entity(raw["session"], "session") : null,
    items: list(raw["items"]).map(itemView),
    before: raw["before"] ?? null,
    affordances: affordances(raw["affordances"]),
  } as unknown as Snapshot;
}

export function threadRow(value: unknown): ThreadRow {
  const raw = record(value);
  return {
    ...raw,
    thread: entity(raw["thread"], "thread"),
    run: raw["run"] ? entity(raw["run"], "run") : null,
    requests: list(raw["requests"]).map((r) => entity(r, "request")),
  } as unknown as ThreadRow;
}

export function threadList(value: unknown): ThreadList {
  const raw = record(value);
  return {
    boot: String(raw["boot"]),
    sequence: Number(raw["sequence"]),
    threads: list(raw["threads"]).map(threadRow),
  };
}

export function event(value: unknown): PageEvent {
  const raw = record(value);
  return { run_id: null, at: 0, ...raw, entity: entity(raw["entity"]) } as unknown as PageEvent;
}

export function agentCard(value: unknown): AgentCard {
  const raw = record(value);
  return {
    agent_kind: "",
    version: null,
    health: "unknown",
    problem: "",
    fix: "",
    sign_in: "unknown",
    sign_in_hint: "",
    rehearsal: false,
    default: false,
    mode: null,
    modes: MODES,
    ...raw,
    sign_in_flows: list(raw["sign_in_flows"]).map((f) => ({ kind: String(f["kind"] ?? ""), value: String(f["value"] ?? "") })),
    name: String(raw["name"] ?? raw["id"]),
  } as unknown as AgentCard;
}

export function shownPlan(value: unknown): ShownPlan {
  const raw = record(value);
  const plan = record(raw["plan"]);
  const steps = list(plan["steps"]).map((s) => ({ reason: "", now: null, then: null, ...s }));
  return { digest: raw["digest"], plan: { folders: [], forced: false, ...plan, steps } } as unknown as ShownPlan;
}

export function restored(value: unknown): Restored {
  const raw = record(value);
  const result = record(raw["restore"]);
  return { checkpoint: String(raw["id"]), changed: list(result["done"]).length, left: list(result["refused"]).length };
}

export function changes(value: unknown): Changes {
  const raw = record(value);
  return {
    run_id: null,
    root: "",
    agent: "",
    shared: "",
    truncated: false,
    ...raw,
    unknown: list(raw["unknown"]),
    paths: list(raw["paths"]).map((p) => ({ run: "", renamed_from: "", renamed_to: "", masked: "", gap: false, ...p })),
  } as unknown as Changes;
}
