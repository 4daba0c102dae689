import { useCallback, useSyncExternalStore } from "react";
import type { Body } from "../api/types";
import type { LiveText } from "../store/live";
import { texts } from "../store/page";

/** The text of a body; draws again once a frame while it grows. */
export function useBody(item: string, field: Body): LiveText {
  const subscribe = useCallback((then: () => void) => texts.subscribe(item, field, then), [item, field]);
  const get = () => texts.get(item, field);
  return useSyncExternalStore(subscribe, get, get);
}
