/** Tokens to elements. No string becomes markup: HTML of an agent is shown as the text it is. */
import type { Token, Tokens } from "marked";
import { Fragment, memo, type ReactNode, useState } from "react";
import { CopyButton } from "../shell/CopyButton";
import type { Block } from "./blocks";
import { Code } from "./highlight";
import { characters, target, unmasked } from "./urls";

/** How deep blocks may lie in each other; deeper ones are shown as their text. */
const DEPTH_MAX = 24;

export const BlockView = memo(function BlockView({ block, whole }: { block: Block; whole: boolean }) {
  return <>{blockOf(block.token, "b", whole, 0)}</>;
});

function blocks(tokens: readonly Token[] | undefined, whole: boolean, depth: number): ReactNode[] {
  return (tokens ?? []).map((t, i) => blockOf(t, String(i), whole, depth));
}

function blockOf(token: Token, key: string, whole: boolean, depth: number): ReactNode {
  if (depth > DEPTH_MAX) return <p key={key}>{token.raw}</p>;
  switch (token.type) {
    case "space":
    case "def":
      return null;
    case "heading": {
      // The page's own heading is above those of a message.
      const Tag = `h${Math.min(6, (token as Tokens.Heading).depth + 1)}` as "h2";
      return (
        <Tag key={key} className={`md-h md-h${(token as Tokens.Heading).depth}`}>
          {inline(token.tokens)}
        </Tag>
      );
    }
    case "paragraph":
      return <p key={key}>{inline(token.tokens)}</p>;
    case "text":
      return <Fragment key={key}>{token.tokens ? inline(token.tokens) : characters((token as Tokens.Text).text)}</Fragment>;
    case "checkbox":
      return <input key={key} type="checkbox" disabled checked={(token as Tokens.Checkbox).checked} aria-label={(token as Tokens.Checkbox).checked ? "done" : "open"} />;
    case "code":
      return <CodeBlock key={key} token={token as Tokens.Code} whole={whole} />;
    case "blockquote":
      return <blockquote key={key}>{blocks(token.tokens, whole, depth + 1)}</blockquote>;
    case "list":
      return listOf(token as Tokens.List, key, whole, depth);
    case "table":
      return tableOf(token as Tokens.Table, key);
    case "hr":
      return <hr key={key} />;
    case "html":
      return (
        <pre key={key} className="md-html">
          {token.raw.trimEnd()}
        </pre>
      );
    default:
      return <p key={key}>{token.raw}</p>;
  }
}

function listOf(list: Tokens.List, key: string, whole: boolean, depth: number): ReactNode {
  const items = list.items.map((item, i) => {
    const box = item.task && !item.tokens.some((t) => t.type === "checkbox") && !(item.tokens[0] as Tokens.Paragraph | undefined)?.tokens?.some((t) => t.type === "checkbox");
    return (
      <li key={i} className={item.task ? "md-task" : undefined}>
        {box && <input type="checkbox" disabled checked={item.checked ?? false} aria-label={item.checked ? "done" : "open"} />}
        {blocks(item.tokens, whole, depth + 1)}
      </li>
    );
  });
  return list.ordered ? (
    <ol key={key} start={list.start === "" ? undefined : list.start}>
      {items}
    </ol>
  ) : (
    <ul key={key}>{items}</ul>
  );
}

function tableOf(table: Tokens.Table, key: string): ReactNode {
  const cell = (c: Tokens.TableCell) => (c.align ? `md-${c.align}` : undefined);
  return (
    <div key={key} className="md-table" tabIndex={0} role="group" aria-label="Table">
      <table>
        <thead>
          <tr>
            {table.header.map((c, i) => (
              <th key={i} className={cell(c)}>
                {inline(c.tokens)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {table.rows.map((row, i) => (
            <tr key={i}>
              {row.map((c, j) => (
                <td key={j} className={cell(c)}>
                  {inline(c.tokens)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function CodeBlock({ token, whole }: { token: Tokens.Code; whole: boolean }) {
  const lang = token.lang ?? "";
  const closed = whole || token.codeBlockStyle === "indented" || /\n {0,3}(`{3,}|~{3,})[ \t]*\n*$/.test(token.raw);
  const [wrap, setWrap] = useState(false);
  return (
    <figure className="md-code">
      <figcaption>
        <span>{lang || "text"}</span>
        <button type="button" className="quiet" aria-pressed={wrap} onClick={() => setWrap(!wrap)}>
          wrap
        </button>
        <CopyButton text={() => token.text} what="code" />
      </figcaption>
      <pre tabIndex={0} className={wrap ? "wraps" : undefined}>
        <Code code={token.text} lang={lang} whole={closed} />
      </pre>
    </figure>
  );
}

function inline(tokens: readonly Token[] | undefined, depth = 0): ReactNode[] {
  return (tokens ?? []).map((token, key) => {
    if (depth > DEPTH_MAX) return token.raw;
    const inner = () => inline("tokens" in token ? token.tokens : undefined, depth + 1);
    switch (token.type) {
      case "text":
        return "tokens" in token && token.tokens ? <Fragment key={key}>{inner()}</Fragment> : characters((token as Tokens.Text).text);
      case "escape":
        return (token as Tokens.Escape).text;
      case "strong":
        return <strong key={key}>{inner()}</strong>;
      case "em":
        return <em key={key}>{inner()}</em>;
      case "del":
        return <del key={key}>{inner()}</del>;
      case "codespan":
        return <code key={key}>{(token as Tokens.Codespan).text}</code>;
      case "br":
        return <br key={key} />;
      case "checkbox":
        return <input key={key} type="checkbox" disabled checked={(token as Tokens.Checkbox).checked} aria-label={(token as Tokens.Checkbox).checked ? "done" : "open"} />;
      case "link":
        return <Link key={key} token={token as Tokens.Link} inner={inner()} />;
      case "image":
        return <ImageChip key={key} token={token as Tokens.Image} />;
      default:
        // HTML is the text it is, not an element.
        return token.raw;
    }
  });
}

function Link({ token, inner }: { token: Tokens.Link; inner: ReactNode }) {
  const to = target(token.autolink ? token.href : characters(token.href));
  switch (to.kind) {
    case "web":
      return (
        <a href={to.href} target="_blank" rel="noopener noreferrer nofollow" title={unmasked(to.href)} className="md-out">
          {inner}
          {!token.text.includes(to.host) && <span className="md-host"> ({to.host})</span>}
        </a>
      );
    case "mail":
      return (
        <a href={to.href} rel="noopener noreferrer" title={unmasked(to.href)}>
          {inner}
        </a>
      );
    case "path":
      return (
        <span className="md-path" title={`A path: ${unmasked(to.path)}`}>
          {inner}
        </span>
      );
    case "anchor":
      return <span>{inner}</span>;
    case "refused":
      return (
        <span className="md-refused" title="This link is not opened from here.">
          {inner} <span className="md-host">(link not opened: {unmasked(to.shown).slice(0, 80)})</span>
        </span>
      );
  }
}

/** Images of an agent are never loaded: that would tell somebody that the page is read. */
function ImageChip({ token }: { token: Tokens.Image }) {
  const to = target(characters(token.href));
  const from = to.kind === "web" ? to.host : to.kind === "path" ? to.path : "not opened";
  return (
    <span className="md-image">
      <span aria-hidden="true">▣</span> Image{token.text ? `: ${token.text}` : ""} <span className="md-host">({unmasked(from).slice(0, 80)})</span>
    </span>
  );
}
