/** Which agent is offered first: pure. */
import type { AgentCard } from "../api/types";
import { MODE_DEFAULT } from "../words/modes";

/** Whether nothing holds it to the mode in which a thread would begin. */
const unheld = (agent: AgentCard) => !agent.modes.includes(agent.mode ?? MODE_DEFAULT);

/** Ready ones first; the rehearsal agent leads only where nothing else is ready that can be held back. */
export function agentsInOrder(agents: readonly AgentCard[]): AgentCard[] {
  const others = agents.some((a) => a.health === "ok" && !a.rehearsal && !unheld(a));
  const rank = (a: AgentCard) =>
    a.health !== "ok" ? 5 : unheld(a) ? 4 : a.rehearsal && others ? 3 : a.sign_in === "signed_out" ? 2 : a.default ? 0 : 1;
  return [...agents].sort((a, b) => rank(a) - rank(b) || a.name.localeCompare(b.name));
}

/** A card in words, and the command that mends it. */
export function standing(agent: AgentCard): { ready: boolean; words: string; command: string } {
  if (agent.health === "ok") {
    const words = agent.rehearsal ? "ready, no account needed" : agent.sign_in === "signed_in" ? "ready, signed in" : agent.sign_in === "signed_out" ? "signed out" : "ready";
    return { ready: true, words, command: "" };
  }
  const words = agent.health === "missing" ? "not found" : agent.health === "rejected" ? "not usable" : agent.problem || "has a problem";
  return { ready: false, words, command: agent.fix };
}
