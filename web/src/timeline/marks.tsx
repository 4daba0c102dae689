/** The lines between items: what Podium did or noticed, how a run ended. They never fold away. */
import { memo } from "react";
import type { Checkpoint, Degradation, Json, NoticeEntry, Plan, Run } from "../api/types";
import { connection } from "../stream/connection";
import { Line } from "../items/ItemRow";
import { useOpen } from "../items/folds";
import { timeOf, useNow } from "../shell/time";
import { unmasked } from "../markdown/urls";
import { usePage } from "../store/page";
import { Fact, Facts } from "../composer/Why";
import { duration } from "./rows";

export const DegradationLine = memo(function DegradationLine({ degradation: d }: { degradation: Degradation }) {
  const [open, toggle] = useOpen(d.id, false);
  return (
    <Line mark="◆" tone="line-degradation">
      {d.consequence || `${d.feature}: ${d.outcome}`}{" "}
      <button type="button" className="quiet" aria-expanded={open} onClick={toggle}>
        why?
      </button>
      {open && (
        <Facts>
          <Fact name="What was asked" value={d.feature} />
          <Fact name="What happened" value={d.outcome} />
          <Fact name="Why" value={d.reason} />
          <Fact name="Capability" value={d.capability ?? ""} code />
          <Fact name="Policy" value={d.policy ?? ""} code />
          <Fact name="How faithful" value={d.fidelity ?? ""} />
        </Facts>
      )}
    </Line>
  );
});

const LEVELS = { info: "ⓘ", warning: "!", error: "✕" };

export const NoticeLine = memo(function NoticeLine({ notice }: { notice: NoticeEntry }) {
  return (
    <Line mark={LEVELS[notice.level] ?? "ⓘ"} tone={`line-${notice.level}`}>
      {notice.text}
    </Line>
  );
});

function pathsOf(restore: { [key: string]: Json }): number | null {
  const paths = restore["paths"] ?? restore["steps"];
  return Array.isArray(paths) ? paths.length : null;
}

export const CheckpointLine = memo(function CheckpointLine({ checkpoint: c }: { checkpoint: Checkpoint }) {
  if (c.state === "failed") {
    return (
      <Line mark="◇" tone="line-warning">
        The files could not be captured {c.moment === "start" ? "before" : "after"} this run, so it cannot be undone. {c.trouble?.message ?? ""}
      </Line>
    );
  }
  if (c.restore !== null) {
    const count = pathsOf(c.restore);
    return (
      <Line mark="↺">
        Files were restored{count === null ? "" : ` (${count === 1 ? "1 path" : `${count} paths`})`} at {timeOf(c.at)}. What was there before is kept.
      </Line>
    );
  }
  return <Line mark="◇">Checkpoint at {timeOf(c.at)}</Line>;
});

export const PlanCard = memo(function PlanCard({ plan }: { plan: Plan }) {
  const [open, toggle] = useOpen(plan.id, true);
  const done = plan.steps.filter((s) => s.state === "completed").length;
  const current = plan.steps.find((s) => s.state === "in_progress");
  const marks = { pending: "○", in_progress: "◐", completed: "✓" };
  const words = { pending: "open", in_progress: "in progress", completed: "done" };
  return (
    <div role="group" className="card plan" aria-label="Plan">
      <header className="card-head">
        <button type="button" className="card-title" aria-expanded={open} onClick={toggle}>
          <span className="opener-mark" aria-hidden="true">
            {open ? "▾" : "▸"}
          </span>
          <span dir="auto">
            {plan.plan_kind === "proposed_plan" ? "Proposed plan" : "Plan"}
            {!open && current && ` · ${unmasked(current.text)}`}
          </span>
        </button>
        {plan.steps.length > 0 && (
          <span className="meta">
            {done} of {plan.steps.length}
          </span>
        )}
      </header>
      {open && (
        <div className="card-body">
          {plan.explanation && <p dir="auto">{plan.explanation}</p>}
          {plan.text && <p className="pre" dir="auto">{plan.text}</p>}
          <ol className="steps">
            {plan.steps.map((step, i) => (
              <li key={i} className={`step-${step.state}`}>
                <span aria-hidden="true">{marks[step.state]}</span>
                <span dir="auto">
                  {step.text}
                  <span className="hidden"> ({words[step.state]})</span>
                </span>
              </li>
            ))}
          </ol>
        </div>
      )}
    </div>
  );
});

