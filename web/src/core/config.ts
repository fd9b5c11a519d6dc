/**
 * The configuration. What each key does, its default and its bounds
 * are those of the schema that the build writes, `mcp-sluice/config.schema.json`; a test holds the two together.
 * @module
 */
import type { RetentionConfig } from "../artifacts/retention/policy.js";
import { SluiceError } from "../errors/error.js";
import { nearest } from "../errors/arguments.js";

/** What can be configured. Every key may be left out; unknown keys and wrong values are refused with their path. */
export interface SluiceConfig {
  /**
   * Characters of one string above which it is stored and a reference stands in its place, unless that would be longer.
   * @defaultValue `10000`
   */
  readonly max_inline_size?: number;
  /**
   * Stores long strings and large documents for their size alone. false: only bytes are stored, and the guardrail
   * cuts what is too long.
   * @defaultValue `true`
   */
  readonly auto_artifact_large_content?: boolean;
  /** How bytes that a server wrote into strings are found. */
  readonly binary_detection?: BinaryDetectionConfig;
  /** What is done with links to resources of a server. */
  readonly resources?: ResourcesConfig;
  /**
   * Per tool, the places in its results that hold artifacts: those are stored whatever they look like.
   * @defaultValue `{}`
   */
  readonly tool_fields?: Readonly<Record<string, readonly ToolFieldConfig[]>>;
  /**
   * The summary shown for an artifact; {description}, {content_type}, {filename}, {size}, {size_human},
   * {artifact_id} and the names of fields beside it are filled in. null: the description alone.
   * @defaultValue `null`
   */
  readonly default_summary_template?: string | null;
  /** The last clamp on what a model sees, whatever tool it came from. */
  readonly guardrail?: GuardrailConfig;
  /**
   * Keeps images in place for models that see, beside storing them. auto: for clients known to show images; off:
   * never; an object: always, within the keys below.
   * @defaultValue `"auto"`
   */
  readonly inline_media?: "auto" | "off" | InlineMediaConfig;
  /**
   * The half of a result that is shown when a server sends both: structured shows structuredContent, content shows
   * the blocks. What only the other half says is added.
   * @defaultValue `"structured"`
   */
  readonly prefer?: "structured" | "content";
  /** How long artifacts are kept, and how many of them. */
  readonly retention?: RetentionConfig;
  /** How results and arguments pass an interceptor: a proxy, a transport or a wrapped client. */
  readonly interceptor?: InterceptorConfig;
}

/** A place in the results of one tool that holds an artifact. */
export interface ToolFieldConfig {
  /**
   * Where the artifact stands in the tool's result: keys, list indexes and * (every element) joined by dots. What
   * stands there is stored.
   */
  readonly field_path: string;
  /** What a person calls the content, such as pdf or report: shown where a summary says {content_type}. */
  readonly content_type: string;
  /**
   * The content's MIME type, for its reference and its file name. null: found out from the bytes.
   * @defaultValue `null`
   */
  readonly mime_type?: string | null;
  /**
   * The summary shown for this field's artifacts, written like default_summary_template. null: that one.
   * @defaultValue `null`
   */
  readonly summary_template?: string | null;
}

/** How bytes that a server wrote into strings are found. */
export interface BinaryDetectionConfig {
  /**
   * Finds encoded bytes inside strings. false: only typed blocks and the places that tool_fields names are taken
   * for bytes.
   * @defaultValue `true`
   */
  readonly enabled?: boolean;
  /**
   * Signatures to recognise beside the built-in ones: the first characters of the base64 encoding, each with an
   * extension and a MIME type.
   * @defaultValue `{}`
   */
  readonly signatures?: Readonly<Record<string, readonly [extension: string, mimeType: string]>>;
  /**
   * Encoded characters below which a run stays as it is. Of a data: URI 64 are enough.
   * @defaultValue `1000`
   */
  readonly min_size_for_detection?: number;
  /**
   * Decoded bytes that are looked at to recognise content. What is stored is never cut.
   * @defaultValue `5000000`
   */
  readonly max_decode_bytes?: number;
  /**
   * Leaves encoded bytes without a known signature where they are, unless they are longer than max_inline_size.
   * false: every strictly valid run is stored.
   * @defaultValue `true`
   */
  readonly require_magic_bytes?: boolean;
}

/** What is done with links to resources of a server. */
export interface ResourcesConfig {
  /**
   * Lets resource links be read as the keys below say. false: every link stays a link.
   * @defaultValue `true`
   */
  readonly enabled?: boolean;
  /**
   * Bytes below which a linked resource is read at once, if the link tells its size. 0: never.
   * @defaultValue `0`
   */
  readonly auto_read_if_size_under_bytes?: number;
  /**
   * Characters below which the text of a read resource is shown in place; a longer one is stored.
   * @defaultValue `10000`
   */
  readonly inline_text_if_under_chars?: number;
  /**
   * Stores the text of a read resource even when it is short enough to be shown. false: short text is shown only.
   * @defaultValue `true`
   */
  readonly cache_reads_to_artifacts?: boolean;
}

