/** Every kind of item of the contract, and those that come after this page was made. */
import { lazy, memo, type ReactNode, Suspense, useRef } from "react";
import type { FileChange, Item, Json, Node } from "../api/types";
import { Markdown } from "../markdown/Markdown";
import { unmasked } from "../markdown/urls";
import { CopyButton } from "../shell/CopyButton";
import { useNow } from "../shell/time";
import { useShort } from "../store/useShort";
import { duration, number } from "../timeline/rows";
import { useOpen } from "./folds";
import { Output } from "./Output";
import { useBody } from "./useBody";

const DiffText = lazy(() => import("../changes/DiffText"));

/** A change of so many lines shows itself without being opened. */
const SMALL_DIFF = 12;

const STATES: { [state: string]: string } = {
  open: "running",
  completed: "done",
  failed: "failed",
  declined: "declined",
  interrupted: "interrupted",
  unverifiable: "outcome unknown",
};

export const ItemRow = memo(function ItemRow({ item, children, node, waiting = false }: { item: Item; children: Item[]; node: Node | null; waiting?: boolean }) {
  switch (item.item_kind) {
    case "assistant_message":
      return <AgentText item={item} />;
    case "reasoning":
      return <Reasoning item={item} />;
    case "command":
      return <Command item={item} waiting={waiting} />;
    case "file_change":
      return <FileChanges item={item} waiting={waiting} />;
    case "subagent":
      return <Subagent item={item} inner={children} node={node} />;
    case "compaction":
      return <Line mark="≡">The agent shortened its memory of this conversation.{item.content.title && ` ${unmasked(item.content.title)}`}</Line>;
    case "plan":
      return <TextCard item={item} name="Plan" />;
    case "review":
      return <TextCard item={item} name="Review" />;
    case "user_message":
      return <TextCard item={item} name="Message" />;
    default:
      return <Tool item={item} />;
  }
});

export function Line({ mark, children, tone = "" }: { mark: string; children: ReactNode; tone?: string }) {
  return (
    <div className={`line ${tone}`}>
      <span className="line-mark" aria-hidden="true">
        {mark}
      </span>
      <div dir="auto">{children}</div>
    </div>
  );
}

function AgentText({ item }: { item: Item }) {
  const body = useBody(item.id, "text");
  const closed = body.closed || item.state !== "open";
  return (
    <div className="agent-text">
      <Markdown key={`${body.epoch}.${body.generation}`} body={body} closed={closed} />
      {item.state !== "open" && item.state !== "completed" && <p className="meta">This message is {STATES[item.state]}; it may end early.</p>}
    </div>
  );
}

/** Keeps its size while the item runs: nothing opens and then folds by itself. */
function Reasoning({ item }: { item: Item }) {
  const [open, toggle] = useOpen(item.id, false);
  const summary = useBody(item.id, "summary");
  const reasoning = useBody(item.id, "reasoning");
  const text = useBody(item.id, "text");
  const body = reasoning.chars > 0 ? reasoning : summary.chars > 0 ? summary : text;
  const running = item.state === "open";
  const first = /\*\*(.+?)\*\*/.exec(body.text.slice(0, 400))?.[1];
  const took = item.content.duration_ms !== null ? ` ${duration(item.content.duration_ms / 1000)}` : "";
  return (
    <Opener open={open} toggle={toggle} can={body.chars > 0} label={running ? "Thinking…" : `Thought${took}`} detail={unmasked(first ?? "")} running={running}>
      <div className="reasoning">
        <Markdown key={`${body.epoch}.${body.generation}`} body={body} closed={!running} />
      </div>
    </Opener>
  );
}

interface OpenerProps {
  open: boolean;
  toggle: () => void;
  can: boolean;
  label: ReactNode;
  detail?: ReactNode;
  state?: string;
  running?: boolean;
  children: ReactNode;
}

/** One line that opens to more. */
function Opener({ open, toggle, can, label, detail, state, running = false, children }: OpenerProps) {
  return (
    <div className="opener">
      <button type="button" className="opener-line" aria-expanded={open} disabled={!can} onClick={toggle}>
        <span className={`opener-mark${running ? " turning" : ""}`} aria-hidden="true">
          {running ? "◐" : open ? "▾" : "▸"}
        </span>
        <span className="opener-label">{label}</span>
        {detail && (
          <span className="opener-detail" dir="auto">
            {detail}
          </span>
        )}
        {state && <span className={`tag tag-${state.replace(" ", "-")}`}>{state}</span>}
      </button>
      {open && can && <div className="opener-body">{children}</div>}
    </div>
  );
}

