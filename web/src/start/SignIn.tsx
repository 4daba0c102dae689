import { Fragment } from "react";
import type { AgentCard, SignInFlow } from "../api/types";
import { CopyButton } from "../shell/CopyButton";

/** The ways to sign in that are worth showing: there is a program, and nobody is known to be signed in. */
export function waysIn(agent: AgentCard): readonly SignInFlow[] {
  const there = agent.health === "ok" || agent.health === "problem";
  return !there || agent.rehearsal || agent.sign_in === "signed_in" ? [] : agent.sign_in_flows;
}

/** Ways to sign in, each by its kind; which agent it is makes no difference (F222). Podium itself never signs in. */
export function SignIn({ flows }: { flows: readonly SignInFlow[] }) {
  if (flows.length === 0) return null;
  return (
    <p className="meta agent-fix sign-in">
      <span>Sign in:</span>
      {flows.map((flow, at) => (
        <Fragment key={`${flow.kind} ${flow.value}`}>
          {at > 0 && <span>or</span>}
          <span className="sign-in-way" data-kind={flow.kind}>
            <Way flow={flow} />
          </span>
        </Fragment>
      ))}
    </p>
  );
}

function Way({ flow: { kind, value } }: { flow: SignInFlow }) {
  switch (kind) {
    case "command":
      return (
        <>
          <code>{value}</code> <CopyButton text={() => value} what={`command ${value}`} />
        </>
      );
    case "variable":
      return (
        <>
          set <code>{value}</code>
        </>
      );
    default:
      return (
        <>
          {kind.replaceAll("_", " ")}: {value}
        </>
      );
  }
}
