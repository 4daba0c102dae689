import { useCallback } from "react";
import { within } from "../words/paths";
import { usePage } from "./page";

/** Shortens the paths of a thread to what stands below its folder. */
export function useShort(thread: string): (path: string) => string {
  const workspace = usePage((s) => (s.opened?.id === thread ? s.opened.thread.workspace : ""));
  return useCallback((path: string) => within(workspace, path), [workspace]);
}
