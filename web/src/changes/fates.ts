/** What a restore would do, or did, as groups of paths: pure. */
import type { PlanStep, RestorePlan } from "../api/types";

export interface Group {
  readonly fate: string;
  readonly words: string;
  readonly steps: readonly PlanStep[];
}

/** What is refused comes first; what stays as it is comes last. */
const FATES: readonly (readonly [string, string])[] = [
  ["refuse", "Left alone"],
  ["delete", "Removed: it was not there then"],
  ["write", "Put back as it was"],
  ["link", "Link put back as it was"],
  ["mode", "Rights put back as they were"],
  ["nothing", "Already as it was"],
];

/** Every path of a plan exactly once, by what happens to it. A fate that is not known keeps its own name. */
export function groupsOf(steps: readonly PlanStep[]): Group[] {
  const known = new Map(FATES);
  const others = [...new Set(steps.map((s) => s.action as string))].filter((a) => !known.has(a));
  return [...FATES, ...others.map((a) => [a, a] as const)].flatMap(([fate, words]) => {
    const found = steps.filter((s) => s.action === fate);
    return found.length === 0 ? [] : [{ fate, words, steps: found }];
  });
}

/** How many paths would change. */
export function changing(plan: RestorePlan): number {
  return plan.steps.filter((s) => s.action !== "nothing" && s.action !== "refuse").length;
}
