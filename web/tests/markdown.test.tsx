import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { describe, expect, it } from "vitest";
import { GrowingMarkdown, lex, oneLineEnd } from "../src/markdown/blocks";
import { Markdown } from "../src/markdown/Markdown";
import { characters, target, unmasked } from "../src/markdown/urls";
import { NO_TEXT } from "../src/store/live";

const DOCUMENT = `# Title

A paragraph with **bold**, _em_, \`code\`, ~~gone~~ and a [link](https://example.org/a "t").

1. one
2. two

   inside two
3

- a
  - b
    - c
- [x] done
- [ ] open

| a | b |
|---|--:|
| 1 | 2 |

\`\`\`python
def f():

    return "</script>"
\`\`\`

> quoted
> > deeper

---

<div onclick="x">html</div>

Setext
======

    indented code

Last line with https://example.org.
`;

function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1664525 + 1013904223) % 4294967296;
    return state / 4294967296;
  };
}

const raws = (text: string) => lex(text).map((t) => `${t.type} ${t.raw.trimEnd()}`);

function html(text: string): string {
  return renderToStaticMarkup(createElement(Markdown, { body: { ...NO_TEXT, text, chars: text.length }, closed: true }));
}

describe("growing markdown", () => {
  it("is at every moment what the whole text would be, in 200 random chunkings", () => {
    for (let seed = 1; seed <= 200; seed++) {
      const next = random(seed);
      const growing = new GrowingMarkdown();
      let at = 0;
      while (at < DOCUMENT.length) {
        at = Math.min(DOCUMENT.length, at + 1 + Math.floor(next() * 40));
        const text = DOCUMENT.slice(0, at);
        const found = growing.update(text, false).map((b) => `${b.token.type} ${b.token.raw.trimEnd()}`);
        expect(found, `seed ${seed} at ${at}`).toEqual(raws(text));
      }
      expect(growing.update(DOCUMENT, true).map((b) => `${b.token.type} ${b.token.raw.trimEnd()}`)).toEqual(raws(DOCUMENT));
    }
  });

  it("keeps blocks that are settled as the same objects", () => {
    const growing = new GrowingMarkdown();
    const first = growing.update("one\n\ntwo\n\nthree\n\nfour", false);
    const second = growing.update("one\n\ntwo\n\nthree\n\nfour and more", false);
    expect(second[0]).toBe(first[0]);
    expect(second[1]).toBe(first[1]);
    expect(second[3]).not.toBe(first[3]);
  });

  it("puts right what a late definition changes", () => {
    const growing = new GrowingMarkdown();
    const text = "see [it][1]\n\na\n\nb\n\nc\n\n[1]: https://example.org/\n";
    growing.update(text.slice(0, 20), false);
    growing.update(text, false);
    const link = growing.update(text, true)[0]?.token;
    expect(JSON.stringify(link)).toContain('"type":"link"');
  });

  it("begins anew with another text", () => {
    const growing = new GrowingMarkdown();
    growing.update("# a long first text\n\nmore", false);
    expect(growing.update("other", false).map((b) => b.token.raw)).toEqual(["other"]);
  });

  it("has one kind of line end", () => {
    expect(oneLineEnd("a\r\nb\rc\n")).toBe("a\nb\nc\n");
  });
});

const HOSTILE = [
  "<script>alert(1)</script>",
  "<img src=x onerror=alert(1)>",
  '<svg><script href="data:,alert(1)"/></svg>',
  "<base href='https://evil.example/'>",
  "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
  "<style>*{display:none}</style>",
  "[x](javascript:alert(1))",
  "[x](JaVaScRiPt:alert(1))",
  "[x](java\tscript:alert(1))",
  "[x](&#106;avascript:alert(1))",
  "[x](\u0001javascript:alert(1))",
  "[x](data:text/html,<script>alert(1)</script>)",
  "[x](vbscript:msgbox(1))",
  "[x](file:///etc/passwd)",
  "[x](//evil.example/a)",
  "[x](https://good.example@evil.example/)",
  "![x](https://evil.example/pixel.png)",
  "![x](javascript:alert(1))",
  "<javascript:alert(1)>",
  "[x]: javascript:alert(1)\n\n[x]",
  "a <b onmouseover=alert(1)>b</b>",
];

describe("what an agent writes", () => {
  it.each(HOSTILE)("never becomes markup or a dangerous address: %s", (text) => {
    const page = html(text);
    const box = document.implementation.createHTMLDocument("").createElement("div");
    const parsed = new DOMParser().parseFromString(page, "text/html");
    box.append(...parsed.body.childNodes);
    expect(box.querySelectorAll("script,img,svg,iframe,style,base,b,object,embed")).toHaveLength(0);
    for (const element of box.querySelectorAll("*")) {
      for (const { name, value } of element.attributes) {
        expect(name.startsWith("on")).toBe(false);
        if (name === "href") expect(value).toMatch(/^(https?:|mailto:)/);
        expect(["src", "srcdoc", "style"]).not.toContain(name);
      }
    }
    expect(box.textContent?.length).toBeGreaterThan(0);
  });

  it("marks where a link leads if its text does not say so", () => {
    expect(html("[docs](https://example.org/x)")).toContain("(example.org)");
    expect(html("https://example.org/x")).not.toContain("(example.org)");
  });

  it("has lists, tasks, tables and code as elements", () => {
    const page = html(DOCUMENT);
    for (const part of ["<ol", "<li", 'type="checkbox"', "<table", "<blockquote", "<hr", "<del>", "<em>", "&lt;div onclick"]) {
      expect(page).toContain(part);
    }
    expect(page.match(/type="checkbox"/g)).toHaveLength(2);
  });

  it("is bounded in depth", () => {
    expect(html(`${"> ".repeat(200)}deep`)).toContain("deep");
  });
});

describe("addresses", () => {
  it("are judged by what a browser would make of them", () => {
    expect(target("https://a.example/x").kind).toBe("web");
    expect(target("mailto:a@b.example").kind).toBe("mail");
    expect(target("src/a.ts:12").kind).toBe("path");
    expect(target("C:\\x").kind).toBe("path");
    expect(target("java\nscript:x").kind).toBe("refused");
    expect(target("x".repeat(5000)).kind).toBe("refused");
  });

  it("and text have their character references", () => {
    expect(characters("a &amp; b &lt;&#65;&#x42; &nope; &#0;")).toBe("a & b <AB &nope; \ufffd");
  });

  it("and commands show what deceives the eye", () => {
    expect(unmasked("rm \u202Etxt\u200B")).toBe("rm ⟨U+202E⟩txt⟨U+200B⟩");
  });
});
