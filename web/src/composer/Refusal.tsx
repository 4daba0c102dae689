import type { Problem } from "../api/client";
import { Fact, Facts } from "./Why";

/** What a refusal rests on: the reason, what the agent cannot do, and the rule that made of it a refusal. */
export function Refusal({ problem }: { problem: Problem | null }) {
  const of = (key: string): string => String(problem?.data[key] ?? "");
  if (problem === null || problem.status !== 403 || of("capability") === "") return null;
  return (
    <Facts>
      <Fact name="Why" value={of("reason")} />
      <Fact name="What this agent cannot do" value={of("capability")} code />
      <Fact name="Rule" value={of("policy")} code />
    </Facts>
  );
}
