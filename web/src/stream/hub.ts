/**
 * One stream for all tabs of a browser (R7). Each tab gets every event in order, and the text of the thread it shows.
 * A tab that joins is greeted once the stream carries its thread; then it reads what is there. Runs in a shared worker,
 * or in the page itself where there is none.
 */
import { type Listener, type Opener, openStream, Pump } from "./pump";
import type { Frame } from "./sse";

/** Most characters that wait for one tab. Beyond it the tab gets no more, and reads everything anew once it is back. */
export const UNREAD_MAX = 32 * 1024 * 1024;
/** What a frame weighs beside its characters. */
const FRAME_COST = 200;
/** A tab that leaves what it was sent unread for so long is forgotten, in milliseconds. */
export const SILENT_MAX = 60_000;
/** How often silent tabs are looked for, in milliseconds. */
export const SWEEP_EVERY = 10_000;
/** Most tabs that share a stream. */
export const TABS_MAX = 200;

export type ToTab =
  /** Frames in the order of the stream, to be acknowledged by number. */
  | { type: "frames"; number: number; frames: Frame[] }
  | { type: "lost"; number: number }
  /** Nobody is signed in any more. */
  | { type: "out" }
  /** The tab is not known here (any more): join. */
  | { type: "again" }
  | { type: "here" }
  /** There are too many tabs. */
  | { type: "full" };

export type ToHub =
  /** Show this thread from now on. `again`: the tab was here before, and may have missed something. */
  | { type: "join"; thread: string | null; again: boolean }
  | { type: "want"; thread: string | null }
  | { type: "read"; number: number }
  | { type: "retry" }
  | { type: "ping" }
  | { type: "out" }
  | { type: "bye" };

/** The way to a tab: a MessagePort, or a stand-in. */
export interface Way {
  postMessage(message: ToTab): void;
}

interface Tab {
  readonly way: Way;
  thread: string | null;
  /** It knows where the stream stands: from here on it gets every event. */
  joined: boolean;
  /** The stream carried its thread when it was last greeted. */
  greeted: boolean;
  /** It was given up while too much waited for it, or comes back after that. */
  behind: boolean;
  numbers: number;
  /** What was sent and not read yet. */
  unread: { number: number; weight: number; at: number }[];
  weight: number;
}

export class Hub implements Listener {
  private readonly tabs = new Map<Way, Tab>();
  private readonly pump: Pump;
  private sweeping: ReturnType<typeof setInterval> | null = null;

  constructor(opener: Opener = openStream) {
    this.pump = new Pump(this, opener);
  }

  get size(): number {
    return this.tabs.size;
  }

  /** What a tab says. */
  take(way: Way, message: ToHub): void {
    let tab = this.tabs.get(way);
    if (message.type === "bye") return this.forget(way);
    if (tab === undefined) {
      if (this.tabs.size >= TABS_MAX) return way.postMessage({ type: "full" });
      tab = { way, thread: null, joined: false, greeted: false, behind: false, numbers: 0, unread: [], weight: 0 };
      this.tabs.set(way, tab);
      if (message.type !== "join") way.postMessage({ type: "again" });
      this.sweeping ??= setInterval(() => this.sweep(), SWEEP_EVERY);
    }
    switch (message.type) {
      case "join":
        tab.behind = message.again;
        return this.want(tab, message.thread);
      case "want":
        return this.want(tab, message.thread);
      case "read":
        return this.read(tab, message.number);
      case "retry":
        return this.pump.retry();
      case "ping":
        return way.postMessage({ type: "here" });
      case "out":
        this.pump.stop();
        return this.refused();
    }
  }

  // ---- tabs

  private want(tab: Tab, thread: string | null): void {
    tab.thread = thread;
    tab.greeted = false;
    if (this.pump.standing !== null && this.covers(tab)) this.greet(tab);
    else this.pump.open(new Set([...this.tabs.values()].flatMap((t) => (t.thread === null ? [] : [t.thread]))));
  }

