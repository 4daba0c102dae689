import { Popover } from "radix-ui";
import type { ReactNode } from "react";
import type { Affordance } from "../api/types";

export function Facts({ children }: { children: ReactNode }) {
  return <dl className="facts">{children}</dl>;
}

/** One line of an explanation; nothing if it is not known. */
export function Fact({ name, value, code = false }: { name: string; value: string; code?: boolean }) {
  if (value === "") return null;
  return (
    <div>
      <dt>{name}</dt>
      <dd>{code ? <code>{value}</code> : value}</dd>
    </div>
  );
}

const STANDING: { [standing: string]: string } = {
  proven: "proven on exactly this version",
  carried: "proven on another version, nothing contrary seen here",
  advertised: "the agent says so itself; not proven here",
  unproven: "not proven on this version, read as no",
};

/** Why something is as it is: asked, able, known how, done instead, and by which rule. */
export function Why({ asked, affordance: a, label = "Why?" }: { asked: string; affordance: Affordance; label?: string }) {
  const instead = a.state === "fallback" ? a.consequence || a.outcome : a.state === "disabled" ? "Nothing; your text stays." : "Nothing else is needed.";
  return (
    <Popover.Root>
      <Popover.Trigger asChild>
        <button type="button" className="quiet why">
          {label}
        </button>
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content className="popover" side="top" align="start" sideOffset={6} collisionPadding={12} aria-label={`Why: ${asked}`}>
          <Facts>
            <Fact name="What you asked" value={asked} />
            <Fact name="What is so" value={a.reason} />
            <Fact name="What this agent can do" value={a.capability} code />
            <Fact name="How we know" value={[STANDING[a.standing] ?? a.standing, a.evidence_class.replaceAll("_", " "), a.evidence.join(", ")].filter(Boolean).join(" · ")} />
            <Fact name="What Podium does instead" value={instead} />
            <Fact name="Rule" value={a.policy} code />
          </Facts>
          <Popover.Close className="quiet">Close</Popover.Close>
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}
