/** Answering: sent once, with what became of it in words. */
import { api, freshId, Problem, type Answering } from "../api/client";
import type { Option, Request } from "../api/types";
import { unmasked } from "../markdown/urls";
import { timeOf } from "../shell/time";

export type Decision = Omit<Answering, "command_id">;

export type Result = { ok: true } | { ok: false; late: boolean; words: string };

const ids = new Map<string, string>();

/** The same answer to the same request has the same id, so that a repeat after a lost connection is harmless. */
function commandId(request: string, decision: Decision): string {
  const key = `${request} ${JSON.stringify(decision)}`;
  const id = ids.get(key) ?? freshId("cmd");
  ids.set(key, id);
  return id;
}

export async function decide(request: Request, decision: Decision): Promise<Result> {
  try {
    await api.answer(request.id, { command_id: commandId(request.id, decision), ...decision });
    return { ok: true };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    if (error.status === 410) {
      return { ok: false, late: true, words: "Too late: the agent ended this request. Nothing was sent." };
    }
    if (error.status === 409) {
      return { ok: false, late: true, words: `Somebody was first. ${error.detail} Nothing more was sent.` };
    }
    if (error.unanswered) return { ok: false, late: false, words: "No connection. Nobody knows whether the answer arrived; try again, it counts once." };
    return { ok: false, late: false, words: `${error.detail} ${error.fix}`.trim() };
  }
}

const REACH: { [effect: string]: number } = { allow_once: 0, allow_session: 1, allow_always: 2, other: 3, decline: 4, cancel: 5 };

/** The options with the narrowest allow first; none is added or left out. */
export function inOrder(options: readonly Option[]): Option[] {
  return [...options].sort((a, b) => (REACH[a.effect] ?? 3) - (REACH[b.effect] ?? 3));
}

export function narrowest(options: readonly Option[]): Option | undefined {
  return inOrder(options).find((o) => o.effect === "allow_once") ?? inOrder(options).find((o) => o.effect.startsWith("allow"));
}

export function denial(options: readonly Option[]): Option | undefined {
  return options.find((o) => o.effect === "decline") ?? options.find((o) => o.effect === "cancel");
}

const KINDS: { [kind: string]: string } = {
  command_approval: "Wants to run a command",
  file_change_approval: "Wants to change files",
  file_read_approval: "Wants to read files",
  permission_approval: "Wants a permission",
  tool_approval: "Wants to use a tool",
  question: "Has a question",
  elicitation: "Wants some details",
  plan_decision: "Shows a plan for your decision",
};

export function heading(request: Request): string {
  return KINDS[request.request_kind] ?? `Asks for something this page does not know (${request.request_kind})`;
}

/** Who answered, where it is worth a word. */
const WHO: { [actor: string]: string } = { page: "", user: "", api: " by a program" };

/** What became of a request that is over, in one line. */
export function outcome(request: Request): string {
  const when = request.closed_at === null ? "" : ` at ${timeOf(request.closed_at)}`;
  if (request.state === "answered") {
    const chosen = request.options.find((o) => o.id === request.answer?.decision);
    const said = request.answer?.answers?.map((a) => a.join(", ")).filter(Boolean).join(" · ");
    const who = WHO[request.answered_by ?? "page"] ?? ` by ${request.answered_by}`;
    const secret = request.content.questions.some((q) => q.secret);
    const unsure = request.delivery === "unknown" ? " We do not know whether the agent got it." : "";
    const words = request.answer?.text?.trim();
    const why = words && !secret ? ` Said with it: “${unmasked(words)}”` : "";
    return `${chosen?.label ?? request.answer?.decision ?? "Answered"}${said && !secret ? `: ${unmasked(said)}` : ""}${who}${when}.${unsure}${why}`;
  }
  if (request.state === "expired") return `The agent ended this request${when}. Nothing was sent.`;
  return `The run ended before this was answered${when}.`;
}
