/** Drafts: in local storage from the first key until the receipt. */

const KEY = "podium.draft.";
/** Longest draft that is kept over a reload, in characters. */
export const DRAFT_MAX = 1_000_000;

const memory = new Map<string, string>();

export function draftOf(place: string): string {
  const held = memory.get(place);
  if (held !== undefined) return held;
  try {
    return localStorage.getItem(KEY + place) ?? "";
  } catch {
    return "";
  }
}

export function keepDraft(place: string, text: string): void {
  memory.set(place, text);
  try {
    if (text === "") localStorage.removeItem(KEY + place);
    else if (text.length <= DRAFT_MAX) localStorage.setItem(KEY + place, text);
  } catch {
    // Without room the draft lives as long as the page.
  }
}

/** After the receipt: away, unless something else was typed meanwhile. */
export function sentDraft(place: string, text: string): boolean {
  if (draftOf(place) !== text) return false;
  keepDraft(place, "");
  return true;
}