function Command({ item, waiting }: { item: Item; waiting: boolean }) {
  const { content } = item;
  const body = useBody(item.id, "output");
  const running = item.state === "open" && !waiting;
  const seen = useRef(Date.now());
  const now = useNow(1000, running);
  const failed = item.state === "failed" || (content.exit_code ?? 0) !== 0;
  // The resting size is decided when the card appears: one that ran under the reader's eyes keeps its window.
  const began = useRef(item.state === "open");
  const [open, toggle] = useOpen(item.id, began.current || failed);
  const time = content.duration_ms !== null ? duration(content.duration_ms / 1000) : running ? duration((now - seen.current) / 1000) : "";
  const state = waiting ? "waits for you" : item.state === "completed" && failed ? `exit ${content.exit_code}` : (STATES[item.state] ?? item.state);
  return (
    <div role="group" className={`card${failed ? " card-failed" : ""}`} aria-label={`Command, ${state}`}>
      <header className="card-head">
        <button type="button" className="card-title" aria-expanded={open} onClick={toggle}>
          <span className={`opener-mark${running ? " turning" : ""}`} aria-hidden="true">
            {running ? "◐" : open ? "▾" : "▸"}
          </span>
          <code>{unmasked(content.command ?? content.title ?? "command")}</code>
        </button>
        <span className={`tag tag-${failed ? "failed" : waiting ? "waiting" : item.state}`}>
          {state}
          {time && ` ${time}`}
        </span>
        <CopyButton text={() => content.command ?? ""} what="command" />
      </header>
      {open && (
        <div className="card-body">
          {content.cwd && <p className="meta">in {unmasked(content.cwd)}</p>}
          {!waiting && <Output body={body} running={running || began.current} thread={item.thread_id} item={item.id} />}
          {content.failure && <p className="card-trouble">{content.failure.message || content.failure.code}</p>}
        </div>
      )}
    </div>
  );
}

const DID: { [kind: string]: string } = { add: "Created", update: "Changed", delete: "Deleted", move: "Moved" };

export function linesChanged(diff: string): [number, number] {
  let plus = 0;
  let minus = 0;
  for (const line of diff.split("\n")) {
    if (line.startsWith("+") && !line.startsWith("+++")) plus += 1;
    else if (line.startsWith("-") && !line.startsWith("---")) minus += 1;
  }
  return [plus, minus];
}

function FileChanges({ item, waiting }: { item: Item; waiting: boolean }) {
  const whole = useBody(item.id, "diff");
  const { changes } = item.content;
  if (changes.length === 0) {
    return (
      <OneChange
        id={item.id}
        thread={item.thread_id}
        change={{ path: item.content.path ?? item.content.title ?? "files", kind: "update", diff: whole.text, moved_to: null }}
        state={item.state}
        waiting={waiting}
      />
    );
  }
  return (
    <div className="changes">
      {changes.map((change, i) => (
        <OneChange key={`${change.path}-${i}`} id={`${item.id}-${i}`} thread={item.thread_id} change={change} state={item.state} waiting={waiting} />
      ))}
    </div>
  );
}

function OneChange({ id, thread, change, state, waiting }: { id: string; thread: string; change: FileChange; state: Item["state"]; waiting: boolean }) {
  const short = useShort(thread);
  const size = change.diff === "" ? 0 : change.diff.split("\n").length;
  const [open, toggle] = useOpen(id, size > 0 && size <= SMALL_DIFF);
  const [plus, minus] = linesChanged(change.diff);
  const running = state === "open" && !waiting;
  return (
    <Opener
      open={open}
      toggle={toggle}
      can={size > 0}
      running={running}
      label={waiting ? "Wants to change" : running ? "Changing" : state === "completed" ? (DID[change.kind] ?? "Changed") : "Change"}
      detail={
        <>
          <code>{unmasked(short(change.path))}</code>
          {change.moved_to && (
            <>
              {" → "}
              <code>{unmasked(short(change.moved_to))}</code>
            </>
          )}{" "}
          {size > 0 && (
            <span className="counts">
              <span className="plus">+{plus}</span> <span className="minus">−{minus}</span>
            </span>
          )}
        </>
      }
      state={waiting || state === "completed" || running ? undefined : STATES[state]}
    >
      <Suspense fallback={<p className="meta">Loading…</p>}>
        <DiffText text={change.diff} path={short(change.path)} kind={change.kind} />
      </Suspense>
    </Opener>
  );
}

