/**
 * What a ToolNode tells its host.
 * @module
 */
import type { ArtifactScope } from "../artifacts/store.js";
import type { AnswerRef } from "../core/sluice.js";
import type { SluiceError } from "../errors/error.js";
import type { ToolNodeError } from "./errors.js";

/** Something happened at a source, for logs and for hosts that show it; never content, never a token. */
export type ToolNodeEvent =
  | {
      /** A result had bytes or large text. */
      readonly kind: "stored";
      /** The tool whose result it was: `{namespace}.{tool}`. */
      readonly tool: string;
      /** What was stored, or could not be; each content once. */
      readonly artifacts: readonly AnswerRef[];
    }
  | {
      /** An artifact was put into the arguments of a call. */
      readonly kind: "expanded";
      /** The tool that was called: `{namespace}.{tool}`. */
      readonly tool: string;
      /** The artifact's id. */
      readonly id: string;
      /** Where: names and indexes joined by dots. */
      readonly path: string;
      /** How it was written. */
      readonly form: "base64" | "data_uri" | "text" | "path";
    }
  | {
      /** Something failed that no answer is lost by. */
      readonly kind: "failed";
      /** The tool that was called: `{namespace}.{tool}`. */
      readonly tool: string;
      /** What failed: the store, or a transformer. */
      readonly error: SluiceError;
    }
  | {
      /** An attempt failed, and another follows. */
      readonly kind: "retry";
      /** What the attempt failed with. */
      readonly error: ToolNodeError;
      /** The attempt that failed, from 1. */
      readonly attempt: number;
      /** Seconds until the next one. */
      readonly wait_s: number;
    }
  | {
      /**
       * The source shows no progress with a call, of a source with `user_files`. Told to the call's own `onWait` too.
       */
      readonly kind: "waiting";
      /** The tool that was called: `{namespace}.{tool}`. */
      readonly tool: string;
      /** Tells the calls of this process apart. */
      readonly call: number;
      /** Whose call it is. */
      readonly scope: ArtifactScope;
      /** Seconds of silence. */
      readonly after_s: number;
      /** What the user may be told. */
      readonly message: string;
      /** Whether the call is given up with it. */
      readonly is_over: boolean;
    }
  | {
      /** The source is left alone for a while, since it keeps failing: its circuit breaker is open. */
      readonly kind: "left_alone";
    }
  | {
      /** The source answers again. */
      readonly kind: "recovered";
    }
  | {
      /** The source says that its tools are others than before; `getTools` gives those that are offered now. */
      readonly kind: "tools_changed";
      /** What the source's own tools are called now: `{namespace}.{tool}`. */
      readonly names: readonly string[];
      /** Why they could not be taken over; those before stay then. */
      readonly error?: SluiceError;
    }
  | {
      /** Tools of the source are not offered: their names are empty, longer than 256 characters, or hide something. */
      readonly kind: "left_out";
      /** How many. */
      readonly count: number;
    }
  | {
      /** A resource changed, or the list of them. */
      readonly kind: "resource";
      /** Which of both, and where. */
      readonly event: ResourceEvent;
    };

/** A resource changed, or the list of them; what was kept of it is forgotten already. */
export type ResourceEvent =
  | {
      /** One resource changed. */
      readonly kind: "updated";
      /** The source's name. */
      readonly namespace: string;
      /** As the source names it. */
      readonly uri: string;
      /** Whose session was told, where users have sessions of their own. */
      readonly scope?: ArtifactScope;
    }
  | {
      /** There are other resources, or templates of them, than before. */
      readonly kind: "list_changed";
      /** The source's name. */
      readonly namespace: string;
      /** Whose session was told, where users have sessions of their own. */
      readonly scope?: ArtifactScope;
    };
