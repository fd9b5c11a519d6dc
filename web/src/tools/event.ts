/**
 * Events at a source, for logs and for hosts that show them.
 * @module
 */
import type { ArtifactScope } from "../artifacts/store.js";
import type { AnswerRef } from "../core/types.js";
import type { SluiceError } from "../errors/error.js";
import type { ToolNodeError } from "./errors.js";
import type { LeftOutTool } from "./source-features.js";
import type { FileRefusal } from "./user-files.js";
import type { ToolWait } from "./context.js";

/** An event at a source, for logs and for hosts that show it. Events never hold content or tokens. */
export type ToolNodeEvent =
  | {
      /** Binary or large parts of a result were stored. */
      readonly kind: "stored";
      /** The tool that gave the result: `{namespace}.{tool}`. */
      readonly tool: string;
      /** What was stored, or could not be. Each content once. */
      readonly artifacts: readonly AnswerRef[];
    }
  | {
      /** An artifact was put into the arguments of a call. */
      readonly kind: "expanded";
      /** The tool that was called: `{namespace}.{tool}`. */
      readonly tool: string;
      /** The artifact's id. */
      readonly id: string;
      /** The place: names and indexes joined by dots. */
      readonly path: string;
      /** The form it was written in. */
      readonly form: "base64" | "data_uri" | "text" | "path";
    }
  | {
      /** Something failed, but no answer was lost. */
      readonly kind: "failed";
      /** The tool that was called: `{namespace}.{tool}`. */
      readonly tool: string;
      /** The error of the store or the transformer. */
      readonly error: SluiceError;
    }
  | ({
      /** A call of a source with `user_files` named a file that it may not use or that does not exist. */
      readonly kind: "refused";
    } & FileRefusal)
  | {
      /** An attempt failed and will be repeated. */
      readonly kind: "retry";
      /** The error of the attempt. */
      readonly error: ToolNodeError;
      /** The number of the failed attempt, from 1. */
      readonly attempt: number;
      /** Seconds until the next attempt. */
      readonly wait_s: number;
    }
  | ({
      /** A call shows no progress. The call's own `onWait` is told too. */
      readonly kind: "waiting";
      /** The tool that was called: `{namespace}.{tool}`. */
      readonly tool: string;
      /** Identifies the call within this process. */
      readonly call: number;
      /** The context's scope. */
      readonly scope: ArtifactScope;
    } & ToolWait)
  | {
      /** The circuit breaker opened: the source keeps failing and is not called for a while. */
      readonly kind: "left_alone";
    }
  | {
      /** The source answers again. */
      readonly kind: "recovered";
    }
  | {
      /** The source's tools changed. `getTools` returns the current ones. */
      readonly kind: "tools_changed";
      /** The current names of the source's own tools: `{namespace}.{tool}`. */
      readonly names: readonly string[];
      /** Why the new tools could not be taken over. The old ones stay. */
      readonly error?: SluiceError;
    }
  | {
      /**
       * Tools that are not offered: their call templates are not allowed, their names are empty, longer than 256
       * characters or hold invisible characters, or their descriptions are malformed.
       */
      readonly kind: "left_out";
      /** The number of such tools. */
      readonly count: number;
      /** At most 20 of them. */
      readonly tools: readonly LeftOutTool[];
    }
  | {
      /** A resource, or the list of resources, changed. */
      readonly kind: "resource";
      /** Which of the two, and where. */
      readonly event: ResourceEvent;
    };

/** A resource, or the list of resources, changed. Cached copies are already gone. */
export type ResourceEvent = {
  /** The source's name. */
  readonly namespace: string;
  /** The user whose session was notified, where users have their own sessions. */
  readonly scope?: ArtifactScope;
} & (
  | {
      /** One resource changed. */
      readonly kind: "updated";
      /** The URI. */
      readonly uri: string;
    }
  | {
      /** The list of resources or templates changed. */
      readonly kind: "list_changed";
    }
);