const ENDS: { [outcome: string]: [string, string] } = {
  failed: ["This run failed", "The text above is kept. Send a message to go on."],
  interrupted: ["This run was stopped", "What was done until then stays. Send a message to go on."],
  cancelled: ["This message was not run", "It was taken back before the agent began with it."],
  unverifiable: ["We do not know how this run ended", "It may have done more than is shown. Look at the changes before you go on."],
};

const EVIDENCE: { [evidence: string]: string } = {
  process_exit: "The agent's program ended by itself.",
  host_lost: "The machine or Podium stopped while it worked.",
  inferred: "The agent did not say so; it was concluded from what it did.",
  forced: "It did not stop when asked, and was ended.",
  start_failed: "The agent's program could not be started.",
  rejected: "The agent refused the message.",
  refused: "A rule of yours or a missing capability forbade it.",
  timeout: "It took longer than is allowed.",
};

export const EndCard = memo(function EndCard({ run }: { run: Run }) {
  const [title, next] = ENDS[run.outcome ?? ""] ?? [`This run ended: ${run.outcome}`, ""];
  const bad = run.outcome === "failed" || run.outcome === "unverifiable";
  const { failure } = run;
  const time = run.started_at !== null && run.ended_at !== null ? ` after ${duration(run.ended_at - run.started_at)}` : "";
  if (!bad && failure === null) {
    return (
      <Line mark={run.outcome === "interrupted" ? "■" : "⊘"}>
        {title}
        {time}. <span className="meta">{next}</span>
      </Line>
    );
  }
  return (
    <div role="group" className={`end${bad ? " end-bad" : ""}`} aria-label={title}>
      <h2>
        <span aria-hidden="true">{bad ? "✕" : "■"}</span> {title}
        {time}
      </h2>
      {failure && <p dir="auto">{failure.message || failure.code}</p>}
      {run.evidence && EVIDENCE[run.evidence] && <p className="meta">{EVIDENCE[run.evidence]}</p>}
      <p>{failure?.fix || next}</p>
      {failure && Object.keys(failure.detail).length > 0 && (
        <details>
          <summary>Details</summary>
          <pre className="json" tabIndex={0}>
            {failure.code}
            {"\n"}
            {JSON.stringify(failure.detail, null, 2)}
          </pre>
        </details>
      )}
    </div>
  );
});

export const WorkingLine = memo(function WorkingLine({ run }: { run: Run }) {
  const link = usePage((s) => s.link);
  const heardAt = usePage((s) => (s.link === "live" ? 0 : s.heardAt));
  const state = usePage((s) => s.opened?.state);
  const now = useNow(1000);
  if (state === "left") return <Line mark="⊘">State not known: no Podium watches this run. It goes on when you send a message.</Line>;
  if (link !== "live") {
    return (
      <Line mark="◌">
        Stale since {timeOf(heardAt / 1000)}: what the agent does now is not known.{" "}
        <button type="button" className="quiet" onClick={connection.retryNow}>
          Try now
        </button>
      </Line>
    );
  }
  const time = run.started_at === null ? "" : ` ${duration(now / 1000 - run.started_at)}`;
  const words =
    run.interrupt_requested_at !== null
      ? "Stopping…"
      : run.state === "waiting"
        ? "Waiting for you"
        : run.limited !== null
          ? "The agent may not work right now (a limit was reached)"
          : run.state === "running"
            ? "Working"
            : "Starting";
  return (
    <div className="working" data-run-state={run.state}>
      <span className={run.state === "waiting" ? "" : "turning"} aria-hidden="true">
        {run.state === "waiting" ? "?" : "◐"}
      </span>{" "}
      {words}
      <span className="meta">{time}</span>
    </div>
  );
});
