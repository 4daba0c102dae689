/** A tab's end of the stream that all tabs share; without a shared worker that answers, a stream of its own. */
import workerUrl from "./worker?sharedworker&url";
import { Hub, type ToHub, type ToTab, type Way } from "./hub";
import type { Frame } from "./sse";

/** How often a tab makes sure that the worker is there; one that was asked and says nothing for so long is given up. */
export const ASK_EVERY = 15_000;
/** Longest wait for the first word of the worker, in milliseconds. */
export const FIRST_MAX = 5_000;

export interface Hearer {
  frames(frames: Frame[]): void;
  lost(): void;
  /** There is no login (any more), wherever that was noticed. */
  out(): void;
}

interface Line {
  say(message: ToHub): void;
  end(): void;
}

type Called = (message: ToTab) => void;

export class Source {
  private line: Line | null = null;
  private thread: string | null = null;
  private heard = true;
  private own = false;
  private asking: ReturnType<typeof setTimeout> | null = null;

  constructor(
    private readonly hearer: Hearer,
    private readonly shared: (called: Called, broken: () => void) => Line | null = workerLine,
    private readonly alone: (called: Called) => Line = ownLine,
  ) {}

  start(): void {
    this.connect(false);
    window.addEventListener("pagehide", () => this.leave());
    // A page that comes back from the browser's memory has missed what happened.
    window.addEventListener("pageshow", (event) => {
      if (event.persisted) this.connect(true);
    });
  }

  /** Show a thread: its text comes once a hello said so. */
  want(thread: string | null): void {
    this.thread = thread;
    this.line?.say({ type: "want", thread });
  }

  retry(): void {
    this.line?.say({ type: "retry" });
  }

  /** This tab was told that there is no login: all of them should know. */
  out(): void {
    this.line?.say({ type: "out" });
  }

  leave(): void {
    if (this.asking !== null) clearTimeout(this.asking);
    this.line?.say({ type: "bye" });
    this.line?.end();
    this.line = null;
  }

  private connect(again: boolean): void {
    const called = (message: ToTab) => {
      if (line === this.line) this.take(message);
    };
    const broken = () => {
      if (line === this.line) this.giveUp();
    };
    const line: Line = (this.own ? null : this.shared(called, broken)) ?? this.alone(called);
    this.line = line;
    line.say({ type: "join", thread: this.thread, again });
    this.heard = true;
    this.ask(FIRST_MAX);
  }

  private take(message: ToTab): void {
    this.heard = true;
    switch (message.type) {
      case "frames":
        try {
          this.hearer.frames(message.frames);
        } finally {
          this.line?.say({ type: "read", number: message.number });
        }
        return;
      case "lost":
        this.line?.say({ type: "read", number: message.number });
        return this.hearer.lost();
      case "out":
        return this.hearer.out();
      case "again":
        return this.line?.say({ type: "join", thread: this.thread, again: true });
      case "full":
        return this.giveUp();
    }
  }

  /** A worker that is asked and does not answer is not there. */
  private ask(wait: number): void {
    this.heard = false;
    this.line?.say({ type: "ping" });
    this.asking = setTimeout(() => {
      if (!this.heard) this.giveUp();
      else this.ask(ASK_EVERY);
    }, wait);
  }

  private giveUp(): void {
    if (this.own) return;
    this.own = true;
    this.leave();
    this.connect(true);
  }
}

/** A hub in this page. */
function ownLine(called: Called): Line {
  const hub = new Hub();
  const way: Way = { postMessage: (message) => queueMicrotask(() => called(message)) };
  return { say: (message) => hub.take(way, message), end: () => undefined };
}

interface TrustedTypes {
  createPolicy(name: string, rules: { createScriptURL: (url: string) => string }): { createScriptURL(url: string): string };
}

/** A port to the shared worker, if this browser has such. The policy lets exactly one script through. */
function workerLine(called: Called, broken: () => void): Line | null {
  if (typeof SharedWorker === "undefined") return null;
  try {
    const worker = new SharedWorker(trusted(), { type: "module", name: "podium" });
    worker.onerror = broken;
    worker.port.onmessage = (event: MessageEvent<ToTab>) => called(event.data);
    return { say: (message) => worker.port.postMessage(message), end: () => worker.port.close() };
  } catch {
    return null;
  }
}

let url: string | null = null;

function trusted(): string {
  if (url !== null) return url;
  const policy = (window as { trustedTypes?: TrustedTypes }).trustedTypes?.createPolicy("podium", {
    createScriptURL: (wanted) => {
      if (wanted !== workerUrl) throw new TypeError("Not a script of this page.");
      return wanted;
    },
  });
  url = policy === undefined ? workerUrl : policy.createScriptURL(workerUrl);
  return url;
}
