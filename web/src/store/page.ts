/** The one store of the page, and the reading of it from React. */
import { useStore } from "zustand";
import { createStore } from "zustand/vanilla";
import { LiveTexts } from "./live";
import { EMPTY, type PageState } from "./state";

export const page = createStore<PageState>(() => EMPTY);
export const texts = new LiveTexts();

export function usePage<T>(select: (state: PageState) => T): T {
  return useStore(page, select);
}
