/** Which items are open: a choice of the person, kept for the session. */
import { useState } from "react";

const chosen = new Map<string, boolean>();

export function useOpen(key: string, rests: boolean): [boolean, () => void] {
  const [open, setOpen] = useState(chosen.get(key) ?? rests);
  return [
    open,
    () => {
      chosen.set(key, !open);
      setOpen(!open);
    },
  ];
}
