/** Output of programs: colours to classes, carriage returns to what a terminal would show. No terminal is emulated. */
import Anser from "anser";

export interface Span {
  text: string;
  className: string;
  /** True colours, as `rgb(...)`; set through CSSOM. */
  color?: string;
  background?: string;
}

export interface AnsiState {
  /** Colour codes in force at the end, to go on with. */
  carry: string;
}

const OTHER_SEQUENCES = /\u001b(?:\[[0-9;:?<=>]*[ -/]*[@-ln-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\|$)|[()#][0-9A-Za-z]|[=>78cDEHMNOZ])/g;
const CUT_SEQUENCE = /\u001b(?:\[[0-9;:?]*|\]?)?$/;
const SGR = /\u001b\[[0-9;]*m/g;
const REST = /[\u0000-\u0008\u000b\u000c\u000e-\u001a\u001c-\u001f\u007f-\u009f]/g;

/** The lines of output as they would stand on a screen: a carriage return begins its line anew. */
export function linesOf(output: string): string[] {
  const plain = output.replace(CUT_SEQUENCE, "").replace(OTHER_SEQUENCES, "").replace(REST, "");
  const lines = plain.replace(/\r+\n/g, "\n").split("\n");
  return lines.map((line) => {
    if (!line.includes("\r")) return line;
    const written = line.split("\r");
    // Colours that were set in what is overwritten stay in force.
    const shown = written.findLast((part) => part.replace(SGR, "") !== "") ?? "";
    const before = written.slice(0, written.indexOf(shown)).join("").match(SGR)?.join("") ?? "";
    return before + shown;
  });
}

/** One line as spans; `carry` are the codes in force before it. */
export function spansOf(line: string, carry: string): [Span[], string] {
  const codes = (carry + line).match(SGR) ?? [];
  const reset = codes.findLastIndex((c) => c === "\u001b[0m" || c === "\u001b[m");
  const next = codes.slice(reset + 1).slice(-16).join("");
  if (codes.length === 0) return [[{ text: line, className: "" }], ""];
  const spans = Anser.ansiToJson(carry + line, { json: true, use_classes: true, remove_empty: true }).map(spanOf);
  return [spans, next];
}

function spanOf(entry: Anser.AnserJsonEntry): Span {
  const classes: string[] = entry.decorations.map((d) => `a-${d}`);
  const span: Span = { text: entry.content, className: "" };
  const put = (value: string | null, truecolor: string | null, end: "fg" | "bg") => {
    if (!value) return;
    const palette = /^ansi-palette-(\d+)$/.exec(value);
    const rgb = value === "ansi-truecolor" ? (truecolor ?? "") : palette ? palette256(Number(palette[1])) : "";
    if (rgb) {
      if (end === "fg") span.color = `rgb(${rgb})`;
      else span.background = `rgb(${rgb})`;
    } else classes.push(`${value}-${end}`);
  };
  put(entry.fg, entry.fg_truecolor, "fg");
  put(entry.bg, entry.bg_truecolor, "bg");
  span.className = classes.join(" ");
  return span;
}

function palette256(index: number): string {
  if (index >= 232) {
    const grey = 8 + (index - 232) * 10;
    return `${grey}, ${grey}, ${grey}`;
  }
  const at = index - 16;
  if (at < 0) return "";
  const level = (n: number) => (n === 0 ? 0 : 55 + n * 40);
  return `${level(Math.floor(at / 36))}, ${level(Math.floor(at / 6) % 6)}, ${level(at % 6)}`;
}
