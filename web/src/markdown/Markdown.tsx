/** A body as Markdown: whole, or while it grows. */
import { memo, useRef } from "react";
import type { LiveText } from "../store/live";
import { GrowingMarkdown, oneLineEnd } from "./blocks";
import { BlockView } from "./render";

export const Markdown = memo(function Markdown({ body, closed }: { body: LiveText; closed: boolean }) {
  const growing = useRef<GrowingMarkdown | null>(null);
  growing.current ??= new GrowingMarkdown();
  const blocks = growing.current.update(oneLineEnd(body.text), closed);
  return (
    <div className="md" dir="auto">
      {blocks.map((block, i) => (
        <BlockView key={block.key} block={block} whole={closed || i < blocks.length - 1} />
      ))}
    </div>
  );
});
