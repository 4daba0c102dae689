/** What an agent may do unasked, in words. */
import type { Mode } from "../api/types";

export const MODES: readonly Mode[] = ["read", "ask", "edit", "full"];

/** What holds where nothing is chosen. */
export const MODE_DEFAULT: Mode = "ask";

export const MODE_WORDS: { [mode in Mode]: string } = {
  read: "It looks and answers; it changes no file.",
  ask: "It asks you before it changes a file or runs a command.",
  edit: "It changes files in its folder unasked, and asks you before it does more.",
  full: "It does everything unasked.",
};
