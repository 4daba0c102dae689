import { useId, useState } from "react";
import type { Option, Question, Request } from "../api/types";
import type { Decision } from "./decide";

interface Filled {
  chosen: string[];
  own: string;
}

/** What was filled in and not sent yet: it stays when the card leaves the screen, and the dock shows the same. */
const begun = new Map<string, Filled[]>();

/** The answers by position: chosen labels, then what was typed. */
export function answersOf(questions: readonly Question[], filled: readonly Filled[]): string[][] {
  return questions.map((_, i) => {
    const { chosen, own } = filled[i] ?? { chosen: [], own: "" };
    return own.trim() === "" ? chosen : [...chosen, own];
  });
}

export function complete(questions: readonly Question[], answers: readonly string[][]): boolean {
  return questions.every((q, i) => !q.required || (answers[i] ?? []).length > 0);
}

interface Props {
  request: Request;
  options: Option[];
  busy: boolean;
  onSend: (decision: Decision) => void;
}

export function QuestionForm({ request, options, busy, onSend }: Props) {
  const { questions } = request.content;
  const [filled, setFilled] = useState<Filled[]>(() => begun.get(request.id) ?? questions.map(() => ({ chosen: [], own: "" })));
  const [at, setAt] = useState(0);
  const name = useId();
  const answers = answersOf(questions, filled);
  const yes = options.find((o) => o.effect.startsWith("allow")) ?? options.find((o) => o.effect === "other");
  const question = questions[at] ?? questions[0];
  if (question === undefined) return null;
  const set = (next: Partial<Filled>) => {
    const all = filled.map((f, i) => (i === at ? { ...f, ...next } : f));
    begun.set(request.id, all);
    setFilled(all);
  };
  const mine = filled[at] ?? { chosen: [], own: "" };
  const choose = (label: string, on: boolean) => {
    if (question.multiple) set({ chosen: on ? [...mine.chosen, label] : mine.chosen.filter((c) => c !== label) });
    else set({ chosen: on ? [label] : [], own: on ? "" : mine.own });
  };
  const last = at === questions.length - 1;
  const answered = !question.required || (answers[at] ?? []).length > 0;

  return (
    <form
      className="question"
      onSubmit={(event) => {
        event.preventDefault();
        if (!last && answered) setAt(at + 1);
        else if (yes && complete(questions, answers)) onSend({ decision: yes.id, answers });
      }}
    >
      <fieldset disabled={busy}>
        <legend dir="auto">
          {questions.length > 1 && (
            <span className="meta">
              {at + 1} of {questions.length} ·{" "}
            </span>
          )}
          {question.header && <span className="meta">{question.header} · </span>}
          {question.text}
        </legend>
        {question.options.map((option, i) => (
          <label key={i} className="choice">
            <input
              type={question.multiple ? "checkbox" : "radio"}
              name={`${name}-${at}`}
              checked={mine.chosen.includes(option.label)}
              onChange={(e) => choose(option.label, e.target.checked)}
              onKeyDown={(e) => {
                const digit = question.options[Number(e.key) - 1];
                if (/^[1-9]$/.test(e.key) && digit && !e.repeat) choose(digit.label, !mine.chosen.includes(digit.label) || !question.multiple);
              }}
            />
            <span dir="auto">
              {option.label}
              {option.description && <span className="meta"> {option.description}</span>}
            </span>
          </label>
        ))}
        {question.free_text && (
          <label className="own">
            <span className={question.options.length > 0 ? "meta" : "hidden"}>{question.options.length > 0 ? "or in your own words" : "Your answer"}</span>
            <input
              type={question.secret ? "password" : "text"}
              autoComplete="off"
              value={mine.own}
              onChange={(e) => set(question.multiple ? { own: e.target.value } : { own: e.target.value, chosen: e.target.value === "" ? mine.chosen : [] })}
            />
          </label>
        )}
      </fieldset>
      <div className="request-options">
        {at > 0 && (
          <button type="button" className="button" onClick={() => setAt(at - 1)}>
            Back
          </button>
        )}
        {last ? (
          yes && (
            <button type="submit" className="button button-strong" data-option={yes.id} disabled={busy || !complete(questions, answers)}>
              {busy ? "Sending…" : "Answer"}
            </button>
          )
        ) : (
          <button type="submit" className="button button-strong" disabled={!answered}>
            Next
          </button>
        )}
        {options
          .filter((o) => o !== yes)
          .map((o) => (
            <button key={o.id} type="button" className="button button-no" data-option={o.id} disabled={busy} onClick={() => onSend({ decision: o.id })}>
              {o.label}
            </button>
          ))}
      </div>
    </form>
  );
}
