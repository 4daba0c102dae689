// Made by `npm run types` from the published contract. Do not edit.

export interface paths {
    "/healthz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Healthz
         * @description The process answers.
         */
        get: operations["HealthzHealthz"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * ListAgents
         * @description Every agent with version and health.
         */
        get: operations["V1AgentsListAgents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{agent_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * ShowAgent
         * @description One agent.
         */
        get: operations["V1AgentsAgentIdShowAgent"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/agents/{agent_id}/capabilities": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * ShowCapabilities
         * @description The effective record on the installed version, and what happens with each feature.
         *
         *     The policy is that of the workspace, else the user's own.
         */
        get: operations["V1AgentsAgentIdCapabilitiesShowCapabilities"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/checkpoints/plan": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Plan
         * @description What would happen to each path, and why some are refused. Nothing is touched.
         */
        post: operations["V1CheckpointsPlanPlan"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/checkpoints/restore": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Restore
         * @description Carry out the plan that was shown. The answer is the safety checkpoint, which undoes it.
         */
        post: operations["V1CheckpointsRestoreRestore"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Events
         * @description Server-sent events: hello, event, delta, heartbeat, reset, snapshot. See docs/http.md.
         */
        get: operations["V1EventsEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/info": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Info
         * @description Versions, feature strings, limits.
         */
        get: operations["V1InfoInfo"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/readyz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Readyz
         * @description The journal can be read, and stands where it stood.
         */
        get: operations["V1ReadyzReadyz"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/requests": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * ListRequests
         * @description Everything that waits for a person, oldest first, whichever thread and subagent it is of (F141).
         */
        get: operations["V1RequestsListRequests"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/requests/{request_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * ShowRequest
         * @description A request as it is now.
         */
        get: operations["V1RequestsRequestIdShowRequest"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/requests/{request_id}/answer": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Answer
         * @description Decide a request. 409 names the winner of a lost race, 410 says that it is too late.
         */
        post: operations["V1RequestsRequestIdAnswerAnswer"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/runs/{run_id}/input": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * RunInput
         * @description The exact blocks that a run's messages gave the agent, each with its origin.
         */
        get: operations["V1RunsRunIdInputRunInput"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/session": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * SignIn
         * @description Trade a one-time code for a cookie.
         */
        post: operations["V1SessionSignIn"];
        /**
         * SignOut
         * @description Make the browser's cookie worthless.
         */
        delete: operations["V1SessionSignOut"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/session/code": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * NewCode
         * @description A fresh one-time code, for another browser.
         */
        post: operations["V1SessionCodeNewCode"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/threads": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * ListThreads
         * @description Every thread with its state and its open requests.
         */
        get: operations["V1ThreadsListThreads"];
        put?: never;
        /**
         * CreateThread
         * @description Begin a thread; `result.thread` is its id.
         */
        post: operations["V1ThreadsCreateThread"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/threads/{thread_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * ShowThread
         * @description A thread whole: entities, the newest items with text, and what can be done with it.
         */
        get: operations["V1ThreadsThreadIdShowThread"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * ChangeThread
         * @description Put a thread away, or back.
         */
        patch: operations["V1ThreadsThreadIdChangeThread"];
        trace?: never;
    };
    "/v1/threads/{thread_id}/checkpoints": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * ListCheckpoints
         * @description The captures of a thread, newest first.
         */
        get: operations["V1ThreadsThreadIdCheckpointsListCheckpoints"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/threads/{thread_id}/commands": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * ListCommands
         * @description The slash commands that the agent offers in the thread.
         */
        get: operations["V1ThreadsThreadIdCommandsListCommands"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/threads/{thread_id}/diagnostics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Diagnostics
         * @description What the agent sent that nothing else shows, masked.
         */
        get: operations["V1ThreadsThreadIdDiagnosticsDiagnostics"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/threads/{thread_id}/diff": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Diff
         * @description What the thread, or one run, changed: paths with owners, and the text of it.
         */
        get: operations["V1ThreadsThreadIdDiffDiff"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/threads/{thread_id}/interrupt": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Interrupt
         * @description Ask a run to stop; its end comes as its own event.
         */
        post: operations["V1ThreadsThreadIdInterruptInterrupt"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/threads/{thread_id}/items": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * ListItems
         * @description The newest items before a position, in their stored order.
         */
        get: operations["V1ThreadsThreadIdItemsListItems"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/threads/{thread_id}/items/{item_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * ShowItem
         * @description One item with its text.
         */
        get: operations["V1ThreadsThreadIdItemsItemIdShowItem"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/threads/{thread_id}/items/{item_id}/bodies/{field}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * ShowBody
         * @description Characters `start` to `end` of a body.
         */
        get: operations["V1ThreadsThreadIdItemsItemIdBodiesFieldShowBody"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/threads/{thread_id}/messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * SendMessage
         * @description Say something; `result.run` is the run it leads to.
         */
        post: operations["V1ThreadsThreadIdMessagesSendMessage"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/threads/{thread_id}/nodes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * ListNodes
         * @description The newest actions of a thread, with their place in its tree.
         */
        get: operations["V1ThreadsThreadIdNodesListNodes"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/workspaces": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Workspaces
         * @description Folders threads were begun in, newest first.
         */
        get: operations["V1WorkspacesWorkspaces"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** Affordance */
        Affordance: {
            /** @default  */
            capability: string;
            code: string;
            /** @default  */
            consequence: string;
            /** @default [] */
            evidence: string[];
            /** @default  */
            evidence_class: string;
            /** @default  */
            outcome: string;
            /** @default  */
            policy: string;
            reason: string;
            /** @default  */
            standing: string;
            /** @enum {string} */
            state: "available" | "fallback" | "disabled";
        };
        /** Affordances */
        Affordances: {
            archive: components["schemas"]["Affordance"];
            fork: components["schemas"]["ForkAffordance"][];
            images: components["schemas"]["Affordance"];
            interrupt: components["schemas"]["InterruptAffordance"];
            message: components["schemas"]["MessageAffordances"];
            model_switch: components["schemas"]["Affordance"];
            plan_panel: components["schemas"]["Affordance"];
            requests: components["schemas"]["RequestAffordance"][];
            rollback: components["schemas"]["RollbackAffordance"][];
        };
        /** AgentCard */
        AgentCard: {
            adapter: string;
            agent_kind: string;
            default: boolean;
            fix: string;
            /** @enum {string} */
            health: "ok" | "missing" | "problem" | "rejected";
            id: string;
            /** @enum {null|string} */
            mode: "read" | "ask" | "edit" | "full" | null;
            model: string | null;
            /** @default [] */
            modes: ("read" | "ask" | "edit" | "full")[];
            name: string;
            problem: string;
            rehearsal: boolean;
            sign_in: string;
            sign_in_flows: components["schemas"]["SignInFlow"][];
            sign_in_hint: string;
            version: string | null;
        };
        /** Agents */
        Agents: {
            agents: components["schemas"]["AgentCard"][];
        };
        /** Answer */
        Answer: {
            answers: string[][] | null;
            decision: string;
            text: string | null;
            updated_input: {
                [key: string]: unknown;
            } | null;
        };
        /** Attempt */
        Attempt: {
            id: string;
            /** @constant */
            kind: "attempt";
            ordinal: number;
            /**
             * @default initial
             * @enum {string}
             */
            reason: "initial" | "steering_restart";
            /** @default 1 */
            revision: number;
            run_id: string;
            /**
             * @default new
             * @enum {string}
             */
            state: "new" | "asked" | "running" | "ended" | "superseded";
            thread_id: string;
        };
        /** BodyRange */
        BodyRange: {
            chars: number;
            closed: boolean;
            end: number;
            epoch: number;
            /** @enum {string} */
            field: "text" | "output" | "reasoning" | "summary" | "diff";
            item: string;
            parts: number;
            sha256: string | null;
            start: number;
            text: string;
        };
        /** BodyRef */
        BodyRef: {
            /** @default 0 */
            chars: number;
            /** @default false */
            closed: boolean;
            /** @default 1 */
            epoch: number;
            /** @default 0 */
            parts: number;
            sha256: string | null;
        };
        /** BodyView */
        BodyView: {
            chars: number;
            closed: boolean;
            epoch: number;
            parts: number;
            sha256: string | null;
            tail: string | null;
            text: string;
        };
        /** CapabilityReport */
        CapabilityReport: {
            agent: string;
            agent_kind: string;
            features: components["schemas"]["Feature"][];
            leaves: components["schemas"]["Leaf"][];
            schema_version: number;
            version: string | null;
        };
        /** Changes */
        Changes: {
            /** @default  */
            agent: string;
            /** @default [] */
            paths: components["schemas"]["Owned"][];
            root: string;
            run_id: string | null;
            /** @default  */
            shared: string;
            thread_id: string;
            /** @default false */
            truncated: boolean;
            /** @default [] */
            unknown: components["schemas"]["Unknown"][];
        };
        /** Checkpoint */
        Checkpoint: {
            /** @default 0 */
            at: number;
            capture: {
                [key: string]: unknown;
            } | null;
            /** @default  */
            checkout: string;
            id: string;
            /** @constant */
            kind: "checkpoint";
            /** @enum {string} */
            moment: "start" | "end" | "safety";
            /** @default true */
            quiescent: boolean;
            restore: {
                [key: string]: unknown;
            } | null;
            /** @default 1 */
            revision: number;
            /** @default  */
            root: string;
            run_id: string | null;
            /**
             * @default run
             * @constant
             */
            scope: "run";
            /**
             * @default pending
             * @enum {string}
             */
            state: "pending" | "ready" | "failed" | "stale";
            thread_id: string;
            trouble: components["schemas"]["Failure"] | null;
        };
        /** Checkpoints */
        Checkpoints: {
            checkpoints: components["schemas"]["Checkpoint"][];
        };
        /** Code */
        Code: {
            code: string;
        };
        /** Commands */
        Commands: {
            commands: components["schemas"]["SlashCommand"][];
        };
        /** Degradation */
        Degradation: {
            capability: string | null;
            consequence: string;
            feature: string;
            fidelity: string | null;
            id: string;
            /** @constant */
            kind: "degradation";
            outcome: string;
            policy: string | null;
            reason: string;
            /** @default 1 */
            revision: number;
            run_id: string | null;
            thread_id: string;
        };
        /** DeltaLine */
        DeltaLine: {
            body_epoch: number;
            /** @enum {string} */
            field: "text" | "output" | "reasoning" | "summary" | "diff";
            from_part: number;
            item: string;
            text: string;
            thread_id: string;
            to_part: number;
            /** @constant */
            type: "delta";
        };
        /** Diagnostics */
        Diagnostics: {
            lines: string[];
        };
        /** Ending */
        Ending: {
            /** @enum {string} */
            evidence: "provider" | "inferred" | "process_exit" | "host_lost" | "forced" | "start_failed" | "rejected" | "refused" | "timeout" | "user";
            failure: components["schemas"]["Failure"] | null;
            /** @enum {string} */
            outcome: "completed" | "interrupted" | "failed" | "cancelled" | "unverifiable";
        };
        /** Entry */
        Entry: {
            mode: string;
            oid: string;
        };
        /** EventLine */
        EventLine: {
            actor: string;
            at: number;
            command_id: string | null;
            entity: components["schemas"]["Thread"] | components["schemas"]["Run"] | components["schemas"]["Attempt"] | components["schemas"]["Node"] | components["schemas"]["Turn"] | components["schemas"]["Message"] | components["schemas"]["Item"] | components["schemas"]["Request"] | components["schemas"]["Session"] | components["schemas"]["ProviderThread"] | components["schemas"]["Plan"] | components["schemas"]["Checkpoint"] | components["schemas"]["Degradation"] | components["schemas"]["NoticeEntry"] | null;
            run_id: string | null;
            sequence: number;
            thread_id: string;
            type: string;
        };
        /** Failure */
        Failure: {
            code: string;
            detail: {
                [key: string]: unknown;
            };
            /** @default  */
            fix: string;
            /** @enum {string} */
            kind: "provider" | "transport" | "permission" | "validation" | "process" | "storage" | "unknown";
            /** @default  */
            message: string;
            retryable: boolean | null;
        };
        /** Feature */
        Feature: {
            capability: string;
            code: string;
            consequence: string;
            feature: string;
            fidelity: string;
            outcome: string;
            policy: string;
            reason: string;
        };
        /** FileChange */
        FileChange: {
            /** @default  */
            diff: string;
            /** @enum {string} */
            kind: "add" | "update" | "delete" | "move";
            moved_to: string | null;
            path: string;
        };
        /** ForkAffordance */
        ForkAffordance: {
            how: components["schemas"]["Affordance"];
            source: string;
        };
        /** Frames */
        Frames: {
            delta: components["schemas"]["DeltaLine"];
            event: components["schemas"]["EventLine"];
            heartbeat: components["schemas"]["Heartbeat"];
            hello: components["schemas"]["Hello"];
            reset: components["schemas"]["Reset"];
            snapshot: components["schemas"]["Snapshot"];
        };
        /** GivenAnswer */
        GivenAnswer: {
            answers?: string[][] | null;
            command_id?: string | null;
            decision: string;
            text?: string | null;
            updated_input?: {
                [key: string]: unknown;
            } | null;
        };
        /** Handle */
        Handle: {
            agent_kind: string;
            native_id: string;
            /** @default  */
            note: string;
            transport: string;
        };
        /**
         * HandleChain
         * @default {
         *       "links": []
         *     }
         */
        HandleChain: {
            /** @default [] */
            links: components["schemas"]["HandleLink"][];
        };
        /** HandleLink */
        HandleLink: {
            extra: {
                [key: string]: unknown;
            };
            fence: number;
            handle: components["schemas"]["Handle"];
            /** @enum {string} */
            origin: "created" | "resumed" | "forked" | "adopted" | "cleared";
        };
        /** Heartbeat */
        Heartbeat: {
            sequence: number;
        };
        /** Hello */
        Hello: {
            boot: string;
            journal: string;
            sequence: number;
        };
        /** Info */
        Info: {
            boot: string;
            features: string[];
            journal: string;
            limits: {
                [key: string]: number;
            };
            version: string;
        };
        /** InputBlock */
        InputBlock: {
            attachment: {
                [key: string]: unknown;
            } | null;
            message: string;
            /** @constant */
            origin: "user";
            text: string | null;
            /** @enum {string} */
            type: "text" | "image";
        };
        /** Interrupt */
        Interrupt: {
            command_id?: string | null;
            run?: string | null;
        };
        /** InterruptAffordance */
        InterruptAffordance: {
            how: components["schemas"]["Affordance"];
            /** @enum {string} */
            state: "available" | "destructive_fallback" | "unavailable";
        };
        /** Item */
        Item: {
            bodies: {
                [key: string]: components["schemas"]["BodyRef"];
            };
            /** @enum {null|string} */
            closed_by: "agent" | "barrier" | null;
            content: components["schemas"]["ItemContent"];
            /** @default false */
            corrected: boolean;
            id: string;
            /** @enum {string} */
            item_kind: "user_message" | "assistant_message" | "reasoning" | "command" | "file_change" | "tool_call" | "web_search" | "image" | "plan" | "subagent" | "compaction" | "review" | "question" | "opaque";
            /** @constant */
            kind: "item";
            native: components["schemas"]["NativeRef"] | null;
            node_id: string | null;
            position: number;
            provider_thread_id: string | null;
            /** @default 1 */
            revision: number;
            run_id: string | null;
            /**
             * @default open
             * @enum {string}
             */
            state: "open" | "completed" | "failed" | "declined" | "interrupted" | "unverifiable";
            thread_id: string;
            turn_id: string | null;
        };
        /**
         * ItemContent
         * @default {}
         */
        ItemContent: {
            arguments: unknown;
            /** @default false */
            background: boolean;
            /** @default [] */
            changes: components["schemas"]["FileChange"][];
            command: string | null;
            cwd: string | null;
            duration_ms: number | null;
            exit_code: number | null;
            failure: components["schemas"]["Failure"] | null;
            native_kind: string | null;
            path: string | null;
            payload: unknown;
            phase: string | null;
            query: string | null;
            result: unknown;
            server: string | null;
            title: string | null;
            tool: string | null;
        };
        /** ItemPage */
        ItemPage: {
            before: number | null;
            items: components["schemas"]["ItemView"][];
            sequence: number;
        };
        /** ItemView */
        ItemView: {
            item: components["schemas"]["Item"];
            text: {
                [key: string]: components["schemas"]["BodyView"];
            };
        };
        /** Leaf */
        Leaf: {
            evidence: string | null;
            leaf: string;
            native: string[];
            reason: string;
            standing: string;
            value: unknown;
            word: string;
        };
        /** Message */
        Message: {
            /** @default user */
            actor: string;
            /** @default [] */
            attachments: {
                [key: string]: unknown;
            }[];
            client_id: string;
            /**
             * @default pending
             * @enum {string}
             */
            delivery: "pending" | "accepted" | "rejected" | "unknown";
            fingerprint: string;
            how: string | null;
            id: string;
            /**
             * @default start
             * @enum {string}
             */
            intent: "start" | "steer" | "restart" | "queue";
            item_id: string;
            /** @constant */
            kind: "message";
            /** @default 1 */
            revision: number;
            run_id: string;
            thread_id: string;
        };
        /** MessageAffordances */
        MessageAffordances: {
            auto: components["schemas"]["Affordance"];
            /** @enum {string} */
            means: "start" | "steer" | "queue" | "none";
            queue: components["schemas"]["Affordance"];
            restart: components["schemas"]["Affordance"];
            start: components["schemas"]["Affordance"];
            steer: components["schemas"]["Affordance"];
        };
        /** NativeRef */
        NativeRef: {
            id: string | null;
            /**
             * @default strong
             * @enum {string}
             */
            strength: "strong" | "weak" | "none";
            turn: string | null;
        };
        /** NewMessage */
        NewMessage: {
            client_id: string;
            /** @default false */
            fresh: boolean;
            /**
             * @default auto
             * @enum {string}
             */
            intent: "auto" | "start" | "steer" | "restart" | "queue";
            model?: string | null;
            text: string;
        };
        /** NewThread */
        NewThread: {
            agent?: string | null;
            command_id?: string | null;
            /** @enum {null|string} */
            mode?: "read" | "ask" | "edit" | "full" | null;
            model?: string | null;
            title?: string | null;
            workspace: string;
        };
        /** Node */
        Node: {
            id: string;
            item_id: string | null;
            /** @constant */
            kind: "node";
            /** @enum {string} */
            node_kind: "root" | "tool" | "subagent";
            parent_id: string | null;
            provider_thread_id: string | null;
            /** @default 1 */
            revision: number;
            run_id: string;
            /**
             * @default running
             * @enum {string}
             */
            state: "running" | "completed" | "failed" | "interrupted" | "unverifiable";
            thread_id: string;
            title: string | null;
        };
        /** Nodes */
        Nodes: {
            nodes: components["schemas"]["Node"][];
        };
        /** NoticeEntry */
        NoticeEntry: {
            code: string;
            detail: {
                [key: string]: unknown;
            } | null;
            id: string;
            /** @constant */
            kind: "notice";
            /** @enum {string} */
            level: "info" | "warning" | "error";
            /** @default 1 */
            revision: number;
            run_id: string | null;
            text: string;
            thread_id: string;
        };
        /**
         * Offers
         * @default {}
         */
        Offers: {
            /** @default [] */
            commands: components["schemas"]["SlashCommand"][];
            /** @default [] */
            models: string[];
            /** @default [] */
            modes: string[];
        };
        /** Ok */
        Ok: {
            /** @default true */
            ok: boolean;
        };
        /** Option */
        Option: {
            /** @enum {string} */
            effect: "allow_once" | "allow_session" | "allow_always" | "decline" | "cancel" | "other";
            id: string;
            label: string;
            native_label: string | null;
        };
        /** Owned */
        Owned: {
            after: components["schemas"]["Entry"] | null;
            before: components["schemas"]["Entry"] | null;
            /** @default false */
            gap: boolean;
            /**
             * @default
             * @enum {string}
             */
            masked: "" | "was_ignored" | "now_ignored" | "was_uncovered" | "now_uncovered";
            /** @enum {string} */
            owner: "agent" | "shared" | "unknown";
            path: string;
            /** @default  */
            renamed_from: string;
            /** @default  */
            renamed_to: string;
            /** @default  */
            run: string;
        };
        /** Plan */
        Plan: {
            explanation: string | null;
            /** @default false */
            final: boolean;
            id: string;
            /** @constant */
            kind: "plan";
            /** @enum {string} */
            plan_kind: "todo_list" | "proposed_plan";
            /** @default 1 */
            revision: number;
            run_id: string;
            /** @default [] */
            steps: components["schemas"]["contract_events_PlanStep"][];
            text: string | null;
            thread_id: string;
            turn_id: string | null;
        };
        /** PlanWish */
        PlanWish: {
            /** @default false */
            force: boolean;
            target: string;
            /** @default false */
            undo: boolean;
        };
        /** Problem */
        Problem: {
            /** @default  */
            capability: string;
            code: string;
            detail: string;
            /** @default  */
            fix: string;
            more: {
                [key: string]: unknown;
            };
            /** @default  */
            policy: string;
            /** @default  */
            reason: string;
            status: number;
            title: string;
            type: string;
        };
        /** ProviderThread */
        ProviderThread: {
            agent: string;
            chain: components["schemas"]["HandleChain"];
            /** @default false */
            divergent: boolean;
            /** @default 1 */
            epoch: number;
            failure: components["schemas"]["Failure"] | null;
            id: string;
            /** @constant */
            kind: "provider_thread";
            mode: string | null;
            model: string | null;
            offers: components["schemas"]["Offers"];
            parent_node_id: string | null;
            /** @default 1 */
            revision: number;
            session_id: string | null;
            /**
             * @default unbound
             * @enum {string}
             */
            state: "unbound" | "binding" | "bound" | "missing" | "error";
            thread_id: string;
            title: string | null;
        };
        /** Question */
        Question: {
            /** @default true */
            free_text: boolean;
            /** @default  */
            header: string;
            id: string;
            /** @default false */
            multiple: boolean;
            /** @default [] */
            options: components["schemas"]["QuestionOption"][];
            /** @default true */
            required: boolean;
            /** @default false */
            secret: boolean;
            text: string;
        };
        /** QuestionOption */
        QuestionOption: {
            /** @default  */
            description: string;
            label: string;
        };
        /** Receipt */
        Receipt: {
            result: {
                [key: string]: string;
            };
            sequence: number;
        };
        /** Request */
        Request: {
            answer: components["schemas"]["Answer"] | null;
            answered_by: string | null;
            closed_at: number | null;
            content: components["schemas"]["RequestContent"];
            /** @default 0 */
            created_at: number;
            /**
             * @default pending
             * @enum {string}
             */
            delivery: "pending" | "accepted" | "rejected" | "unknown";
            id: string;
            item_id: string | null;
            key: string;
            /** @constant */
            kind: "request";
            node_id: string | null;
            options: components["schemas"]["Option"][];
            reason: string | null;
            /** @enum {string} */
            request_kind: "command_approval" | "file_change_approval" | "file_read_approval" | "permission_approval" | "tool_approval" | "question" | "elicitation" | "plan_decision" | "unknown";
            /** @default 1 */
            revision: number;
            run_id: string | null;
            session_id: string;
            /**
             * @default pending
             * @enum {string}
             */
            state: "pending" | "answered" | "expired" | "dismissed";
            thread_id: string;
        };
        /** RequestAffordance */
        RequestAffordance: {
            code: string;
            reason: string;
            request: string;
            /** @enum {string} */
            state: "respondable" | "expired";
        };
        /** RequestContent */
        RequestContent: {
            command: string | null;
            cwd: string | null;
            diff: string | null;
            /** @default [] */
            paths: string[];
            payload: {
                [key: string]: unknown;
            } | null;
            /** @default [] */
            questions: components["schemas"]["Question"][];
            reason: string | null;
            /** @default  */
            title: string;
        };
        /** Requests */
        Requests: {
            requests: components["schemas"]["Request"][];
            sequence: number;
        };
        /** Reset */
        Reset: {
            boot: string;
            /** @enum {string} */
            reason: "cursor_malformed" | "cursor_ahead" | "journal_changed" | "too_far_behind" | "reader_too_slow";
            sequence: number;
        };
        /** RestorePlan */
        RestorePlan: {
            checkout: string;
            /** @default [] */
            folders: string[];
            /** @default false */
            forced: boolean;
            id: string;
            root: string;
            steps: components["schemas"]["workspace_values_PlanStep"][];
        };
        /** RestoreWish */
        RestoreWish: {
            digest: string;
            wish: components["schemas"]["PlanWish"];
        };
        /** RollbackAffordance */
        RollbackAffordance: {
            checkpoint: string;
            conversation: components["schemas"]["Affordance"];
            files: components["schemas"]["Affordance"];
            /** @enum {string} */
            provider_conversation: "supported" | "restarted_divergent" | "unsupported";
        };
        /** Run */
        Run: {
            /** @default  */
            agent: string;
            attempt_id: string | null;
            cost: number | null;
            /** @default 0 */
            created_at: number;
            ended_at: number | null;
            ending: components["schemas"]["Ending"] | null;
            /** @enum {null|string} */
            evidence: "provider" | "inferred" | "process_exit" | "host_lost" | "forced" | "start_failed" | "rejected" | "refused" | "timeout" | "user" | null;
            failure: components["schemas"]["Failure"] | null;
            id: string;
            interrupt_by: string | null;
            interrupt_requested_at: number | null;
            /** @constant */
            kind: "run";
            limited: {
                [key: string]: unknown;
            } | null;
            message_id: string | null;
            model: string | null;
            next_message_id: string | null;
            node_id: string | null;
            ordinal: number;
            /**
             * @default user
             * @enum {string}
             */
            origin: "user" | "queue" | "agent" | "schedule";
            /** @enum {null|string} */
            outcome: "completed" | "interrupted" | "failed" | "cancelled" | "unverifiable" | null;
            /** @default 1 */
            revision: number;
            rolled_back_by: string | null;
            started_at: number | null;
            /**
             * @default starting
             * @enum {string}
             */
            state: "preparing" | "queued" | "starting" | "running" | "waiting" | "ended";
            thread_id: string;
            usage: components["schemas"]["Usage"] | null;
        };
        /** RunInput */
        RunInput: {
            blocks: components["schemas"]["InputBlock"][];
            run: string;
        };
        /** Session */
        Session: {
            adapter: string;
            agent: string;
            agent_version: string | null;
            ended_reason: string | null;
            exit_code: number | null;
            exit_signal: number | null;
            /** @default 1 */
            fence: number;
            id: string;
            /** @constant */
            kind: "session";
            narrowed: {
                [key: string]: unknown;
            };
            /** @default 1 */
            revision: number;
            /**
             * @default opening
             * @enum {string}
             */
            state: "opening" | "ready" | "ending" | "ended";
            thread_id: string;
        };
        /** ShownPlan */
        ShownPlan: {
            digest: string;
            plan: components["schemas"]["RestorePlan"];
        };
        /** SignInFlow */
        SignInFlow: {
            /** @enum {string} */
            kind: "command" | "variable";
            value: string;
        };
        /** SignedIn */
        SignedIn: {
            boot: string;
        };
        /** SlashCommand */
        SlashCommand: {
            /** @default  */
            description: string;
            hint: string | null;
            name: string;
        };
        /** Snapshot */
        Snapshot: {
            affordances: components["schemas"]["Affordances"];
            before: number | null;
            boot: string;
            checkpoints: components["schemas"]["Checkpoint"][];
            degradations: components["schemas"]["Degradation"][];
            items: components["schemas"]["ItemView"][];
            messages: components["schemas"]["Message"][];
            nodes: components["schemas"]["Node"][];
            notices: components["schemas"]["NoticeEntry"][];
            plans: components["schemas"]["Plan"][];
            provider_threads: components["schemas"]["ProviderThread"][];
            requests: components["schemas"]["Request"][];
            runs: components["schemas"]["Run"][];
            sequence: number;
            session: components["schemas"]["Session"] | null;
            /** @enum {string} */
            state: "idle" | "working" | "question" | "needs_input" | "ended" | "left";
            thread: components["schemas"]["Thread"];
            title: string;
        };
        /** Thread */
        Thread: {
            agent: string;
            agent_kind: string;
            /** @default false */
            archived: boolean;
            /** @default 0 */
            created_at: number;
            host: string | null;
            id: string;
            /** @constant */
            kind: "thread";
            /**
             * @default ask
             * @enum {string}
             */
            mode: "read" | "ask" | "edit" | "full";
            model: string | null;
            profile: string | null;
            /** @default 1 */
            revision: number;
            title: string | null;
            uncaptured: string | null;
            workspace: string;
        };
        /** ThreadChange */
        ThreadChange: {
            archived: boolean;
            command_id?: string | null;
        };
        /** ThreadList */
        ThreadList: {
            boot: string;
            sequence: number;
            threads: components["schemas"]["ThreadRow"][];
        };
        /** ThreadRow */
        ThreadRow: {
            last_message_at: number;
            queued: number;
            requests: components["schemas"]["Request"][];
            run: components["schemas"]["Run"] | null;
            /** @enum {string} */
            state: "idle" | "working" | "question" | "needs_input" | "ended" | "left";
            thread: components["schemas"]["Thread"];
            title: string;
        };
        /** Turn */
        Turn: {
            attempt_id: string | null;
            bodies: {
                [key: string]: components["schemas"]["BodyRef"];
            };
            context_window: number | null;
            /**
             * @default strong
             * @enum {string}
             */
            correlation: "strong" | "weak";
            /** @enum {null|string} */
            evidence: "provider" | "inferred" | "process_exit" | "host_lost" | "forced" | "start_failed" | "rejected" | "refused" | "timeout" | "user" | null;
            failure: components["schemas"]["Failure"] | null;
            id: string;
            /** @constant */
            kind: "turn";
            native_id: string;
            node_id: string;
            /** @enum {null|string} */
            outcome: "completed" | "interrupted" | "failed" | "cancelled" | "unverifiable" | null;
            provider_thread_id: string;
            /** @default 1 */
            revision: number;
            /** @default true */
            root: boolean;
            run_id: string;
            /**
             * @default running
             * @enum {string}
             */
            state: "running" | "ended";
            thread_id: string;
            usage: components["schemas"]["Usage"] | null;
            usage_key: string | null;
            word: string | null;
        };
        /** Unknown */
        Unknown: {
            reason: string;
            run_id: string;
        };
        /** Usage */
        Usage: {
            cached_input: number | null;
            input: number | null;
            output: number | null;
            reasoning: number | null;
            total: number | null;
        };
        /** Workspaces */
        Workspaces: {
            home: string;
            workspaces: string[];
        };
        /** PlanStep */
        contract_events_PlanStep: {
            /**
             * @default pending
             * @enum {string}
             */
            state: "pending" | "in_progress" | "completed";
            text: string;
        };
        /** PlanStep */
        workspace_values_PlanStep: {
            /** @enum {string} */
            action: "write" | "link" | "mode" | "delete" | "nothing" | "refuse";
            now: components["schemas"]["Entry"] | null;
            path: string;
            /** @default  */
            reason: string;
            then: components["schemas"]["Entry"] | null;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    HealthzHealthz: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Request fulfilled, document follows */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Ok"];
                };
            };
        };
    };
    V1AgentsListAgents: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Request fulfilled, document follows */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Agents"];
                };
            };
            /** @description The input is wrong; nothing was done. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not signed in. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Refused: a foreign origin, or a capability that is missing. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description There is no such thing. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Somebody was first, or an id was used for something else. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too late. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A value that is not offered. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The agent or the storage is not available. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    V1AgentsAgentIdShowAgent: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                agent_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Request fulfilled, document follows */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AgentCard"];
                };
            };
            /** @description The input is wrong; nothing was done. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not signed in. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Refused: a foreign origin, or a capability that is missing. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description There is no such thing. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Somebody was first, or an id was used for something else. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too late. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A value that is not offered. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The agent or the storage is not available. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    V1AgentsAgentIdCapabilitiesShowCapabilities: {
        parameters: {
            query?: {
                workspace?: string | null;
            };
            header?: never;
            path: {
                agent_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Request fulfilled, document follows */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CapabilityReport"];
                };
            };
            /** @description The input is wrong; nothing was done. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not signed in. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Refused: a foreign origin, or a capability that is missing. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description There is no such thing. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Somebody was first, or an id was used for something else. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too late. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A value that is not offered. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The agent or the storage is not available. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    V1CheckpointsPlanPlan: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PlanWish"];
            };
        };
        responses: {
            /** @description Request fulfilled, document follows */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ShownPlan"];
                };
            };
            /** @description The input is wrong; nothing was done. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not signed in. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Refused: a foreign origin, or a capability that is missing. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description There is no such thing. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Somebody was first, or an id was used for something else. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too late. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A value that is not offered. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The agent or the storage is not available. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    V1CheckpointsRestoreRestore: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RestoreWish"];
            };
        };
        responses: {
            /** @description Request fulfilled, document follows */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Checkpoint"];
                };
            };
            /** @description The input is wrong; nothing was done. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not signed in. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Refused: a foreign origin, or a capability that is missing. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description There is no such thing. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Somebody was first, or an id was used for something else. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too late. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A value that is not offered. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The agent or the storage is not available. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    V1EventsEvents: {
        parameters: {
            query?: {
                threads?: string | null;
                live?: string | null;
                after?: string | null;
                journal?: string | null;
            };
            header?: {
                "Last-Event-ID"?: string | null;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Frames */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/event-stream": components["schemas"]["Frames"];
                };
            };
            /** @description The input is wrong; nothing was done. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not signed in. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Refused: a foreign origin, or a capability that is missing. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description There is no such thing. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Somebody was first, or an id was used for something else. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too late. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A value that is not offered. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The agent or the storage is not available. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    V1InfoInfo: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Request fulfilled, document follows */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Info"];
                };
            };
            /** @description The input is wrong; nothing was done. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not signed in. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Refused: a foreign origin, or a capability that is missing. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description There is no such thing. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Somebody was first, or an id was used for something else. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too late. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A value that is not offered. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The agent or the storage is not available. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    V1ReadyzReadyz: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Request fulfilled, document follows */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Ok"];
                };
            };
            /** @description The input is wrong; nothing was done. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not signed in. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Refused: a foreign origin, or a capability that is missing. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description There is no such thing. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Somebody was first, or an id was used for something else. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too late. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A value that is not offered. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The agent or the storage is not available. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    V1RequestsListRequests: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Request fulfilled, document follows */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Requests"];
                };
            };
            /** @description The input is wrong; nothing was done. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not signed in. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Refused: a foreign origin, or a capability that is missing. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description There is no such thing. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Somebody was first, or an id was used for something else. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too late. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A value that is not offered. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The agent or the storage is not available. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    V1RequestsRequestIdShowRequest: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                request_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Request fulfilled, document follows */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Request"];
                };
            };
            /** @description The input is wrong; nothing was done. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not signed in. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Refused: a foreign origin, or a capability that is missing. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description There is no such thing. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Somebody was first, or an id was used for something else. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too late. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A value that is not offered. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The agent or the storage is not available. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    V1RequestsRequestIdAnswerAnswer: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                request_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["GivenAnswer"];
            };
        };
        responses: {
            /** @description Request accepted, processing continues off-line */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Receipt"];
                };
            };
            /** @description The input is wrong; nothing was done. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not signed in. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Refused: a foreign origin, or a capability that is missing. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description There is no such thing. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Somebody was first, or an id was used for something else. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too late. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A value that is not offered. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The agent or the storage is not available. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    V1RunsRunIdInputRunInput: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                run_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Request fulfilled, document follows */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RunInput"];
                };
            };
            /** @description The input is wrong; nothing was done. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not signed in. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Refused: a foreign origin, or a capability that is missing. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description There is no such thing. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Somebody was first, or an id was used for something else. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too late. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A value that is not offered. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The agent or the storage is not available. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    V1SessionSignIn: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Code"];
            };
        };
        responses: {
            /** @description Request fulfilled, document follows */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SignedIn"];
                };
            };
            /** @description The input is wrong; nothing was done. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not signed in. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Refused: a foreign origin, or a capability that is missing. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description There is no such thing. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Somebody was first, or an id was used for something else. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too late. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A value that is not offered. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The agent or the storage is not available. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    V1SessionSignOut: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Request fulfilled, document follows */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Ok"];
                };
            };
            /** @description The input is wrong; nothing was done. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not signed in. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Refused: a foreign origin, or a capability that is missing. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description There is no such thing. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Somebody was first, or an id was used for something else. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too late. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A value that is not offered. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The agent or the storage is not available. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    V1SessionCodeNewCode: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Request fulfilled, document follows */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Code"];
                };
            };
            /** @description The input is wrong; nothing was done. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not signed in. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Refused: a foreign origin, or a capability that is missing. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description There is no such thing. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Somebody was first, or an id was used for something else. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too late. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A value that is not offered. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The agent or the storage is not available. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    V1ThreadsListThreads: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Request fulfilled, document follows */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ThreadList"];
                };
            };
            /** @description The input is wrong; nothing was done. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not signed in. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Refused: a foreign origin, or a capability that is missing. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description There is no such thing. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Somebody was first, or an id was used for something else. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too late. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A value that is not offered. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The agent or the storage is not available. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    V1ThreadsCreateThread: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewThread"];
            };
        };
        responses: {
            /** @description Request accepted, processing continues off-line */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Receipt"];
                };
            };
            /** @description The input is wrong; nothing was done. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not signed in. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Refused: a foreign origin, or a capability that is missing. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description There is no such thing. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Somebody was first, or an id was used for something else. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too late. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A value that is not offered. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The agent or the storage is not available. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    V1ThreadsThreadIdShowThread: {
        parameters: {
            query?: {
                items?: number;
            };
            header?: never;
            path: {
                thread_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Request fulfilled, document follows */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Snapshot"];
                };
            };
            /** @description The input is wrong; nothing was done. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not signed in. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Refused: a foreign origin, or a capability that is missing. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description There is no such thing. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Somebody was first, or an id was used for something else. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too late. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A value that is not offered. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The agent or the storage is not available. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    V1ThreadsThreadIdChangeThread: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                thread_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ThreadChange"];
            };
        };
        responses: {
            /** @description Request accepted, processing continues off-line */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Receipt"];
                };
            };
            /** @description The input is wrong; nothing was done. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not signed in. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Refused: a foreign origin, or a capability that is missing. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description There is no such thing. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Somebody was first, or an id was used for something else. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too late. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A value that is not offered. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The agent or the storage is not available. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    V1ThreadsThreadIdCheckpointsListCheckpoints: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                thread_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Request fulfilled, document follows */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Checkpoints"];
                };
            };
            /** @description The input is wrong; nothing was done. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not signed in. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Refused: a foreign origin, or a capability that is missing. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description There is no such thing. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Somebody was first, or an id was used for something else. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too late. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A value that is not offered. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The agent or the storage is not available. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    V1ThreadsThreadIdCommandsListCommands: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                thread_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Request fulfilled, document follows */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Commands"];
                };
            };
            /** @description The input is wrong; nothing was done. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not signed in. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Refused: a foreign origin, or a capability that is missing. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description There is no such thing. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Somebody was first, or an id was used for something else. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too late. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A value that is not offered. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The agent or the storage is not available. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    V1ThreadsThreadIdDiagnosticsDiagnostics: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                thread_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Request fulfilled, document follows */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Diagnostics"];
                };
            };
            /** @description The input is wrong; nothing was done. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not signed in. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Refused: a foreign origin, or a capability that is missing. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description There is no such thing. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Somebody was first, or an id was used for something else. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too late. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A value that is not offered. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The agent or the storage is not available. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    V1ThreadsThreadIdDiffDiff: {
        parameters: {
            query?: {
                run?: string | null;
                text?: boolean;
            };
            header?: never;
            path: {
                thread_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Request fulfilled, document follows */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Changes"];
                };
            };
            /** @description The input is wrong; nothing was done. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not signed in. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Refused: a foreign origin, or a capability that is missing. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description There is no such thing. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Somebody was first, or an id was used for something else. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too late. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A value that is not offered. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The agent or the storage is not available. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    V1ThreadsThreadIdInterruptInterrupt: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                thread_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Interrupt"];
            };
        };
        responses: {
            /** @description Request accepted, processing continues off-line */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Receipt"];
                };
            };
            /** @description The input is wrong; nothing was done. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not signed in. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Refused: a foreign origin, or a capability that is missing. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description There is no such thing. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Somebody was first, or an id was used for something else. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too late. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A value that is not offered. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The agent or the storage is not available. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    V1ThreadsThreadIdItemsListItems: {
        parameters: {
            query?: {
                before?: number | null;
                limit?: number;
            };
            header?: never;
            path: {
                thread_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Request fulfilled, document follows */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ItemPage"];
                };
            };
            /** @description The input is wrong; nothing was done. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not signed in. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Refused: a foreign origin, or a capability that is missing. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description There is no such thing. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Somebody was first, or an id was used for something else. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too late. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A value that is not offered. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The agent or the storage is not available. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    V1ThreadsThreadIdItemsItemIdShowItem: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                thread_id: string;
                item_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Request fulfilled, document follows */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ItemView"];
                };
            };
            /** @description The input is wrong; nothing was done. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not signed in. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Refused: a foreign origin, or a capability that is missing. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description There is no such thing. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Somebody was first, or an id was used for something else. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too late. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A value that is not offered. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The agent or the storage is not available. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    V1ThreadsThreadIdItemsItemIdBodiesFieldShowBody: {
        parameters: {
            query?: {
                start?: number;
                end?: number | null;
            };
            header?: never;
            path: {
                thread_id: string;
                item_id: string;
                field: "text" | "output" | "reasoning" | "summary" | "diff";
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Request fulfilled, document follows */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BodyRange"];
                };
            };
            /** @description The input is wrong; nothing was done. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not signed in. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Refused: a foreign origin, or a capability that is missing. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description There is no such thing. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Somebody was first, or an id was used for something else. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too late. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A value that is not offered. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The agent or the storage is not available. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    V1ThreadsThreadIdMessagesSendMessage: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                thread_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["NewMessage"];
            };
        };
        responses: {
            /** @description Request accepted, processing continues off-line */
            202: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Receipt"];
                };
            };
            /** @description The input is wrong; nothing was done. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not signed in. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Refused: a foreign origin, or a capability that is missing. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description There is no such thing. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Somebody was first, or an id was used for something else. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too late. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A value that is not offered. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The agent or the storage is not available. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    V1ThreadsThreadIdNodesListNodes: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                thread_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Request fulfilled, document follows */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Nodes"];
                };
            };
            /** @description The input is wrong; nothing was done. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not signed in. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Refused: a foreign origin, or a capability that is missing. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description There is no such thing. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Somebody was first, or an id was used for something else. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too late. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A value that is not offered. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The agent or the storage is not available. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
    V1WorkspacesWorkspaces: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Request fulfilled, document follows */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Workspaces"];
                };
            };
            /** @description The input is wrong; nothing was done. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Not signed in. */
            401: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Refused: a foreign origin, or a capability that is missing. */
            403: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description There is no such thing. */
            404: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Somebody was first, or an id was used for something else. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description Too late. */
            410: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description A value that is not offered. */
            422: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
            /** @description The agent or the storage is not available. */
            503: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/problem+json": components["schemas"]["Problem"];
                };
            };
        };
    };
}
