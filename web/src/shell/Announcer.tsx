import { useEffect, useRef, useState } from "react";
import { unmasked } from "../markdown/urls";
import { heading } from "../requests/decide";
import { usePage } from "../store/page";

/** Tells a screen reader where something began or ended, and nothing of the text that grows. */
export function Announcer() {
  const opened = usePage((s) => s.opened);
  const [said, say] = useState("");
  const known = useRef<{ thread: string; seen: Set<string> }>({ thread: "", seen: new Set() });
  useEffect(() => {
    if (opened === null) return;
    const fresh: string[] = [];
    const first = known.current.thread !== opened.id;
    if (first) known.current = { thread: opened.id, seen: new Set() };
    const note = (key: string, words: string) => {
      if (known.current.seen.has(key)) return;
      known.current.seen.add(key);
      if (!first) fresh.push(words);
    };
    for (const run of Object.values(opened.runs)) {
      if (run.state === "ended") note(`${run.id} end`, `Run ${run.outcome}.`);
      else if (run.state !== "queued") note(`${run.id} start`, "Run started.");
    }
    for (const request of Object.values(opened.requests)) {
      if (request.state === "pending") note(request.id, `${heading(request)}. ${unmasked(request.content.title)}`);
    }
    if (fresh.length > 0) say(fresh.join(" "));
  }, [opened]);
  return (
    <div className="hidden" role="status" aria-live="polite">
      {said}
    </div>
  );
}
