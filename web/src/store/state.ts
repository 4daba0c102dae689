/** What the page knows, as plain data. Changed by the pure functions of reducer.ts only. */
import type {
  Affordances,
  Checkpoint,
  Degradation,
  Item,
  Message,
  Node,
  NoticeEntry,
  Plan,
  ProviderThread,
  Request,
  Run,
  Session,
  Thread,
  ThreadRow,
  ThreadState,
} from "../api/types";

export type Table<T> = { readonly [id: string]: T };

/** One opened thread. Tables hold entities by id; `order` has the ids of the loaded items by position. */
export interface Opened {
  readonly id: string;
  readonly sequence: number;
  readonly thread: Thread;
  readonly title: string;
  readonly state: ThreadState;
  readonly runs: Table<Run>;
  readonly messages: Table<Message>;
  readonly nodes: Table<Node>;
  readonly requests: Table<Request>;
  readonly plans: Table<Plan>;
  readonly checkpoints: Table<Checkpoint>;
  readonly degradations: Table<Degradation>;
  readonly notices: Table<NoticeEntry>;
  readonly providerThreads: Table<ProviderThread>;
  readonly session: Session | null;
  readonly items: Table<Item>;
  readonly order: readonly string[];
  /** The position to ask older items before; null once the beginning is loaded. */
  readonly before: number | null;
  readonly affordances: Affordances;
  /** Something changed that affordances may depend on: read them again. */
  readonly dated: boolean;
  /** Where a request or plan that belongs to no item came: after this item. Known of those that were seen coming. */
  readonly anchors: Table<string>;
  /** Runs that were over when the thread was opened: those rest folded. */
  readonly endedAtOpen: readonly string[];
}

export type Link = "connecting" | "live" | "reconnecting";

export interface PageState {
  readonly loggedIn: boolean | null;
  readonly boot: string | null;
  /** Another server answers than the one the page was loaded from. */
  readonly rebooted: boolean;
  readonly sequence: number;
  readonly link: Link;
  /** When the last frame came, in milliseconds of the page's clock. */
  readonly heardAt: number;
  readonly listed: boolean;
  readonly rows: Table<ThreadRow>;
  readonly opened: Opened | null;
  /** Why the wanted thread cannot be shown. */
  readonly trouble: string | null;
}

export const EMPTY: PageState = {
  loggedIn: null,
  boot: null,
  rebooted: false,
  sequence: 0,
  link: "connecting",
  heardAt: 0,
  listed: false,
  rows: {},
  opened: null,
  trouble: null,
};
