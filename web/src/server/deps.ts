/**
 * What the routes of a server are made of.
 * @module
 */
import type { Context } from "hono";
import type { Retention } from "../artifacts/retention/policy.js";
import type { RetainingArtifactStore } from "../artifacts/retention/retaining-store.js";
import type { UserFiles } from "../files/user-files.js";
import type { Announcer } from "./sessions/announcer.js";
import type { Admission } from "./http/admission.js";
import type { HostGuard } from "./http/host-guard.js";
import type { ServedMcp, ServeLimits } from "./options.js";
import type { SeenArtifacts } from "./artifacts/handler.js";
import type { Readiness } from "./routes/health.js";
import type { SessionTokens } from "./sessions/entry.js";
import type { Authenticate, ServedSession } from "./sessions/session.js";
import type { ServedSources } from "./sources/served-sources.js";
import type { ServeState } from "./state.js";
import type { SessionWork } from "./sessions/session-work.js";

/** What all routes share. */
export interface ServeDeps {
  readonly store: RetainingArtifactStore;
  /** What the store is held to. */
  readonly retention: Retention;
  /** Users' files; null where there are none. Whoever makes tools gives them these. */
  readonly files: ServedFiles | null;
  readonly state: ServeState;
  readonly limits: Required<ServeLimits>;
  /** Begins and ends with `/`. */
  readonly base: string;
  readonly hosts: HostGuard;
  readonly tokens: SessionTokens;
  readonly authenticate: Authenticate;
  /** Where tools and resources come from. */
  readonly sources: ServedSources;
  /** Whether there is a chat. */
  readonly hasChat: boolean;
  /** Sources that pages speak to themselves; null where there are none. */
  readonly mcp: ServedMcp | null;
  readonly seen: SeenArtifacts;
  /** How much sessions ask for at the moment. */
  readonly admission: Admission;
  /** What is under way for sessions in this process, and ends with them. */
  readonly sessionWork: SessionWork;
  /** Which of the stores and the state can be reached. */
  readonly readiness: Readiness;
  /** Tells sessions what happened. */
  readonly announcer: Announcer;
  /** Told what nobody who asks is told. Never throws. */
  readonly report: (error: unknown) => void;
  /** Aborted when the server is closed. */
  readonly over: AbortSignal;
}

/** Users' files, and what is needed to serve them. */
export interface ServedFiles {
  readonly userFiles: UserFiles;
  /** Bytes that a file may have. */
  readonly maxBytes: number;
  /** Whether they outlive a session. */
  readonly isLasting: boolean;
}

/** What a request brings with it. */
export interface ServeEnv {
  Variables: { session: ServedSession };
}

/** A request within a session. */
export type InSession = Context<ServeEnv>;
