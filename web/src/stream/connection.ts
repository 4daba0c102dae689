/**
 * Keeps the page in step with the server: what comes on the stream that all tabs share, snapshots where the stream says
 * so, single items where text has a hole. Everything it learns goes through the pure reducer.
 */
import { api, Problem } from "../api/client";
import * as normal from "../api/normalize";
import type { Body, Delta, Item, PageEvent, Snapshot } from "../api/types";
import { lacks } from "../store/live";
import { page, texts } from "../store/page";
import { addPage, applyEvent, forget, hello, listThreads, openThread } from "../store/reducer";
import { Source } from "./source";
import type { Frame } from "./sse";

/** Affordances are read again so long after something changed, in milliseconds. */
const REREAD_AFTER = 60;
/** Most deltas held back while a snapshot is read; beyond it items are read again. */
const HELD_MAX = 5_000;

export class Connection {
  private wanted: string | null = null;
  private source: Source | null = null;
  private held: Delta[] | null = null;
  /** Items that are being read, the text that came meanwhile, and whether they must be read once more. */
  private reading = new Map<string, { again: boolean; held: Delta[] }>();
  private rereading: ReturnType<typeof setTimeout> | null = null;
  private listing = false;
  /** What is known is of before a reset: it goes with the next snapshot, so that nothing flickers. */
  private outdated = false;

