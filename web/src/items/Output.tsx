import { memo, useEffect, useMemo, useRef, useState } from "react";
import { api } from "../api/client";
import type { LiveText } from "../store/live";
import { linesOf, spansOf } from "./ansi";

/** Lines of one block: long output is laid out block by block, and only what changed is drawn again. */
const BLOCK = 200;
/** Lines of the window of a running command. */
export const WINDOW_LINES = 12;
/** Lines that are laid out at most; more is fetched by hand. */
const LINES_KEPT = 4_000;
/** Distance from the end, in pixels, within which a window follows. */
const END = 24;
/** Characters of one more part of a long output. */
const PART = 200_000;

interface Props {
  body: LiveText;
  running: boolean;
  thread: string;
  item: string;
}

/** Output of a command: its end while it runs, all of it by page. */
export function Output({ body, running, thread, item }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const follows = useRef(true);
  const acted = useRef(false);
  const [middle, setMiddle] = useState<string[]>([]);
  const [trouble, setTrouble] = useState("");
  const lines = useMemo(() => linesOf(body.text.endsWith("\n") ? body.text.slice(0, -1) : body.text), [body.text]);
  const shown = running ? lines.slice(-LINES_KEPT) : lines;
  const empty = body.chars === 0;
  useEffect(() => {
    const element = box.current;
    const inner = element?.firstElementChild;
    if (!element || !inner || !running) return;
    // Blocks that come into view turn out larger or smaller than was thought.
    const watch = new ResizeObserver(() => {
      if (follows.current) element.scrollTop = element.scrollHeight;
    });
    watch.observe(inner);
    return () => watch.disconnect();
  }, [running, empty]);
  if (empty) return <p className="meta">{running ? "No output yet." : "No output."}</p>;
  const loaded = middle.reduce((sum, part) => sum + part.length, 0);
  const more = body.omitted - loaded;
  const head = body.omitted > 0 ? body.text.indexOf("\n\n⋯\n\n") : -1;
  return (
    <>
      <div
        ref={box}
        className={`output${running ? " output-live" : ""}`}
        tabIndex={0}
        role="group"
        aria-label="Output"
        onWheel={() => (acted.current = true)}
        onPointerDown={() => (acted.current = true)}
        onKeyDown={() => (acted.current = true)}
        onTouchMove={() => (acted.current = true)}
        onScroll={(e) => {
          // Only the user's own scrolling leaves or takes up following.
          const el = e.currentTarget;
          if (acted.current) follows.current = el.scrollHeight - el.scrollTop - el.clientHeight <= END;
        }}
        onScrollEnd={() => (acted.current = false)}
      >
        <div>
          <Blocks lines={head >= 0 && middle.length > 0 ? linesOf(body.text.slice(0, head) + middle.join("")) : shown} />
        </div>
      </div>
      {body.omitted > 0 && (
        <p className="meta output-more">
          {more > 0 ? `${more.toLocaleString("en")} characters in the middle are not shown. ` : "All of it is shown up to the cut. "}
          {more > 0 && head >= 0 && (
            <button
              type="button"
              className="quiet"
              onClick={() => {
                const start = head + loaded;
                api
                  .body(thread, item, "output", start, start + Math.min(PART, more))
                  .then((range) => setMiddle([...middle, range.text]))
                  .catch((e: unknown) => setTrouble(e instanceof Error ? e.message : "It could not be read."));
              }}
            >
              show more
            </button>
          )}{" "}
          {trouble}
        </p>
      )}
    </>
  );
}

function Blocks({ lines }: { lines: string[] }) {
  const blocks: { text: string; carry: string }[] = [];
  let carry = "";
  for (let i = 0; i < lines.length; i += BLOCK) {
    const text = lines.slice(i, i + BLOCK).join("\n");
    blocks.push({ text, carry });
    carry = spansOf(text, carry)[1];
  }
  return (
    <>
      {blocks.map((block, i) => (
        <BlockOfLines key={i} text={block.text} carry={block.carry} />
      ))}
    </>
  );
}

const BlockOfLines = memo(function BlockOfLines({ text, carry }: { text: string; carry: string }) {
  const [spans] = spansOf(text, carry);
  return (
    <pre className="output-block">
      {spans.map((span, i) =>
        span.className || span.color || span.background ? (
          <span key={i} className={span.className} style={span.color || span.background ? { color: span.color, backgroundColor: span.background } : undefined}>
            {span.text}
          </span>
        ) : (
          span.text
        ),
      )}
      {"\n"}
    </pre>
  );
});
