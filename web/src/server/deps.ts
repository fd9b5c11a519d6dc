/**
 * What the routes of a server work with.
 * @module
 */
import type { Retention } from "../artifacts/retention/policy.js";
import type { ArtifactStore } from "../artifacts/store.js";
import type { UserFiles } from "../files/user-files.js";
import type { Announcer } from "./sessions/announcer.js";
import type { Admission } from "./http/admission.js";
import type { Calls } from "./calls/calls.js";
import type { HostGuard } from "./http/host-guard.js";
import type { McpGateway } from "./mcp/gateway.js";
import type { ServeLimits } from "./options.js";
import type { SeenArtifacts } from "./artifacts/handler.js";
import type { OidcAccess } from "./oidc/oidc-access.js";
import type { Readiness } from "./readiness.js";
import type { SessionTokens } from "./sessions/credentials.js";
import type { Authenticate } from "./sessions/session.js";
import type { ServedSources } from "./sources/served-sources.js";
import type { MetricsOptions } from "../telemetry/metrics-endpoint.js";
import type { ServeState } from "./state.js";
import type { SessionWork } from "./sessions/session-work.js";
import type { UserUsage } from "./usage/user-usage.js";
import type { WorkKeeper } from "./work/work-keeper.js";

/** Shared by all routes. */
export interface ServeDeps {
  /** Within retention, and within the limits of users. */
  readonly store: ArtifactStore;
  /** The limits of the store. */
  readonly retention: Retention;
  /** Users' files, or null if the server keeps none. */
  readonly files: ServedFiles | null;
  readonly state: ServeState;
  readonly limits: Required<ServeLimits>;
  /** Holds users to their limits. */
  readonly usage: UserUsage;
  /** Begins and ends with `/`. */
  readonly base: string;
  readonly hosts: HostGuard;
  readonly tokens: SessionTokens;
  readonly authenticate: Authenticate;
  /** Lets users in by access tokens of a provider, or null. */
  readonly access: OidcAccess | null;
  /** The sources of tools and resources. */
  readonly sources: ServedSources;
  /** Calls of tools that may ask a person. */
  readonly calls: Calls;
  /** Whether there is a chat. */
  readonly hasChat: boolean;
  /** Sources for MCP clients over Streamable HTTP. */
  readonly mcp: McpGateway;
  /** Who gets the metrics, or null if they are not offered. */
  readonly metrics: MetricsOptions | null;
  readonly seen: SeenArtifacts;
  /** Counts the requests of sessions. */
  readonly admission: Admission;
  /** Work of this process that ends with its session. */
  readonly sessionWork: SessionWork;
  /** Holds work that others take up if this process dies, and takes up theirs. */
  readonly keeper: WorkKeeper;
  /** Whether the stores and the state can be reached. */
  readonly readiness: Readiness;
  /** Tells sessions what happened. */
  readonly announcer: Announcer;
  /** Receives failures that no client sees. Never throws. */
  readonly report: (error: unknown) => void;
  /** Aborted when the server is closed. */
  readonly over: AbortSignal;
  /** Aborted before that, when `ready` begins to fail. */
  readonly draining: AbortSignal;
  /** Aborted between the two, when streams end that clients can come back to. */
  readonly streamsEnd: AbortSignal;
}

/** Users' files and how they are served. */
export interface ServedFiles {
  readonly userFiles: UserFiles;
  /** Most bytes of a file. */
  readonly maxBytes: number;
  /** Whether files outlive their session. */
  readonly isLasting: boolean;
}
