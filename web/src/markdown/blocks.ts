/**
 * Markdown that grows: only the end of the text is lexed again. All but the last two blocks are settled, since more
 * text can still change those; a whole pass at the end puts right what a late link definition changes.
 */
import { Lexer, type Token } from "marked";

export interface Block {
  readonly key: number;
  readonly token: Token;
}

/** Blocks at the end that more text may still change. One is not enough: a list item can begin as a bare number. */
const UNSETTLED = 2;

export function lex(text: string): Token[] {
  return new Lexer({ gfm: true, breaks: false }).lex(text).filter((t) => t.type !== "space");
}

function lexRaw(text: string): Token[] {
  return new Lexer({ gfm: true, breaks: false }).lex(text);
}

export class GrowingMarkdown {
  private settled: Block[] = [];
  private settledTo = 0;
  private length = 0;
  private start = "";
  private done = false;
  private result: Block[] = [];

  /** The blocks of the text; blocks that did not change are the same objects as before. */
  update(text: string, closed: boolean): Block[] {
    const grows = text.length >= this.length && text.startsWith(this.start);
    if (!grows || (this.done && text.length !== this.length)) this.reset();
    if (text.length === this.length && closed === this.done && this.result.length > 0) return this.result;
    this.length = text.length;
    this.start = text.slice(0, 64);
    this.result = closed ? this.whole(text) : this.growing(text);
    this.done = closed;
    return this.result;
  }

  private reset(): void {
    this.settled = [];
    this.settledTo = 0;
    this.length = 0;
    this.done = false;
    this.result = [];
  }

  private growing(text: string): Block[] {
    // Line ends are made one character by the lexer, and raw lengths must add up to the text's.
    const tail = lexRaw(text.slice(this.settledTo));
    const solid = tail.map((t, i) => (t.type === "space" ? -1 : i)).filter((i) => i >= 0);
    const firstOpen = solid.length > UNSETTLED ? (solid[solid.length - UNSETTLED] ?? 0) : 0;
    let at = this.settledTo;
    const settledNow: Block[] = [];
    for (const token of tail.slice(0, firstOpen)) {
      if (token.type !== "space") settledNow.push({ key: at, token });
      at += token.raw.length;
    }
    this.settled = settledNow.length > 0 ? [...this.settled, ...settledNow] : this.settled;
    this.settledTo = at;
    const open: Block[] = [];
    for (const token of tail.slice(firstOpen)) {
      if (token.type !== "space") open.push(this.same({ key: at, token }));
      at += token.raw.length;
    }
    return [...this.settled, ...open];
  }

  private whole(text: string): Block[] {
    let at = 0;
    const blocks: Block[] = [];
    for (const token of lexRaw(text)) {
      if (token.type !== "space") blocks.push(this.same({ key: at, token }));
      at += token.raw.length;
    }
    return blocks;
  }

  /** The block we had, if it says the same. */
  private same(block: Block): Block {
    const had = this.result.find((b) => b.key === block.key);
    return had && had.token.type === block.token.type && had.token.raw === block.token.raw && !linked(block.token) ? had : block;
  }
}

/** Whether a definition elsewhere may change what the block says. */
function linked(token: Token): boolean {
  return token.raw.includes("[");
}

/** Text for the lexer: one kind of line end. */
export function oneLineEnd(text: string): string {
  return text.includes("\r") ? text.replace(/\r\n|\r/g, "\n") : text;
}