  start(): void {
    this.source = new Source({
      frames: (frames) => this.take(frames),
      lost: () => page.setState((s) => ({ link: s.boot === null ? "connecting" : "reconnecting" })),
      out: () => page.setState({ loggedIn: false }),
    });
    this.source.start();
    window.addEventListener("online", this.retryNow);
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden && page.getState().link !== "live") this.retryNow();
    });
  }

  /** Try at once instead of waiting. */
  retryNow = (): void => this.source?.retry();

  /** The server said that there is no login. */
  signedOut(): void {
    page.setState({ loggedIn: false });
    this.source?.out();
  }

  /** Show another thread: its snapshot now, its text from now on. */
  show(thread: string | null): void {
    if (thread === this.wanted) return;
    this.wanted = thread;
    texts.clear();
    page.setState({ opened: null, trouble: null });
    this.held = null;
    this.source?.want(thread);
  }

  async older(): Promise<void> {
    const opened = page.getState().opened;
    if (opened === null || opened.before === null) return;
    const read = await api.items(opened.id, opened.before);
    read.items.forEach((v) => texts.view(v));
    page.setState((s) => addPage(s, opened.id, read));
  }

  // ---- the stream

  /** Frames that came together change the store once. */
  private take(frames: Frame[]): void {
    let state = page.getState();
    for (const frame of frames) {
      const data: unknown = JSON.parse(frame.data);
      switch (frame.event) {
        case "hello": {
          const { boot, sequence, resumed } = data as { boot: string; sequence: number; resumed?: boolean };
          const first = state.sequence === 0;
          state = { ...hello(state, boot, Date.now()), loggedIn: true };
          if (first) state = { ...state, sequence };
          page.setState(state);
          if (resumed) this.readGrowing();
          else this.readAll();
          break;
        }
        case "event": {
          const event = normal.event(data);
          if (!(event.thread_id in state.rows)) this.list();
          state = applyEvent(state, event);
          this.afterEvent(event);
          break;
        }
        case "delta":
          this.delta(data as Delta);
          break;
        case "heartbeat":
          state = { ...state, sequence: Math.max(state.sequence, (data as { sequence: number }).sequence) };
          break;
        case "reset":
          state = { ...state, sequence: (data as { sequence: number }).sequence };
          this.outdated = true;
          this.relist();
          break;
        case "snapshot":
          state = this.snapshot(state, normal.snapshot(data));
          break;
      }
    }
    page.setState({ ...state, heardAt: Date.now(), link: "live" });
    if (state.opened?.dated) this.reread();
  }

  private snapshot(state: ReturnType<typeof page.getState>, read: Snapshot): typeof state {
    if (read.thread.id !== this.wanted) return state;
    if (this.outdated) {
      this.outdated = false;
      texts.clear();
      state = { ...forget(state, Math.max(state.sequence, read.sequence)), rows: state.rows, listed: state.listed };
    }
    read.items.forEach((v) => texts.view(v));
    return openThread(state, read);
  }

  private afterEvent(event: PageEvent): void {
    if (event.thread_id !== this.wanted || event.entity.kind !== "item") return;
    const item = event.entity as Item;
    const rests = item.state !== "open";
    for (const [field, ref] of Object.entries(item.bodies)) {
      const have = texts.find(item.id, field as Body);
      if (lacks(have, ref, rests || ref.closed) || (have !== undefined && ref.epoch > have.epoch)) this.reread_item(item.id);
      else if (rests || ref.closed) texts.close(item.id, field as Body);
    }
  }

  private delta(delta: Delta): void {
    if (delta.thread_id !== this.wanted) return;
    if (this.held !== null) {
      if (this.held.length < HELD_MAX) this.held.push(delta);
      return;
    }
    if (texts.delta(delta) !== "gap") return;
    const read = this.reading.get(delta.item);
    if (read === undefined) this.reread_item(delta.item);
    else if (read.held.length < HELD_MAX) read.held.push(delta);
    else read.again = true;
  }

  // ---- reading

  private readAll(): void {
    this.list();
    if (this.wanted !== null) void this.read(this.wanted);
  }

  /** The stream goes on after its last event: only text that grows can have a hole. */
  private readGrowing(): void {
    for (const item of Object.values(page.getState().opened?.items ?? {})) if (item.state === "open") this.reread_item(item.id);
  }

  /** The list anew; calls that come meanwhile are one. */
  list(): void {
    if (this.listing) return;
    this.listing = true;
    api
      .threads()
      .then((list) => page.setState((s) => listThreads(s, list)))
      .catch(() => undefined)
      .finally(() => (this.listing = false));
  }

  /** The list anew in place of the one that is known. */
  private relist(): void {
    api
      .threads()
      .then((list) => page.setState((s) => listThreads({ ...s, rows: {} }, list)))
      .catch(() => undefined);
  }

  private async read(thread: string): Promise<void> {
    this.held ??= [];
    try {
      const read = await api.thread(thread);
      if (this.wanted !== thread) return;
      page.setState((s) => this.snapshot(s, read));
    } catch (error) {
      if (this.wanted === thread && error instanceof Problem && error.status === 404) page.setState({ trouble: error.detail });
    } finally {
      if (this.wanted === thread) {
        const held = this.held ?? [];
        this.held = null;
        held.forEach((d) => this.delta(d));
      }
    }
    if (page.getState().opened?.dated) this.reread();
  }

  /** What can be done changed: read it again, soon and once. */
  reread(): void {
    if (this.rereading !== null) return;
    this.rereading = setTimeout(() => {
      const thread = this.wanted;
      const done = () => {
        this.rereading = null;
      };
      if (thread === null) return done();
      api
        .thread(thread, 1)
        .then((read) => {
          done();
          page.setState((s) => this.snapshot(s, read));
          if (page.getState().opened?.dated) this.reread();
        })
        .catch(done);
    }, REREAD_AFTER);
  }

  private reread_item(item: string): void {
    const thread = this.wanted;
    if (thread === null) return;
    const before = this.reading.get(item);
    if (before !== undefined) {
      before.again = true;
      return;
    }
    const read = { again: false, held: [] as Delta[] };
    this.reading.set(item, read);
    api
      .item(thread, item)
      .then((view) => {
        if (this.wanted === thread) texts.view(view);
        return this.wanted === thread;
      })
      .catch(() => false)
      .then((useful) => {
        this.reading.delete(item);
        if (!useful) return;
        if (read.again) this.reread_item(item);
        read.held.forEach((d) => this.delta(d));
      });
  }
}

export const connection = new Connection();
