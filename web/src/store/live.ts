/**
 * The text of bodies, outside the store: it grows many times a second, and only the row that shows it needs to know.
 * Listeners are called at most once a frame.
 */
import type { Body, BodyRef, BodyView, Delta, ItemView } from "../api/types";

/** How often text is shown while the page is hidden and has no frames, in milliseconds. */
export const HIDDEN_FLUSH = 1000;

/** Most characters of one body that the page keeps; beyond it only the end is shown. */
export const KEPT_MAX = 4 * 1024 * 1024;

export interface LiveText {
  readonly epoch: number;
  readonly parts: number;
  readonly chars: number;
  readonly text: string;
  readonly closed: boolean;
  /** Characters that are not here, between the head and the rest. */
  readonly omitted: number;
  /** Grows with each change that did more than append. */
  readonly generation: number;
}

export const NO_TEXT: LiveText = { epoch: 1, parts: 0, chars: 0, text: "", closed: false, omitted: 0, generation: 0 };

/** Where the omitted middle of a long body is cut out of `text`. */
export const CUT = "\n\n⋯\n\n";

export type Applied = "applied" | "old" | "gap";

/** A body with a delta on top, by the rules of the contract (R7). */
export function withDelta(have: LiveText, delta: Delta): [Applied, LiveText] {
  if (delta.body_epoch < have.epoch) return ["old", have];
  if (delta.body_epoch > have.epoch) {
    if (delta.from_part !== 1) return ["gap", have];
    return ["applied", grown({ ...NO_TEXT, epoch: delta.body_epoch, generation: have.generation + 1 }, delta)];
  }
  if (delta.to_part <= have.parts) return ["old", have];
  if (delta.from_part !== have.parts + 1) return ["gap", have];
  return ["applied", grown(have, delta)];
}

function grown(have: LiveText, delta: Delta): LiveText {
  let text = have.text + delta.text;
  let { omitted, generation } = have;
  if (text.length > KEPT_MAX) {
    const cut = text.length - KEPT_MAX / 2;
    omitted += cut;
    text = text.slice(cut);
    generation += 1;
  }
  return { ...have, parts: delta.to_part, chars: have.chars + delta.text.length, text, omitted, generation };
}

/** A body as it was read; never behind what is there. */
export function withView(have: LiveText, view: BodyView): LiveText {
  if (view.epoch < have.epoch || (view.epoch === have.epoch && view.parts < have.parts)) return have;
  if (view.epoch === have.epoch && view.parts === have.parts && have.parts > 0) {
    return view.closed === have.closed ? have : { ...have, closed: view.closed };
  }
  const text = view.tail === null ? view.text : view.text + CUT + view.tail;
  const omitted = view.tail === null ? 0 : Math.max(0, view.chars - view.text.length - view.tail.length);
  return { epoch: view.epoch, parts: view.parts, chars: view.chars, text, closed: view.closed, omitted, generation: have.generation + 1 };
}

/** Whether an event names text that is not here although no more of it is to come. */
export function lacks(have: LiveText | undefined, ref: BodyRef, rests: boolean): boolean {
  if (have === undefined) return ref.parts > 0 && rests;
  if (ref.epoch > have.epoch) return rests;
  return rests && ref.epoch === have.epoch && ref.parts > have.parts;
}

const key = (item: string, field: Body): string => `${item}\n${field}`;

export class LiveTexts {
  private texts = new Map<string, LiveText>();
  private listeners = new Map<string, Set<() => void>>();
  private changed = new Set<string>();
  private planned = false;

  get(item: string, field: Body): LiveText {
    return this.texts.get(key(item, field)) ?? NO_TEXT;
  }

  find(item: string, field: Body): LiveText | undefined {
    return this.texts.get(key(item, field));
  }

  delta(delta: Delta): Applied {
    const name = key(delta.item, delta.field);
    const [how, next] = withDelta(this.texts.get(name) ?? NO_TEXT, delta);
    if (how === "applied") this.set(name, next);
    return how;
  }

  view(view: ItemView): void {
    for (const [field, body] of Object.entries(view.text)) {
      const name = key(view.item.id, field as Body);
      const have = this.texts.get(name);
      const next = withView(have ?? NO_TEXT, body);
      if (next !== have) this.set(name, next);
    }
  }

  /** The body is whole; nothing more comes. */
  close(item: string, field: Body): void {
    const name = key(item, field);
    const have = this.texts.get(name);
    if (have && !have.closed) this.set(name, { ...have, closed: true });
  }

  clear(): void {
    this.texts.clear();
    for (const name of this.listeners.keys()) this.changed.add(name);
    this.plan();
  }

  subscribe(item: string, field: Body, listener: () => void): () => void {
    const name = key(item, field);
    const all = this.listeners.get(name) ?? new Set();
    all.add(listener);
    this.listeners.set(name, all);
    return () => {
      all.delete(listener);
      if (all.size === 0) this.listeners.delete(name);
    };
  }

  private set(name: string, text: LiveText): void {
    this.texts.set(name, text);
    this.changed.add(name);
    this.plan();
  }

  private plan(): void {
    if (this.planned) return;
    this.planned = true;
    if (document.hidden) setTimeout(() => this.flush(), HIDDEN_FLUSH);
    else requestAnimationFrame(() => this.flush());
  }

  private flush(): void {
    this.planned = false;
    const changed = [...this.changed];
    this.changed.clear();
    for (const name of changed) for (const listener of [...(this.listeners.get(name) ?? [])]) listener();
  }
}
