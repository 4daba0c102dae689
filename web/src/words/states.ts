/** The words and shapes of a thread's state. A shape never stands without its word. */
import type { Request, Run, ThreadRow, ThreadState } from "../api/types";
import { unmasked } from "../markdown/urls";
import { within } from "./paths";

export type Shape = "working" | "question" | "input" | "idle" | "done" | "failed" | "left" | "stale";

export interface Mark {
  shape: Shape;
  word: string;
}

export const SHAPES: { [shape in Shape]: string } = {
  working: "◐",
  question: "?",
  input: "!",
  idle: "·",
  done: "✓",
  failed: "✕",
  left: "⊘",
  stale: "◌",
};

/** What waits for an answer, by its kind: an approval is no question. */
function asks(pending: readonly Request[]): string {
  const approvals = pending.filter((r) => r.request_kind.endsWith("_approval")).length;
  const word = approvals === 0 ? "Question" : approvals === pending.length ? "Approval" : "Request";
  return pending.length > 1 ? `${pending.length} ${word.toLowerCase()}s` : word;
}

/** What is shown of a thread. Without a live connection nothing is said to be working. */
export function markOf(state: ThreadState, run: Run | null, live: boolean, pending: readonly Request[]): Mark {
  if (state === "left") return { shape: "left", word: "Not observed" };
  if (!live && (state === "working" || state === "question" || state === "needs_input")) return { shape: "stale", word: "Not known now" };
  switch (state) {
    case "working":
      return { shape: "working", word: "Working" };
    case "question":
      return { shape: "question", word: asks(pending) };
    case "needs_input":
      return { shape: "input", word: "Needs input" };
    case "ended":
      return { shape: "done", word: "Ended" };
    default:
      return run?.outcome === "failed" || run?.outcome === "unverifiable" ? { shape: "failed", word: "Idle, last run failed" } : { shape: "idle", word: "Idle" };
  }
}

/** What a thread waits for, in one line. */
export function waitsFor(row: ThreadRow): string {
  return unmasked(wants(row));
}

function wants(row: ThreadRow): string {
  const request = row.requests[0];
  if (!request) return "";
  const { content, request_kind: kind } = request;
  if (content.command) return `wants to run: ${content.command}`;
  if (kind === "file_change_approval") return `wants to change ${content.paths[0] === undefined ? "files" : within(row.thread.workspace, content.paths[0])}`;
  if (content.questions[0]) return content.questions[0].text;
  return content.title || "asks something";
}
