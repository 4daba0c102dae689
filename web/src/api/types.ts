/**
 * The shapes of the contract as the page works with them, from the published document (schema.ts, `npm run types`).
 * Where a later server may say more than this page knows, the type says so: kinds are any text.
 */
import type { components } from "./schema";

type Of = components["schemas"];
type Without<T, K extends keyof T> = { [P in keyof T as P extends K ? never : P]: T[P] };

/** Data that nobody but the agent knows the meaning of. */
export type Json = unknown;
export type JsonObject = { [key: string]: unknown };

export type Body = Of["BodyRange"]["field"];
export type BodyRef = Of["BodyRef"];
export type BodyView = Without<Of["BodyView"], "sha256">;
export type BodyRange = Of["BodyRange"];
export type Failure = Of["Failure"];

export type Thread = Of["Thread"];
export type ThreadState = Of["ThreadRow"]["state"];
export type Run = Of["Run"];
export type Node = Of["Node"];
export type Message = Of["Message"];
export type FileChange = Of["FileChange"];
export type ItemContent = Of["ItemContent"];
export type Item = Without<Of["Item"], "item_kind" | "bodies"> & {
  item_kind: string;
  bodies: Partial<Record<Body, BodyRef>>;
};
export type Option = Of["Option"];
export type Question = Of["Question"];
export type Request = Without<Of["Request"], "request_kind"> & { request_kind: string };
export type Session = Of["Session"];
export type ProviderThread = Of["ProviderThread"];
export type Plan = Of["Plan"];
export type Checkpoint = Of["Checkpoint"];
export type Degradation = Of["Degradation"];
export type NoticeEntry = Of["NoticeEntry"];

export type Entity =
  | Thread
  | Run
  | Node
  | Message
  | Item
  | Request
  | Session
  | ProviderThread
  | Plan
  | Checkpoint
  | Degradation
  | NoticeEntry;

/** An event of the stream: what is now true, whole. Its entity may be of a kind the page does not know. */
export type PageEvent = Pick<Of["EventLine"], "sequence" | "type" | "thread_id" | "run_id" | "at"> & {
  entity: Entity | { kind: string };
};

export type Delta = Without<Of["DeltaLine"], "type">;

export interface ItemView {
  item: Item;
  text: Partial<Record<Body, BodyView>>;
}

export type ItemPage = Without<Of["ItemPage"], "items"> & { items: ItemView[] };
export type Affordance = Of["Affordance"];
export type Affordances = Pick<Of["Affordances"], "message" | "interrupt" | "requests" | "images" | "archive">;
export type Snapshot = Without<Of["Snapshot"], "items" | "affordances" | "requests"> & {
  items: ItemView[];
  affordances: Affordances;
  requests: Request[];
};
export type ThreadRow = Without<Of["ThreadRow"], "requests"> & { requests: Request[] };
export type ThreadList = Without<Of["ThreadList"], "threads"> & { threads: ThreadRow[] };
/** One way to sign in, by its kind; a later server may know more kinds. */
export type SignInFlow = Without<Of["SignInFlow"], "kind"> & { kind: string };
export type AgentCard = Without<Of["AgentCard"], "sign_in_flows"> & { sign_in_flows: readonly SignInFlow[] };
export type Mode = Thread["mode"];
export type Receipt = Of["Receipt"];
export type OwnedChange = Of["Owned"];
export type Changes = Of["Changes"];
export type PlanWish = Of["PlanWish"];
export type PlanStep = Of["workspace_values_PlanStep"];
export type RestorePlan = Of["RestorePlan"];
export type ShownPlan = Of["ShownPlan"];
/** What came of a restore, and the checkpoint that undoes it. */
export interface Restored {
  checkpoint: string;
  changed: number;
  left: number;
}
export type Workspaces = Of["Workspaces"];
export type NewThread = Of["NewThread"];
export type NewMessage = Of["NewMessage"];
export type GivenAnswer = Of["GivenAnswer"];