const TOOLS: { [kind: string]: string } = { web_search: "Searched the web", image: "Image", question: "Asked", tool_call: "Used", opaque: "Something the agent did" };

function shown(value: Json): string {
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}

function Tool({ item }: { item: Item }) {
  const { content } = item;
  const [open, toggle] = useOpen(item.id, false);
  const output = useBody(item.id, "output");
  const text = useBody(item.id, "text");
  const running = item.state === "open";
  const known = TOOLS[item.item_kind];
  const name = [content.server, content.tool].filter(Boolean).join(" · ") || content.query || content.path || content.title || content.native_kind || "";
  const parts: [string, Json][] = [
    ["Arguments", content.arguments],
    ["Result", content.result],
    ["Data", content.payload],
  ];
  const filled = parts.filter(([, v]) => v !== null && v !== undefined);
  return (
    <Opener
      open={open}
      toggle={toggle}
      can={filled.length > 0 || output.chars > 0 || text.chars > 0 || content.failure !== null || known === undefined}
      running={running}
      label={known ?? `An item of a kind this page does not know: ${item.item_kind}`}
      detail={unmasked(name)}
      state={item.state === "completed" || running ? undefined : STATES[item.state]}
    >
      {content.failure && <p className="card-trouble">{content.failure.message || content.failure.code}</p>}
      {filled.map(([label, value]) => (
        <div key={label}>
          <p className="meta">{label}</p>
          <pre className="json" tabIndex={0}>
            {unmasked(shown(value))}
          </pre>
        </div>
      ))}
      {text.chars > 0 && <Markdown key={`${text.epoch}.${text.generation}`} body={text} closed={!running} />}
      {output.chars > 0 && <Output body={output} running={running} thread={item.thread_id} item={item.id} />}
      {known === undefined && filled.length === 0 && (
        <pre className="json" tabIndex={0}>
          {unmasked(JSON.stringify(content, null, 2))}
        </pre>
      )}
    </Opener>
  );
}

function TextCard({ item, name }: { item: Item; name: string }) {
  const body = useBody(item.id, "text");
  const [open, toggle] = useOpen(item.id, true);
  return (
    <Opener open={open} toggle={toggle} can={body.chars > 0} label={name} detail={unmasked(item.content.title ?? "")} running={item.state === "open"}>
      <Markdown key={`${body.epoch}.${body.generation}`} body={body} closed={item.state !== "open"} />
    </Opener>
  );
}

/** A child at work: never a thread of its own. One level of its own items stands inside. */
function Subagent({ item, inner, node }: { item: Item; inner: Item[]; node: Node | null }) {
  const state = node?.state ?? (item.state === "open" ? "running" : item.state);
  const running = state === "running";
  const [open, toggle] = useOpen(item.id, running);
  const body = useBody(item.id, "text");
  const name = node?.title ?? item.content.title ?? item.content.tool ?? "Subagent";
  return (
    <div role="group" className="card subagent" aria-label={`Subagent ${name}, ${state}`}>
      <header className="card-head">
        <button type="button" className="card-title" aria-expanded={open} onClick={toggle}>
          <span className={`opener-mark${running ? " turning" : ""}`} aria-hidden="true">
            {running ? "◐" : open ? "▾" : "▸"}
          </span>
          <span dir="auto">
            {/^subagent/i.test(name) ? "" : "Subagent "}
            <strong>{unmasked(name)}</strong>
          </span>
        </button>
        {inner.length > 0 && <span className="meta">{number(inner.length, "step")}</span>}
        <span className={`tag tag-${state}`}>{STATES[state] ?? state}</span>
      </header>
      {open && (
        <div className="card-body nested" tabIndex={0} role="group" aria-label={`Steps of ${name}`}>
          {inner.map((child) => (
            <ItemRow key={child.id} item={child} node={null}>
              {[]}
            </ItemRow>
          ))}
          {body.chars > 0 && <Markdown key={`${body.epoch}.${body.generation}`} body={body} closed={!running} />}
          {inner.length === 0 && body.chars === 0 && <p className="meta">{running ? "It has shown nothing yet." : "It showed no steps."}</p>}
        </div>
      )}
    </div>
  );
}

