/**
 * What a model got of a call, in numbers.
 * @module
 */
import type { ModelApi } from "../model-apis.js";
import { type Media, type Part, refusePicture } from "../requests.js";
import type { HostCase } from "./cases.js";

/** What a model got of one call. */
export interface Seen {
  /** Characters of words. */
  readonly chars: number;
  /** Pictures that the model's API takes. */
  readonly pictures: number;
  /** Why others would be refused. */
  readonly refused: readonly string[];
  readonly documents: number;
  readonly recordings: number;
  /** Names of the facts that are there. */
  readonly facts: readonly string[];
  /** The share of the marks that are there, from 0 to 1; of none, 1. */
  readonly share: number;
  /** Whether Sluice's sentence is there, and not only a URI. */
  readonly isTold: boolean;
  /** The first artifact that is named. */
  readonly uri?: string;
  /** Whether the list of `sluice/refs` is there, which is meant for programs. Its short form, a name, does not count. */
  readonly hasRefs: boolean;
  /** Whether a script got it, and not the model. */
  readonly isScript?: true;
  /** How the words begin. */
  readonly excerpt: string;
  /** The tool that the sentence names, if the host calls it otherwise; and what the host calls it. */
  readonly misnamed?: readonly [string, string];
  /** Documents that the host's own tool gave of a file that the host had made. */
  readonly opened?: number;
  /** What a call of `artifact_read` then gave: whether it has what it should. */
  readonly read?: { readonly isFound: boolean; readonly chars: number; readonly excerpt: string };
  /** Why there is no result. */
  readonly failure?: string;
}

/** Characters of an excerpt. */
const EXCERPT = 600;

const REFS = /sluice\/refs"?:\s*\[/;

const REMINDER = /<system-reminder>[\s\S]*?<\/system-reminder>/g;

/** Words of parts, without what a host adds to every turn. */
export function readWords(parts: readonly Part[]): string {
  return joinTexts(parts).replace(REMINDER, "").trim();
}

function joinTexts(parts: readonly Part[]): string {
  const texts = parts.map((part) => (part.kind === "text" ? part.text : "")).filter(Boolean);
  return texts.join("\n");
}

/** Words as they were before they were made JSON, once or several times. */
const flatten = (words: string): string => words.replaceAll(/\\+(["/])/g, "$1");

/** How many of the marks stand in words, from 0 to 1. */
function shareIn(words: string, { marks }: HostCase): number {
  if (marks === undefined) return 1;
  return new Set(words.match(new RegExp(marks.pattern, "g"))).size / marks.count;
}

/** Counts what is in the parts of a result. */
export function measureParts(api: ModelApi, entry: HostCase, parts: readonly Part[]): Seen {
  const words = entry.tool === null ? joinTexts(parts) : readWords(parts);
  const media = parts.filter((part): part is Media => part.kind !== "text");
  const refused = media
    .filter(({ kind }) => kind === "image")
    .map((picture) => refusePicture(api, picture))
    .filter((reason) => reason !== undefined);
  const countTaken = (wanted: Media["kind"]): number =>
    media.filter(({ kind, isInToolMessage }) => kind === wanted && isInToolMessage !== true).length;
  const flat = flatten(words);
  const { facts = {} } = entry;
  const uri = /artifact:\/\/[\w-]+/.exec(flat)?.[0];
  return {
    chars: words.length,
    pictures: media.filter(({ kind }) => kind === "image").length - refused.length,
    refused,
    documents: countTaken("document"),
    recordings: countTaken("audio"),
    facts: Object.keys(facts).filter((name) => flat.includes(facts[name] ?? "")),
    share: shareIn(flat, entry),
    isTold: flat.includes("[sluice]"),
    ...(uri !== undefined && { uri }),
    hasRefs: REFS.test(flat),
    excerpt: words.slice(0, EXCERPT),
  };
}

/** What is seen of a call that had no result. */
export function noteFailure(failure: string): Seen {
  return {
    chars: 0,
    pictures: 0,
    refused: [],
    documents: 0,
    recordings: 0,
    facts: [],
    share: 0,
    isTold: false,
    hasRefs: false,
    excerpt: "",
    failure,
  };
}
