import { renderToStaticMarkup } from "react-dom/server";
import { describe, expect, it } from "vitest";
import * as normal from "../src/api/normalize";
import type { Item, Request } from "../src/api/types";
import { ItemRow } from "../src/items/ItemRow";
import { RequestCard } from "../src/requests/RequestCard";
import { item, request } from "./made";

const KINDS = ["user_message", "assistant_message", "reasoning", "command", "file_change", "tool_call", "web_search", "image", "plan", "subagent", "compaction", "review", "question", "opaque"];

const shown = (raw: object) =>
  renderToStaticMarkup(
    <ItemRow item={normal.entity(raw) as Item} node={null}>
      {[]}
    </ItemRow>,
  );

describe("every kind has a face", () => {
  it.each(KINDS.flatMap((kind) => ["open", "completed", "failed", "unverifiable"].map((state) => [kind, state])))("an item of kind %s that is %s", (kind, state) => {
    expect(shown(item({ item_kind: kind, state }))).not.toBe("");
  });

  it("an item of a kind that is not known yet says its kind", () => {
    expect(shown(item({ item_kind: "hologram", content: { payload: { size: 3 } } }))).toContain("hologram");
  });

  it("a request of a kind that is not known yet shows its data and its options", () => {
    const raw = request({ request_kind: "hologram", content: { payload: { size: 3 } }, options: [{ id: "beam", label: "Beam it", effect: "other" }] });
    const page = renderToStaticMarkup(<RequestCard request={normal.entity(raw) as Request} />);
    expect(page).toContain("hologram");
    expect(page).toContain("&quot;size&quot;: 3");
    expect(page).toContain('data-option="beam"');
    expect(page).toContain("Beam it");
  });

  it("a command that hides its direction is shown with it", () => {
    const page = renderToStaticMarkup(<RequestCard request={normal.entity(request({ content: { command: "rm \u202Ex" } })) as Request} />);
    expect(page).toContain("⟨U+202E⟩");
  });
});
