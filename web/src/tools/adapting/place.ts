/**
 * Where at a source something went wrong, as the sentences of errors say it.
 * @module
 */

/** A source, and the tool that was called there. */
export interface ToolPlace {
  /** The source's name in the configuration; the model's, where it is one that was asked. */
  readonly source: string;
  /** As the source names it. */
  readonly tool?: string;
  /** Who was asked: a source when left out. */
  readonly kind?: "source" | "model";
}

/** The subject of a sentence: `The tool "search" of the source "github"`. */
export function subjectOf({ source, tool, kind }: ToolPlace): string {
  if (kind === "model") return `The model ${quoted(source)}`;
  return tool === undefined
    ? `The source ${quoted(source)}`
    : `The tool ${quoted(tool)} of the source ${quoted(source)}`;
}

/** What there is to do about a refusal: not known who asks, refused what is asked for, too many asking, too slow. */
export interface Remedies {
  readonly unknown: string;
  readonly refused: string;
  readonly fewer: string;
  readonly moreTime: string;
}

const OF_SOURCES: Remedies = {
  unknown: "check auth_type and auth_config, or connect the account again",
  refused: "check the arguments, and the address of the source",
  fewer: "allow fewer calls at a time (max_concurrency)",
  moreTime: "allow it more time (timeout_s)",
};

const OF_MODELS: Remedies = {
  unknown: "check its API key",
  refused: "check its name and its address, and whether the conversation fits",
  fewer: "allow fewer requests at a time (resilience.max_concurrency)",
  moreTime: "allow it more time (resilience.timeout_s)",
};

/** By the options that whoever asks has. */
export function remediesOf({ kind }: ToolPlace): Remedies {
  return kind === "model" ? OF_MODELS : OF_SOURCES;
}

const LONGEST_NAME = 64;

/** A name as sentences say it. A source chooses those of its tools: what turns text around or hides must not reach a log. */
export function quoted(name: string): string {
  const shown = name.slice(0, LONGEST_NAME).replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, "");
  return JSON.stringify(name.length > LONGEST_NAME ? `${shown}…` : shown);
}
