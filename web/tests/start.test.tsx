import { renderToStaticMarkup } from "react-dom/server";
import { describe, expect, it } from "vitest";
import { Problem } from "../src/api/client";
import * as normal from "../src/api/normalize";
import { Refusal } from "../src/composer/Refusal";
import { SignIn, waysIn } from "../src/start/SignIn";

const card = (more: object) => normal.agentCard({ id: "one", health: "ok", ...more });
const COMMAND = { kind: "command", value: "one login" };
const VARIABLE = { kind: "variable", value: "ONE_KEY" };
const shown = (...flows: object[]) => {
  const page = renderToStaticMarkup(<SignIn flows={card({ sign_in_flows: flows }).sign_in_flows} />);
  return page.replace(/<[^>]*>/g, " ").replace(/\s+/g, " ").trim();
};

describe("ways to sign in", () => {
  it("are shown by their kind", () => {
    expect(shown(COMMAND)).toBe("Sign in: one login copy");
    expect(shown(VARIABLE)).toBe("Sign in: set ONE_KEY");
    expect(shown(COMMAND, VARIABLE)).toBe("Sign in: one login copy or set ONE_KEY");
  });

  it("of a kind that is not known yet are text", () => {
    expect(shown({ kind: "device_code", value: "see <b>there</b>" })).toBe("Sign in: device code: see &lt;b&gt;there&lt;/b&gt;");
  });

  it("are offered where they are of use", () => {
    const flows = { sign_in_flows: [COMMAND] };
    for (const sign_in of ["unknown", "signed_out"]) expect(waysIn(card({ ...flows, sign_in }))).toEqual([COMMAND]);
    expect(waysIn(card({ ...flows, sign_in: "signed_in" }))).toEqual([]);
    expect(waysIn(card({ ...flows, rehearsal: true }))).toEqual([]);
    expect(waysIn(card({ ...flows, health: "missing" }))).toEqual([]);
    expect(waysIn(card({}))).toEqual([]);
    expect(renderToStaticMarkup(<SignIn flows={[]} />)).toBe("");
  });
});

describe("a refusal", () => {
  const refused = (data: { [key: string]: string }, status = 403) => renderToStaticMarkup(<Refusal problem={new Problem(status, "capability_missing", "No.", "", data)} />);

  it("says what it rests on", () => {
    const page = refused({ reason: "It asks nobody.", capability: "approvals.command", policy: "approvals/strict" });
    for (const each of ["It asks nobody.", "approvals.command", "approvals/strict"]) expect(page).toContain(each);
  });

  it("is one only with a capability", () => {
    expect(refused({})).toBe("");
    expect(refused({ capability: "x" }, 409)).toBe("");
    expect(renderToStaticMarkup(<Refusal problem={null} />)).toBe("");
  });
});