/** The last clamp on what a model sees, whatever tool it came from. */
export interface GuardrailConfig {
  /**
   * Characters that no observation exceeds, whatever tool it came from: what is longer is cut.
   * @defaultValue `50000`
   */
  readonly max_observation_chars?: number;
  /**
   * Characters to which single strings are cut first, when an observation exceeds its limit.
   * @defaultValue `10000`
   */
  readonly max_field_chars?: number;
  /**
   * Text that ends a cut string; {truncated_chars} becomes the number of characters left out.
   * @defaultValue `"\n... [truncated: {truncated_chars} chars]"`
   */
  readonly truncation_suffix?: string;
  /**
   * Keeps objects and arrays when an observation is cut. false: it becomes one string of cut JSON text.
   * @defaultValue `true`
   */
  readonly preserve_structure?: boolean;
  /**
   * Characters above which an observation that exceeds its limit is stored whole and a reference is shown; a
   * shorter one is cut.
   * @defaultValue `20000`
   */
  readonly auto_artifact_threshold?: number;
}

/** Which images stay in place. */
export interface InlineMediaConfig {
  /**
   * MIME types of the images that may stay, such as image/png or image/*; others are only stored.
   * @defaultValue `["image/png", "image/jpeg", "image/gif", "image/webp"]`
   */
  readonly types?: readonly string[];
  /**
   * Decoded bytes above which an image does not stay.
   * @defaultValue `1048576`
   */
  readonly max_bytes?: number;
  /**
   * Images of one result that stay, the first ones; the rest is only stored.
   * @defaultValue `2`
   */
  readonly max_count?: number;
}

/** How results and arguments pass an interceptor: a proxy, a transport or a wrapped client. Elsewhere without effect. */
export interface InterceptorConfig {
  /**
   * What a client gets when the store fails at a result. answer: the result, with references that say what was not
   * stored and why; error: a JSON-RPC error that says so.
   * @defaultValue `"answer"`
   */
  readonly on_store_failure?: "answer" | "error";
  /**
   * By tool, the arguments that take an artifact in one form, whatever the tool's schema says: names, list indexes and
   * * joined by dots, each with base64, data_uri, text, or path, the path of a private copy.
   * @defaultValue `{}`
   */
  readonly arguments?: Readonly<Record<string, Readonly<Record<string, "base64" | "data_uri" | "text" | "path">>>>;
  /**
   * Artifacts that tools may be given besides those of their own server, from one namespace to one tool each.
   * @defaultValue `[]`
   */
  readonly share?: readonly ShareRule[];
}

/** A tool may be given artifacts that came from another server. */
export interface ShareRule {
  /** The namespace that artifacts came from, such as playwright. */
  readonly from: string;
  /** The tool that may be given them, with its own namespace, such as drive.upload. */
  readonly to: string;
}

/** The compiler holds it to the type. In this order they are listed. */
const SECTIONS: Readonly<Record<keyof SluiceConfig, true>> = {
  max_inline_size: true,
  auto_artifact_large_content: true,
  binary_detection: true,
  resources: true,
  tool_fields: true,
  default_summary_template: true,
  guardrail: true,
  inline_media: true,
  prefer: true,
  retention: true,
  interceptor: true,
};
const NAMES = Object.keys(SECTIONS);
/** Characters that are told of a key. */
const MAX_SHOWN = 64;

/**
 * Checks the names of a configuration's sections, those included that the core never sees; what is in them is checked by
 * whoever reads it.
 *
 * @throws SluiceError E_CONFIG_KEY that names the section which was probably meant, or else all there are.
 */
export function checkSections(config: object): void {
  // What has no value says nothing, as in JSON.
  const unknown = Object.entries(config).find(([name, value]) => value !== undefined && !NAMES.includes(name));
  if (unknown === undefined) return;
  const path = Array.from(unknown[0].slice(0, 2 * MAX_SHOWN))
    .slice(0, MAX_SHOWN)
    .join("");
  const meant = nearest(path.toLowerCase().replaceAll("-", "_"), NAMES);
  const remedy =
    meant === undefined ? `there are ${NAMES.slice(0, -1).join(", ")} and ${NAMES.at(-1)}` : `did you mean ${meant}?`;
  throw new SluiceError("E_CONFIG_KEY", `${path} is not a configuration key: ${remedy}`, { path });
}
