/** Code in colours: a tree of spans with classes, never markup from a string. Grammars are loaded when one is needed. */
import type { ElementContent, Root } from "hast";
import type { LanguageFn } from "highlight.js";
import { createLowlight } from "lowlight";
import { createElement, memo, type ReactNode, useEffect, useState } from "react";

/** Longer code stays plain, in lines and in characters. */
export const LINES_MAX = 400;
const CHARS_MAX = 60_000;

type Grammar = () => Promise<{ default: LanguageFn }>;

const GRAMMARS: { [name: string]: Grammar } = {
  bash: () => import("highlight.js/lib/languages/bash"),
  c: () => import("highlight.js/lib/languages/c"),
  cpp: () => import("highlight.js/lib/languages/cpp"),
  css: () => import("highlight.js/lib/languages/css"),
  diff: () => import("highlight.js/lib/languages/diff"),
  go: () => import("highlight.js/lib/languages/go"),
  java: () => import("highlight.js/lib/languages/java"),
  javascript: () => import("highlight.js/lib/languages/javascript"),
  json: () => import("highlight.js/lib/languages/json"),
  markdown: () => import("highlight.js/lib/languages/markdown"),
  python: () => import("highlight.js/lib/languages/python"),
  ruby: () => import("highlight.js/lib/languages/ruby"),
  rust: () => import("highlight.js/lib/languages/rust"),
  sql: () => import("highlight.js/lib/languages/sql"),
  typescript: () => import("highlight.js/lib/languages/typescript"),
  xml: () => import("highlight.js/lib/languages/xml"),
  yaml: () => import("highlight.js/lib/languages/yaml"),
};

const ALIASES: { [name: string]: string } = {
  sh: "bash",
  shell: "bash",
  zsh: "bash",
  console: "bash",
  "c++": "cpp",
  h: "c",
  hpp: "cpp",
  golang: "go",
  js: "javascript",
  jsx: "javascript",
  mjs: "javascript",
  jsonc: "json",
  md: "markdown",
  py: "python",
  rb: "ruby",
  rs: "rust",
  ts: "typescript",
  tsx: "typescript",
  html: "xml",
  svg: "xml",
  toml: "yaml",
  yml: "yaml",
  patch: "diff",
};

const lowlight = createLowlight();

export function grammarOf(lang: string): string | null {
  const name = lang.trim().split(/[\s,{]/)[0]?.toLowerCase() ?? "";
  const known = ALIASES[name] ?? name;
  return Object.hasOwn(GRAMMARS, known) ? known : null;
}

async function colour(code: string, grammar: string): Promise<Root> {
  if (!lowlight.registered(grammar)) {
    const load = GRAMMARS[grammar];
    if (load) lowlight.register(grammar, (await load()).default);
  }
  return lowlight.highlight(grammar, code);
}

function spans(nodes: readonly ElementContent[], path = ""): ReactNode[] {
  return nodes.map((node, index) => {
    const key = `${path}${index}`;
    if (node.type === "text") return node.value;
    if (node.type !== "element") return null;
    const classes = node.properties["className"];
    return createElement("span", { key, className: Array.isArray(classes) ? classes.join(" ") : undefined }, ...spans(node.children, `${key}.`));
  });
}

function idle(then: () => void): void {
  // Not every browser has it.
  if (typeof window.requestIdleCallback === "function") window.requestIdleCallback(then, { timeout: 500 });
  else setTimeout(then, 50);
}

/** Code; coloured in idle time once it is whole. */
export const Code = memo(function Code({ code, lang, whole }: { code: string; lang: string; whole: boolean }) {
  const [tree, setTree] = useState<Root | null>(null);
  useEffect(() => {
    setTree(null);
    const grammar = grammarOf(lang);
    if (!whole || grammar === null || code.length > CHARS_MAX || code.split("\n", LINES_MAX + 1).length > LINES_MAX) return;
    let wanted = true;
    idle(() => {
      if (!wanted) return;
      colour(code, grammar)
        .then((root) => {
          if (wanted) setTree(root);
        })
        .catch(() => undefined);
    });
    return () => {
      wanted = false;
    };
  }, [code, lang, whole]);
  return <code>{tree ? spans(tree.children as ElementContent[]) : code}</code>;
});
