/**
 * Who calls a tool, and what a call may ask of its host (RFC 0.3 §4.3; ToolNode 2.1 "ToolContext").
 * @module
 */
import type { ArtifactScope } from "../artifacts/store.js";

/** Why a call waits for a person. */
export type PauseReason = "external_event" | "approval_required" | "await_input";

/** What a call tells of itself while it goes on; `total` is unknown where the source does not say. */
export interface ToolProgress {
  /** How far it is, in units of the source's own. */
  readonly progress: number;
  /** How far it goes, in the same units. */
  readonly total?: number;
  /** What the source says it is doing; untrusted. */
  readonly message?: string;
}

/** That a source has shown no progress for a while, as the user of a call is told it. */
export interface ToolWait {
  /** Seconds of silence. */
  readonly after_s: number;
  /** One sentence or two, for people. */
  readonly message: string;
  /** Whether the call is given up with it. */
  readonly is_over: boolean;
}

/** One call's surroundings. All of it may be left out by a host without users. */
export interface ToolContext {
  /**
   * Whose the call is: whose tokens it uses (`tenant_id`, `user_id`), and whose what it stores is (all of it): with another
   * `trace_id` nothing of that is found.
   */
  readonly scope?: ArtifactScope;
  /**
   * Asks for something that only a person can do, and settles when it was done. What it throws ends the call. Left out: calls
   * that need it are refused, and a source's questions are declined.
   *
   * @param reason `external_event` for consent and for a page, `await_input` for a question; nothing asks for approval.
   * @param payload JSON that says what. Its `pause_type` is `oauth` (consent: `provider`, `display_name`, `auth_url`, `scopes`),
   * `elicitation` (a question of the source's: `message`, `schema`, a flat JSON Schema of the fields, `source`, `tool`) or `url`
   * (a page to open: `url`, `message`, `source`, `tool`). What a source says is untrusted: its texts have at most 4,000 characters, and none
   * that hide anything.
   * @returns with `await_input` an object of the fields, or undefined or null where the person declines; with `external_event`
   * nothing, or null where the person will not open the page.
   */
  readonly pause?: (reason: PauseReason, payload: Readonly<Record<string, unknown>>) => Promise<unknown>;
  /** Gives up the call, also at the source. */
  readonly signal?: AbortSignal;
  /** Told of what the source says of its progress. */
  readonly onProgress?: (progress: ToolProgress) => void;
  /**
   * Told when the source is silent for long, and when the call is given up for it; begins anew with progress. For sources with
   * `user_files` only. What it throws is lost.
   */
  readonly onWait?: (wait: ToolWait) => void;
  /** Seconds of silence that this call is given in place of the source's `timeout_s`, 1 to 300. */
  readonly timeoutSeconds?: number;
}