  private covers(tab: Tab): boolean {
    return tab.thread === null || this.pump.live.has(tab.thread);
  }

  /** Tells a tab where the stream stands. What is above comes to it; what is below it reads. */
  private greet(tab: Tab): void {
    const standing = this.pump.standing;
    if (standing === null) return;
    const at = { boot: standing.boot, journal: standing.journal, sequence: this.pump.cursor ?? 0 };
    const frames = [made("hello", at)];
    if (tab.behind) frames.push(made("reset", { reason: "reader_too_slow", sequence: at.sequence, boot: at.boot }));
    tab.joined = tab.greeted = true;
    tab.behind = false;
    this.send(tab, frames);
  }

  private read(tab: Tab, number: number): void {
    while (tab.unread[0] !== undefined && tab.unread[0].number <= number) tab.weight -= tab.unread.shift()?.weight ?? 0;
    if (tab.behind && tab.weight === 0 && this.covers(tab)) this.greet(tab);
  }

  private send(tab: Tab, frames: Frame[]): void {
    if (frames.length === 0 || tab.behind) return;
    const weight = frames.reduce((sum, f) => sum + f.data.length + FRAME_COST, 0);
    if (tab.weight > 0 && tab.weight + weight > UNREAD_MAX) {
      tab.behind = true;
      return;
    }
    tab.way.postMessage({ type: "frames", number: this.sent(tab, weight), frames });
  }

  private sent(tab: Tab, weight: number): number {
    tab.numbers += 1;
    tab.weight += weight;
    tab.unread.push({ number: tab.numbers, weight, at: Date.now() });
    return tab.numbers;
  }

  private forget(way: Way): void {
    this.tabs.delete(way);
    if (this.tabs.size > 0) return;
    this.pump.stop();
    if (this.sweeping !== null) clearInterval(this.sweeping);
    this.sweeping = null;
  }

  private sweep(): void {
    const since = Date.now() - SILENT_MAX;
    for (const tab of [...this.tabs.values()]) if (tab.unread[0] !== undefined && tab.unread[0].at < since) this.forget(tab.way);
  }

  // ---- the stream

  frames(frames: Frame[], resumed: boolean): void {
    const addressed = frames.map((frame) => ({ frame, thread: threadOf(frame) }));
    const hello = frames.some((f) => f.event === "hello");
    for (const tab of [...this.tabs.values()]) {
      const covered = hello && this.covers(tab);
      if (tab.behind) {
        if (covered && tab.weight === 0) this.greet(tab);
        continue;
      }
      // For who was greeted the stream goes on; who waits for a greeting gets the whole one.
      const goesOn = resumed && tab.greeted;
      if (covered) tab.joined = tab.greeted = true;
      if (!tab.joined) continue;
      const own = addressed.flatMap(({ frame, thread }) => {
        if (frame.event === "hello") return tab.greeted ? [goesOn ? going(frame) : frame] : [];
        return thread === null || (tab.greeted && thread === tab.thread) ? [frame] : [];
      });
      this.send(tab, own);
    }
  }

  lost(): void {
    for (const tab of this.tabs.values()) tab.way.postMessage({ type: "lost", number: this.sent(tab, FRAME_COST) });
  }

  refused(): void {
    for (const tab of this.tabs.values()) tab.way.postMessage({ type: "out" });
  }
}

function made(event: string, data: object): Frame {
  return { event, data: JSON.stringify(data), id: "" };
}

/** A hello that says that nothing but text can have been missed. */
function going(hello: Frame): Frame {
  return { ...hello, data: JSON.stringify({ ...(JSON.parse(hello.data) as object), resumed: true }) };
}

/** The thread of a frame that only those want who show it. */
function threadOf(frame: Frame): string | null {
  if (frame.event === "delta") return (JSON.parse(frame.data) as { thread_id: string }).thread_id;
  if (frame.event === "snapshot") return (JSON.parse(frame.data) as { thread: { id: string } }).thread.id;
  return null;
}
