import { lazy, memo, Suspense, useEffect, useRef, useState } from "react";
import type { Option, Request } from "../api/types";
import { unmasked } from "../markdown/urls";
import { CopyButton } from "../shell/CopyButton";
import { timeOf } from "../shell/time";
import { usePage } from "../store/page";
import { useShort } from "../store/useShort";
import { watchInView } from "./inview";
import { decide, type Decision, denial, heading, inOrder, narrowest, outcome, type Result } from "./decide";
import { mayDecide, showed } from "./guard";
import { QuestionForm } from "./QuestionForm";

const DiffText = lazy(() => import("../changes/DiffText"));

/** A request where it stands in the timeline, or in the dock over the composer. */
export const RequestCard = memo(function RequestCard({ request, docked = false }: { request: Request; docked?: boolean }) {
  if (request.state !== "pending") return <ClosedRequest request={request} />;
  return <OpenRequest request={request} docked={docked} />;
});

function ClosedRequest({ request }: { request: Request }) {
  return (
    <div className="line request-closed" data-request={request.id} data-state={request.state}>
      <span aria-hidden="true">{request.state === "answered" ? "✓" : "⊘"}</span>
      <span dir="auto">
        {title(request)} — {outcome(request)}
      </span>
    </div>
  );
}

function title(request: Request): string {
  const { content } = request;
  return unmasked(content.command ?? (content.title || content.questions[0]?.text || heading(request)));
}

function OpenRequest({ request, docked }: { request: Request; docked: boolean }) {
  const [busy, setBusy] = useState<string | null>(null);
  const [result, setResult] = useState<Result | null>(null);
  const [reasoned, setReasoned] = useState(false);
  const [reason, setReason] = useState("");
  const card = useRef<HTMLDivElement>(null);
  const short = useShort(request.thread_id);
  const live = usePage((s) => s.link === "live");
  const agent = usePage((s) => (s.opened?.id === request.thread_id ? s.opened.thread.agent : ""));
  const { content } = request;
  useEffect(() => showed(request.id), [request.id]);
  useEffect(() => (docked || card.current === null ? undefined : watchInView(request.id, card.current)), [docked, request.id]);

  const send = async (decision: Decision) => {
    if (busy !== null) return;
    setBusy(decision.decision);
    setResult(null);
    setResult(await decide(request, decision));
    setBusy(null);
  };
  const options = inOrder(request.options);
  const strong = narrowest(options);
  const no = denial(options);
  const questions = content.questions.length > 0;

  const onKey = (event: React.KeyboardEvent) => {
    if (event.target !== card.current || event.metaKey || event.ctrlKey || event.altKey) return;
    const wide = options.find((o) => o.effect.startsWith("allow") && o !== strong);
    const chosen = event.key === "a" ? strong : event.key === "A" ? wide : event.key === "r" ? no : undefined;
    if (event.key === "R" && no) {
      event.preventDefault();
      setReasoned(true);
    }
    if (chosen && !questions && mayDecide(request.id, event.repeat)) {
      event.preventDefault();
      void send({ decision: chosen.id });
    }
  };

  return (
    <div role="group"
      ref={card}
      className={`request${docked ? " request-docked" : ""}`}
      aria-label={heading(request)}
      data-request={request.id}
      data-state="pending"
      tabIndex={-1}
      onKeyDown={onKey}
    >
      <header>
        <span className="request-mark" aria-hidden="true">
          {questions ? "?" : "!"}
        </span>
        <h2>{heading(request)}</h2>
        <span className="meta">
          asked {timeOf(request.created_at)}
          {agent && ` by ${agent}`}
        </span>
      </header>
      {content.title && content.title !== content.command && !questions && (
        <p className="request-title" dir="auto">
          {unmasked(content.title)}
        </p>
      )}
      {content.command !== null && (
        <div className="request-command">
          <pre className="command" tabIndex={0}>
            {unmasked(content.command)}
          </pre>
          <CopyButton text={() => content.command ?? ""} what="command" />
        </div>
      )}
      {content.cwd && <p className="meta">in {unmasked(content.cwd)}</p>}
      {content.reason && (
        <p className="request-reason" dir="auto">
          {unmasked(content.reason)}
        </p>
      )}
      {content.paths.length > 0 && (
        <ul className="paths">
          {content.paths.map((path) => (
            <li key={path}>
              <code>{unmasked(short(path))}</code>
            </li>
          ))}
        </ul>
      )}
      {content.diff && !docked && (
        <Suspense fallback={<p className="meta">Loading…</p>}>
          <DiffText text={content.diff} path={short(content.paths[0] ?? "change")} />
        </Suspense>
      )}
      {content.payload !== null && (
        <details open={content.command === null && !questions && !content.title}>
          <summary>Details</summary>
          <pre className="json" tabIndex={0}>
            {unmasked(JSON.stringify(content.payload, null, 2))}
          </pre>
        </details>
      )}
      {result !== null && !result.ok && (
        <p className="request-trouble" role="alert">
          {result.words}
        </p>
      )}
      {result?.ok === false && result.late ? null : questions ? (
        <QuestionForm request={request} options={options} busy={busy !== null} onSend={(d) => void send(d)} />
      ) : (
        <div className="request-options">
          {options.map((option) => (
            <OptionButton key={option.id} option={option} strong={option === strong} busy={busy} onChoose={() => void send({ decision: option.id })} />
          ))}
          {no && (
            <button type="button" className="quiet" aria-expanded={reasoned} onClick={() => setReasoned(!reasoned)}>
              {no.label} with reason…
            </button>
          )}
          {options.length === 0 && <p className="meta">This request offers no answer. Stop the run, or send a message.</p>}
        </div>
      )}
      {reasoned && no && (
        <form
          className="request-why"
          onSubmit={(e) => {
            e.preventDefault();
            void send({ decision: no.id, text: reason });
          }}
        >
          <label>
            <span className="hidden">Reason</span>
            <input value={reason} onChange={(e) => setReason(e.target.value)} placeholder="What should it do instead?" autoFocus />
          </label>
          <button type="submit" className="button" disabled={busy !== null || reason.trim() === ""}>
            {no.label}
          </button>
        </form>
      )}
      {!live && <p className="meta">Not connected: an answer may not arrive.</p>}
    </div>
  );
}

function OptionButton({ option, strong, busy, onChoose }: { option: Option; strong: boolean; busy: string | null; onChoose: () => void }) {
  return (
    <button
      type="button"
      className={`button${strong ? " button-strong" : ""}${option.effect === "decline" || option.effect === "cancel" ? " button-no" : ""}`}
      data-option={option.id}
      disabled={busy !== null}
      aria-busy={busy === option.id}
      title={option.native_label ?? undefined}
      onClick={onChoose}
    >
      {busy === option.id ? `${option.label}…` : option.label}
    </button>
  );
}
