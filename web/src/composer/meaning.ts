/** What sending would do, said before it is done: pure. */
import type { Intent } from "../api/client";
import type { Affordance, Affordances } from "../api/types";

export interface Meaning {
  intent: Intent;
  /** The word on the button. */
  word: string;
  line: string;
  affordance: Affordance;
}

export interface Meanings {
  first: Meaning | null;
  /** What the other gesture does. */
  other: Meaning | null;
  /** Why nothing can be sent. */
  none: Affordance | null;
}

export function meanings(affordances: Affordances, agent: string): Meanings {
  const { message } = affordances;
  const queue: Meaning = {
    intent: "queue",
    word: "Queue",
    line: message.queue.consequence || "Waits until this run ends, then starts by itself.",
    affordance: message.queue,
  };
  const steer: Meaning = {
    intent: "steer",
    word: "Steer",
    line: `Goes into the running turn; ${agent} reads it while it works.`,
    affordance: message.steer,
  };
  const restart: Meaning = {
    intent: "restart",
    word: "Restart run",
    line: message.restart.consequence || "Stops the turn and begins it again with your message. Files stay as they are.",
    affordance: message.restart,
  };
  switch (message.means) {
    case "start":
      return {
        first: { intent: "start", word: "Send", line: startLine(message.start, agent), affordance: message.start },
        other: null,
        none: null,
      };
    case "steer":
      return { first: steer, other: message.queue.state === "disabled" ? null : queue, none: null };
    case "queue": {
      const other = message.steer.state === "available" ? steer : message.restart.state !== "disabled" ? restart : null;
      return { first: { ...queue, line: queueLine(message.queue, message.steer, agent) }, other, none: null };
    }
    default:
      return { first: null, other: null, none: message.auto };
  }
}

function startLine(start: Affordance, agent: string): string {
  return start.consequence || `Starts a run of ${agent}. A checkpoint of the files is taken first.`;
}

function queueLine(queue: Affordance, steer: Affordance, agent: string): string {
  if (steer.state === "available") return "Waits until this run ends, then starts by itself.";
  if (queue.consequence) return queue.consequence;
  return steer.code === "turn_not_running"
    ? `Waits until this run ends. ${agent} has no turn at work right now.`
    : `Waits until this run ends. ${agent} takes no message while it works.`;
}
