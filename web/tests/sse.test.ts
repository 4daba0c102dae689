import { describe, expect, it } from "vitest";
import { type Frame, SseParser } from "../src/stream/sse";

const STREAM =
  ': a comment\nevent: hello\ndata: {"boot":"rt_1","sequence":41}\n\n' +
  'id: 42\nevent: event\ndata: {"text":"grüße 🙂"}\n\n' +
  "event: delta\r\ndata: one\r\ndata:two\r\n\r\n" +
  "data\n\nevent: empty\n\nid: 7\nretry: 5\ndata: last\n\n";

const FRAMES: Frame[] = [
  { event: "hello", data: '{"boot":"rt_1","sequence":41}', id: "" },
  { event: "event", data: '{"text":"grüße 🙂"}', id: "42" },
  { event: "delta", data: "one\ntwo", id: "42" },
  { event: "message", data: "", id: "42" },
  { event: "message", data: "last", id: "7" },
];

function parse(pieces: Uint8Array[]): Frame[] {
  const parser = new SseParser();
  return pieces.flatMap((p) => parser.push(p));
}

const bytes = new TextEncoder().encode(STREAM);

describe("event stream", () => {
  it("is read whole", () => {
    expect(parse([bytes])).toEqual(FRAMES);
  });

  it("is the same cut at every byte", () => {
    for (let cut = 0; cut <= bytes.length; cut++) {
      expect(parse([bytes.slice(0, cut), bytes.slice(cut)]), `cut at ${cut}`).toEqual(FRAMES);
    }
  });

  it("is the same byte by byte", () => {
    expect(parse([...bytes].map((b) => new Uint8Array([b])))).toEqual(FRAMES);
  });

  it("gives nothing for a frame that did not end", () => {
    expect(parse([new TextEncoder().encode("event: x\ndata: 1\n")])).toEqual([]);
  });

  it("leaves out a byte order mark", () => {
    expect(parse([new TextEncoder().encode("\uFEFFdata: 1\n\n")])).toEqual([{ event: "message", data: "1", id: "" }]);
  });
});
