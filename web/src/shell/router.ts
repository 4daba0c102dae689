/** Where the page is, from the address. */
import { useSyncExternalStore } from "react";

export type Place = { at: "home" } | { at: "start" } | { at: "thread"; thread: string; panel: "changes" | null; run: string | null };

export function placeOf(path: string, query: string): Place {
  const match = /^\/t\/([^/]+)\/?$/.exec(path);
  if (match?.[1]) {
    const params = new URLSearchParams(query);
    return {
      at: "thread",
      thread: decodeURIComponent(match[1]),
      panel: params.get("panel") === "changes" ? "changes" : null,
      run: params.get("run"),
    };
  }
  return path === "/start" ? { at: "start" } : { at: "home" };
}

const listeners = new Set<() => void>();
const tell = () => listeners.forEach((l) => l());
window.addEventListener("popstate", tell);

export function go(to: string, replace = false): void {
  if (to === location.pathname + location.search) return;
  if (replace) history.replaceState(null, "", to);
  else history.pushState(null, "", to);
  tell();
}

export const threadPath = (id: string): string => `/t/${encodeURIComponent(id)}`;
export const changesPath = (id: string, run: string | null): string =>
  `${threadPath(id)}?panel=changes${run ? `&run=${encodeURIComponent(run)}` : ""}`;

export function useAddress(): string {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => location.pathname + location.search,
  );
}

/** A click that the browser should handle itself: a new tab, a new window. */
export function isPlainClick(event: { button: number; metaKey: boolean; ctrlKey: boolean; shiftKey: boolean; altKey: boolean }): boolean {
  return event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
}
