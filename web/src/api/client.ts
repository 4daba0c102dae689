/** Requests to our own server: JSON in and out, problems as a typed error. */
import * as normal from "./normalize";
import type {
  AgentCard,
  Body,
  BodyRange,
  Changes,
  GivenAnswer,
  ItemPage,
  ItemView,
  NewMessage,
  NewThread,
  PlanWish,
  Receipt,
  Restored,
  ShownPlan,
  Snapshot,
  ThreadList,
  Workspaces,
} from "./types";

/** Longest wait for an answer that is not a stream, in milliseconds. */
export const ANSWER_MAX = 30_000;

/** A problem document of the server (RFC 9457), or a request that got no answer (`status` 0). */
export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    readonly detail: string,
    readonly fix: string = "",
    readonly data: { [key: string]: unknown } = {},
  ) {
    super(detail || code);
  }

  /** Nobody knows whether the server took the request. */
  get unanswered(): boolean {
    return this.status === 0;
  }
}

let onLogin: () => void = () => undefined;

/** Called whenever the server says that there is no login. */
export function whenLoggedOut(then: () => void): void {
  onLogin = then;
}

async function call(method: string, path: string, body?: unknown): Promise<unknown> {
  let response: Response;
  try {
    response = await fetch(path, {
      method,
      credentials: "same-origin",
      cache: "no-store",
      signal: AbortSignal.timeout(ANSWER_MAX),
      headers: body === undefined ? { accept: "application/json" } : { accept: "application/json", "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  } catch {
    throw new Problem(0, "unreachable", "The server did not answer.", "Is `podium serve` still running?");
  }
  const text = await response.text();
  let data: unknown = null;
  try {
    data = text ? JSON.parse(text) : null;
  } catch {
    throw new Problem(response.status, "bad_answer", "The server answered with something that is no JSON.");
  }
  if (response.ok) return data;
  const problem = (data ?? {}) as { [key: string]: unknown };
  if (response.status === 401) onLogin();
  throw new Problem(
    response.status,
    String(problem["code"] ?? `http_${response.status}`),
    String(problem["detail"] ?? problem["title"] ?? `The server answered ${response.status}.`),
    String(problem["fix"] ?? ""),
    problem,
  );
}

const thread = (id: string): string => `/v1/threads/${encodeURIComponent(id)}`;

export type Intent = NewMessage["intent"];
export type Sending = Pick<NewMessage, "client_id" | "text" | "intent">;
export type Beginning = Pick<NewThread, "workspace" | "agent" | "mode" | "command_id">;
export type Answering = Pick<GivenAnswer, "decision"> & Partial<Pick<GivenAnswer, "answers" | "text" | "command_id">>;

export const api = {
  login: (code: string) => call("POST", "/v1/session", { code }),
  info: async () => (await call("GET", "/v1/info")) as { boot?: string; version?: string },
  agents: async (): Promise<AgentCard[]> => {
    const data = (await call("GET", "/v1/agents")) as { agents: unknown[] };
    return data.agents.map(normal.agentCard);
  },
  /** Folders of threads, newest first; then where the server was started. */
  workspaces: async (): Promise<string[]> => {
    const data = (await call("GET", "/v1/workspaces")) as Workspaces;
    return [...new Set([...data.workspaces, data.home])];
  },
  threads: async (): Promise<ThreadList> => normal.threadList(await call("GET", "/v1/threads")),
  thread: async (id: string, items?: number): Promise<Snapshot> =>
    normal.snapshot(await call("GET", items === undefined ? thread(id) : `${thread(id)}?items=${items}`)),
  items: async (id: string, before: number): Promise<ItemPage> =>
    normal.itemPage(await call("GET", `${thread(id)}/items?before=${before}`)),
  item: async (id: string, item: string): Promise<ItemView> =>
    normal.itemView(await call("GET", `${thread(id)}/items/${encodeURIComponent(item)}`)),
  body: async (id: string, item: string, field: Body, start: number, end: number): Promise<BodyRange> =>
    (await call("GET", `${thread(id)}/items/${encodeURIComponent(item)}/bodies/${field}?start=${start}&end=${end}`)) as BodyRange,
  create: async (body: Beginning) => (await call("POST", "/v1/threads", body)) as Receipt,
  archive: async (id: string, archived: boolean) => (await call("PATCH", thread(id), { archived })) as Receipt,
  send: async (id: string, body: Sending) => (await call("POST", `${thread(id)}/messages`, body)) as Receipt,
  interrupt: async (id: string, body: { command_id: string; run?: string }) =>
    (await call("POST", `${thread(id)}/interrupt`, body)) as Receipt,
  answer: async (request: string, body: Answering) =>
    (await call("POST", `/v1/requests/${encodeURIComponent(request)}/answer`, body)) as Receipt,
  changes: async (id: string, run: string | null): Promise<Changes> =>
    normal.changes(await call("GET", `${thread(id)}/diff?text=true${run ? `&run=${encodeURIComponent(run)}` : ""}`)),
  /** What taking back would do; nothing is touched. */
  plan: async (wish: PlanWish): Promise<ShownPlan> => normal.shownPlan(await call("POST", "/v1/checkpoints/plan", wish)),
  /** Do what was shown, and nothing else. */
  restore: async (wish: PlanWish, digest: string): Promise<Restored> =>
    normal.restored(await call("POST", "/v1/checkpoints/restore", { wish, digest })),
};

/** A new id of a command or message; the server makes a repeat of the same id harmless. */
export function freshId(prefix: string): string {
  return `${prefix}_${crypto.randomUUID().replaceAll("-", "")}`;
}
