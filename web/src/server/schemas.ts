/**
 * What several routes answer with: references, files, errors.
 * @module
 */
import { z } from "zod";
import { McpHeader } from "../mcp/http/headers.js";
import { REFUSED } from "./http/refusals.js";

/** The schemas that have a name of their own in the document. */
export const NAMED: Map<z.ZodType, string> = new Map();

/** Names a schema, so that the document has it once. */
export function nameSchema<S extends z.ZodType>(name: string, schema: S): S {
  NAMED.set(schema, name);
  return schema;
}

const MILLISECONDS = "Milliseconds since 1970.";

/** A time. */
export const TIME = z.number().describe(MILLISECONDS);

/** The id of an artifact or a file. A malformed id gives the same 404 as an unknown one. */
export const ID = z.string().describe("The id, as a reference or a list has it.");

const REFERENCE_FIELDS = {
  id: z.string().describe("Its address is `artifacts/{id}`. It begins with `truncated_` where nothing was stored."),
  mime_type: z.string().nullable().describe("The media type; null if unknown."),
  size_bytes: z.number().describe("The bytes."),
  filename: z.string().nullable().describe("The file name, if it has one."),
  sha256: z.string().nullable().describe("The SHA-256 in hex. Null for what could not be hashed or stored."),
  namespace: z.string().describe("The first part of the id: usually the source that it came from."),
  source: z
    .looseObject({
      tool: z.string().optional(),
      description: z
        .string()
        .optional()
        .describe("What it is, for a person. Text that is quoted from it is untrusted."),
      warning: z.string().optional().describe("Why it was not stored."),
      truncated: z.boolean().optional().describe("Whether nothing was stored."),
      original_size: z.number().optional(),
    })
    .describe("Where it came from."),
};

/** A reference to an artifact, without its scope. */
export const REFERENCE = nameSchema(
  "Reference",
  z.object(REFERENCE_FIELDS).describe("A reference to an artifact: what stands in the place of its bytes."),
);

/** A reference with its times. */
export const STORED = nameSchema(
  "StoredArtifact",
  z
    .object({
      ...REFERENCE_FIELDS,
      stored_at: TIME,
      used_at: TIME,
      trace: z.string().optional().describe("The trace that it was stored under. Its address needs it."),
      expires_at: TIME.optional().describe(`When it expires, unless room is needed earlier. ${MILLISECONDS}`),
    })
    .describe("A stored artifact."),
);

/** One of the user's files. */
export const FILE = nameSchema(
  "File",
  z
    .object({
      name: z.string().describe("Unique among the files."),
      origin: z.enum(["uploaded", "generated", "deferred"]),
      mime_type: z.string().nullable(),
      size_bytes: z.number().describe("Of the newest version."),
      stored_at: TIME,
      versions: z.int().describe("How many are kept."),
      id: z.string().describe("The id of the newest version. Its address is `files/{id}`."),
      category: z.enum(["report", "dataset", "visualization", "draft"]).nullable(),
      description: z.string().nullable().describe("The tool's words, which are untrusted."),
      facts: z.string().nullable().describe("What its content tells: `640 × 480`, `14 pages`."),
      draft: z
        .object({
          reason: z.enum(["needs_editing", "draft", "incomplete", "awaiting_approval"]).nullable(),
          next_actions: z.array(z.string()),
          expires_at: TIME,
        })
        .nullable(),
    })
    .describe("A file, as its newest version is."),
);

/** What failed, within an answer or an event. */
export const FAILURE = nameSchema(
  "Failure",
  z.object({
    code: z.string().describe("One of the codes of errors. Match by it."),
    message: z.string().describe("What is wrong, and what to do."),
  }),
);

/** Every refusal. */
export const REFUSAL = nameSchema(
  "Refusal",
  z
    .object({
      error: z.object({
        code: z.enum([...new Set(REFUSED.map(({ code }) => code))]).describe("Match by it."),
        message: z.string().describe("What is wrong, and what to do."),
      }),
    })
    .describe("Why a request was refused, or failed."),
);

/** Headers of bytes. */
export const BYTES_HEADERS: Readonly<Record<string, string>> = {
  ETag: "A strong entity tag: the SHA-256 of the bytes.",
  "Accept-Ranges": "`bytes`.",
  "Content-Disposition": "A safe file name (RFC 6266).",
};

/** Headers of requests for bytes. */
export const BYTES_ASKED: Readonly<Record<string, string>> = {
  Range: "One range of bytes (RFC 9110, 14.2).",
  "If-None-Match": "Entity tags: 304 if the bytes have one of them.",
  "If-Match": "Entity tags: 412 if the bytes have none of them.",
  "If-Range": "An entity tag: the range counts only if the bytes have it.",
};

/** What a listener sends that comes back. */
export const RESUMING: Readonly<Record<string, string>> = {
  [McpHeader.lastEventId]: "The id of the last event that was received, as browsers send it by themselves.",
};

/** An event of this kind: what it says, and what it has. */
export function defineEvent<K extends string, S extends z.ZodRawShape>(
  kind: K,
  description: string,
  shape: S,
): z.ZodObject<{ kind: z.ZodLiteral<K> } & S> {
  return z.object({ kind: z.literal(kind), ...shape }).describe(description);
}

/** The last event of a stream that ends because its server closes. */
export const CLOSING: z.ZodObject<{ kind: z.ZodLiteral<"closing"> }> = defineEvent(
  "closing",
  "The last event, without an id: this process closes. Come back after `retry` with `Last-Event-ID`: another one goes on.",
  {},
);

/** How a result was cut. */
export const CLAMPED = {
  original_size: z.number().describe("Characters before."),
  clamped_size: z.number().describe("Characters that are left."),
  method: z.string().describe("How it was cut."),
};

/** What a call tells of its work, in a stream of its own and in that of a run. */
export const PROGRESS = {
  progress: z.number().describe("So far, in the source's own units."),
  total: z.number().optional().describe("The end of it."),
  message: z.string().optional().describe("What the source says. Untrusted."),
};
export const WAIT = {
  after_s: z.number().describe("Seconds of silence."),
  message: z.string().describe("What people can be told."),
  is_over: z.boolean().describe("Whether the call was given up."),
};

/** What a tool wants to be shown. */
export const DISPLAY = nameSchema(
  "Display",
  z
    .looseObject({
      open_canvas: z.boolean(),
      primary_file: z.string().optional(),
      mode: z.enum(["replace", "append", "split"]).optional(),
      storage_action: z.enum(["store", "store_and_open", "temporary"]),
      category_hint: z.string().optional(),
      notification: z.string().optional(),
      files: z.array(
        z.object({ name: z.string(), id: z.string(), viewer: z.string().optional(), auto_open: z.boolean() }),
      ),
    })
    .describe("What a tool wants its viewer to do. Its texts are untrusted."),
);

/** Why a call or a run waits for a person. */
export const REASON = z.enum(["external_event", "approval_required", "await_input"]);

/** What is asked of a person. */
export const PAYLOAD = z
  .record(z.string(), z.unknown())
  .describe("What is asked: `pause_type` says what there is. Texts of a source are untrusted.");
