/**
 * One event stream, kept going: it reconnects after the sequence that came last, and says what it hears. It knows
 * nothing of tabs or of what the frames mean, and runs in a page as well as in a worker.
 */
import { type Frame, SseParser } from "./sse";

/** First and longest wait before a new try, in milliseconds. */
export const BACKOFF_FIRST = 250;
export const BACKOFF_MAX = 10_000;
/** A stream without a frame for so long is dead, in milliseconds; the server speaks every ten seconds. */
export const SILENCE_MAX = 25_000;

/** Asks the server for a stream: `fetch`, or what a test puts in its place. */
export type Opener = (query: string, signal: AbortSignal) => Promise<Response>;

export interface Listener {
  /** Frames that came together. With `resumed`, the hello among them goes on from the stream before it. */
  frames(frames: Frame[], resumed: boolean): void;
  /** There is no stream; a new try follows by itself. */
  lost(): void;
  /** There is no login; nothing follows before `open`. */
  refused(): void;
}

export interface Standing {
  readonly boot: string;
  readonly journal: string;
}

export const openStream: Opener = (query, signal) =>
  fetch(`/v1/events?${query}`, {
    credentials: "same-origin",
    cache: "no-store",
    headers: { accept: "text/event-stream" },
    signal,
  });

class Refused extends Error {}

export class Pump {
  /** The sequence up to which events were passed on; null before the first hello. An empty journal stands at 0. */
  cursor: number | null = null;
  /** Who answers, while a stream is up. */
  standing: Standing | null = null;
  /** The threads whose text the stream at hand carries. */
  live: ReadonlySet<string> = new Set();
  private wanted: ReadonlySet<string> = new Set();
  private before: Standing | null = null;
  /** Which loop counts; 0 while none does. */
  private turn = 0;
  private turns = 0;
  private abort: AbortController | null = null;
  private wake: (() => void) | null = null;
  private tries = 0;

  constructor(
    private readonly listener: Listener,
    private readonly opener: Opener = openStream,
  ) {}

  /** Have a stream with the text of these threads; one that runs already begins anew after its last event. */
  open(live: ReadonlySet<string>): void {
    this.wanted = live;
    this.standing = null;
    this.abort?.abort();
    this.retry();
    if (this.turn > 0) return;
    this.turn = this.turns += 1;
    void this.run(this.turn);
  }

  /** Try at once instead of waiting. */
  retry(): void {
    this.tries = 0;
    this.wake?.();
  }

  /** No stream any more, until `open`. */
  stop(): void {
    this.turn = 0;
    this.standing = null;
    this.abort?.abort();
    this.wake?.();
  }

  private async run(turn: number): Promise<void> {
    while (this.turn === turn) {
      const live = this.wanted;
      try {
        await this.listen(live);
      } catch (error) {
        if (error instanceof Refused && live === this.wanted && this.turn === turn) {
          this.stop();
          this.listener.refused();
          return;
        }
      }
      if (this.turn !== turn) return;
      if (live !== this.wanted) continue;
      this.standing = null;
      this.listener.lost();
      await this.pause();
    }
  }

  private async pause(): Promise<void> {
    const most = Math.min(BACKOFF_MAX, BACKOFF_FIRST * 2 ** this.tries);
    this.tries += 1;
    await new Promise<void>((done) => {
      const timer = setTimeout(done, most / 2 + (Math.random() * most) / 2);
      this.wake = () => {
        clearTimeout(timer);
        done();
      };
    });
    this.wake = null;
  }

  private async listen(live: ReadonlySet<string>): Promise<void> {
    const abort = new AbortController();
    this.abort = abort;
    const query = new URLSearchParams();
    if (live.size > 0) query.set("live", [...live].join(","));
    if (this.cursor !== null) query.set("after", String(this.cursor));
    if (this.before !== null) query.set("journal", this.before.journal);
    let silence = setTimeout(() => abort.abort(), SILENCE_MAX);
    try {
      const response = await this.opener(query.toString(), abort.signal);
      if (response.status === 401) throw new Refused();
      if (!response.ok || response.body === null) return;
      const reader = response.body.getReader();
      const parser = new SseParser();
      for (;;) {
        const { done, value } = await reader.read();
        // What an aborted stream still holds comes again on the next one.
        if (done || abort.signal.aborted) return;
        clearTimeout(silence);
        silence = setTimeout(() => abort.abort(), SILENCE_MAX);
        const frames = parser.push(value);
        if (frames.length > 0) this.take(frames, live);
      }
    } finally {
      clearTimeout(silence);
      abort.abort();
    }
  }

  private take(frames: Frame[], live: ReadonlySet<string>): void {
    let resumed = false;
    for (const frame of frames) {
      switch (frame.event) {
        case "hello": {
          const hello = JSON.parse(frame.data) as Standing & { sequence: number };
          resumed = this.cursor !== null && this.before?.boot === hello.boot && this.before.journal === hello.journal;
          this.before = this.standing = { boot: hello.boot, journal: hello.journal };
          this.live = live;
          this.tries = 0;
          this.cursor ??= hello.sequence;
          break;
        }
        case "event":
          this.cursor = Math.max(this.cursor ?? 0, Number(frame.id));
          break;
        case "heartbeat":
          this.cursor = Math.max(this.cursor ?? 0, (JSON.parse(frame.data) as { sequence: number }).sequence);
          break;
        case "reset":
          this.cursor = (JSON.parse(frame.data) as { sequence: number }).sequence;
          break;
      }
    }
    this.listener.frames(frames, resumed);
  }
}
