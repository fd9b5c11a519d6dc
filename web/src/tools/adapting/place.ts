/**
 * Where at a source something went wrong, as the sentences of errors say it.
 * @module
 */

/** A source, and the tool that was called there. */
export interface ToolPlace {
  /** The source's name in the configuration. */
  readonly source: string;
  /** As the source names it. */
  readonly tool?: string;
}

/** The subject of a sentence: `The tool "search" of the source "github"`. */
export function subjectOf({ source, tool }: ToolPlace): string {
  return tool === undefined
    ? `The source ${quoted(source)}`
    : `The tool ${quoted(tool)} of the source ${quoted(source)}`;
}

const LONGEST_NAME = 64;

/** A name as sentences say it. A source chooses those of its tools: what turns text around or hides must not reach a log. */
export function quoted(name: string): string {
  const shown = name.slice(0, LONGEST_NAME).replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, "");
  return JSON.stringify(name.length > LONGEST_NAME ? `${shown}…` : shown);
}
