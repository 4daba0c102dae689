import { describe, expect, it } from "vitest";
import * as normal from "../src/api/normalize";
import { changing, groupsOf } from "../src/changes/fates";

const steps = ["nothing", "write", "refuse", "delete", "write", "mode", "link", "moved"].map((action, at) => ({ action, path: `p${at}` }));
const { plan } = normal.shownPlan({ digest: "d", plan: { id: "x", root: "/w", checkout: "", steps } });

describe("a plan", () => {
  it("names every path exactly once, what is refused first", () => {
    const groups = groupsOf(plan.steps);
    expect(groups[0]?.fate).toBe("refuse");
    expect(groups.flatMap((g) => g.steps.map((s) => s.path)).sort()).toEqual(steps.map((s) => s.path));
  });

  it("shows a fate that is not known yet by its own name", () => {
    expect(groupsOf(plan.steps).at(-1)).toMatchObject({ fate: "moved", words: "moved" });
  });

  it("counts what would change", () => {
    expect(changing(plan)).toBe(6);
    expect(changing({ ...plan, steps: [] })).toBe(0);
  });

  it("tells what came of it", () => {
    expect(normal.restored({ id: "chk", restore: { done: [{}, {}], refused: [{}] } })).toEqual({ checkpoint: "chk", changed: 2, left: 1 });
    expect(normal.restored({ id: "chk", restore: null })).toEqual({ checkpoint: "chk", changed: 0, left: 0 });
  });
});
