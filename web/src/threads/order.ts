/** The order of the list: pure. No act of an agent moves a row; only a message of the user does. */
import type { ThreadRow } from "../api/types";
import { unmasked } from "../markdown/urls";
import { folderName } from "../words/paths";

/** Most rows that are copied to the top. */
export const WAITING_SHOWN = 5;

export interface ThreadGroup {
  workspace: string;
  name: string;
  rows: ThreadRow[];
}

export interface Ordered {
  waiting: ThreadRow[];
  waitingMore: number;
  groups: ThreadGroup[];
  archived: ThreadRow[];
}

export function order(rows: readonly ThreadRow[], search = ""): Ordered {
  const wanted = search.trim().toLocaleLowerCase();
  const found = wanted === "" ? rows : rows.filter((r) => `${titleOf(r)} ${r.thread.workspace}`.toLocaleLowerCase().includes(wanted));
  const shown = found.filter((r) => !r.thread.archived).sort(bySpoken);
  const waiting = rows.filter((r) => r.requests.length > 0 && !r.thread.archived).sort((a, b) => oldest(a) - oldest(b));
  const groups: ThreadGroup[] = [];
  for (const row of shown) {
    const workspace = row.thread.workspace;
    const group = groups.find((g) => g.workspace === workspace);
    if (group) group.rows.push(row);
    else groups.push({ workspace, name: folderName(workspace), rows: [row] });
  }
  return {
    waiting: waiting.slice(0, WAITING_SHOWN),
    waitingMore: Math.max(0, waiting.length - WAITING_SHOWN),
    groups,
    archived: found.filter((r) => r.thread.archived).sort(bySpoken),
  };
}

function bySpoken(a: ThreadRow, b: ThreadRow): number {
  return b.last_message_at - a.last_message_at || (a.thread.id < b.thread.id ? 1 : -1);
}

function oldest(row: ThreadRow): number {
  return Math.min(...row.requests.map((r) => r.created_at));
}

/** The title of a thread as it is shown everywhere. */
export function titleOf(row: ThreadRow): string {
  return unmasked(row.thread.title || row.title || "New thread");
}
