/** Where a link of an agent may lead. */

export type Target =
  | { kind: "web"; href: string; host: string }
  | { kind: "mail"; href: string }
  | { kind: "path"; path: string }
  | { kind: "anchor" }
  | { kind: "refused"; shown: string };

/** Longest link that is one, in characters. */
export const HREF_MAX = 2048;

/** Only web, mail and paths of the workspace are let through; everything else is text. */
export function target(href: string): Target {
  // Browsers ignore these characters inside a scheme, so a filter has to as well.
  const plain = href.replace(/[\u0000-\u0020\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g, "");
  if (plain === "" || plain.length > HREF_MAX) return { kind: "refused", shown: href };
  if (plain.startsWith("#")) return { kind: "anchor" };
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(plain)?.[1]?.toLowerCase();
  if (scheme === "http" || scheme === "https") {
    try {
      const url = new URL(plain);
      if (url.username || url.password) return { kind: "refused", shown: href };
      return { kind: "web", href: url.href, host: url.host };
    } catch {
      return { kind: "refused", shown: href };
    }
  }
  if (scheme === "mailto") return { kind: "mail", href: plain };
  if (scheme !== undefined && !/^[a-z]$/.test(scheme) && !/^[\w.-]+:\d+/.test(plain)) return { kind: "refused", shown: href };
  if (plain.startsWith("//") || plain.includes("\\\\")) return { kind: "refused", shown: href };
  return { kind: "path", path: plain };
}

const ENTITIES: { [name: string]: string } = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0", hellip: "…", mdash: "—", ndash: "–", copy: "©", rarr: "→", larr: "←", times: "×", bull: "•" };

/** Character references of text, as CommonMark has them; those we do not know stay as they are. */
export function characters(text: string): string {
  if (!text.includes("&")) return text;
  return text.replace(/&(#x[0-9a-f]{1,6}|#[0-9]{1,7}|[a-z]+);/gi, (whole, name: string) => {
    if (!name.startsWith("#")) return ENTITIES[name] ?? whole;
    const code = name[1] === "x" || name[1] === "X" ? parseInt(name.slice(2), 16) : parseInt(name.slice(1), 10);
    return code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? String.fromCodePoint(code) : "\ufffd";
  });
}

const DECEIVING = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;

/** Text whose order or content could deceive the eye, with the deceiving characters named: for what is decided on. */
export function unmasked(text: string): string {
  return text.replace(DECEIVING, (c) => `⟨U+${(c.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}⟩`);
}
