/** A parser of `text/event-stream` by the rules of the HTML standard; bytes may be cut anywhere. */

export interface Frame {
  event: string;
  data: string;
  /** The last id that was named, also by an earlier frame. */
  id: string;
}

/** Longest line the page keeps, in characters: a stream without line ends must not fill the memory. */
export const LINE_MAX = 64 * 1024 * 1024;

export class SseParser {
  private decoder = new TextDecoder();
  private rest = "";
  private data: string[] = [];
  private name = "";
  private lastId = "";

  /** Feed bytes; returns the frames that were completed by them. */
  push(bytes: Uint8Array): Frame[] {
    const text = this.rest + this.decoder.decode(bytes, { stream: true });
    const frames: Frame[] = [];
    let start = 0;
    for (;;) {
      const end = lineEnd(text, start);
      if (end < 0) break;
      // A CR at the very end may be the half of a CRLF.
      if (text[end] === "\r" && end === text.length - 1) break;
      this.line(text.slice(start, end), frames);
      start = end + (text[end] === "\r" && text[end + 1] === "\n" ? 2 : 1);
    }
    this.rest = text.slice(start);
    if (this.rest.length > LINE_MAX) throw new Error("A line of the event stream is too long.");
    return frames;
  }

  private line(line: string, frames: Frame[]): void {
    if (line === "") {
      if (this.data.length > 0) {
        frames.push({ event: this.name || "message", data: this.data.join("\n"), id: this.lastId });
      }
      this.data = [];
      this.name = "";
      return;
    }
    const colon = line.indexOf(":");
    if (colon === 0) return;
    const field = colon < 0 ? line : line.slice(0, colon);
    let value = colon < 0 ? "" : line.slice(colon + 1);
    if (value.startsWith(" ")) value = value.slice(1);
    if (field === "data") this.data.push(value);
    else if (field === "event") this.name = value;
    else if (field === "id" && !value.includes("\0")) this.lastId = value;
  }
}

function lineEnd(text: string, from: number): number {
  const lf = text.indexOf("\n", from);
  const cr = text.indexOf("\r", from);
  if (lf < 0) return cr;
  return cr < 0 ? lf : Math.min(lf, cr);
}
