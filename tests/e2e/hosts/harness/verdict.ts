/**
 * Whether a model is better off behind Sluice, by rules.
 * @module
 */
import type { HostCase } from "./cases.js";
import type { Seen } from "./seen.js";

/** How a model is off behind Sluice. */
export interface Verdict {
  readonly word: "better" | "equal" | "worse";
  /** Why, unless it is equal. */
  readonly reason: string;
}

/** Characters that Sluice's sentence may take where nothing is gained: a result with a picture says where it is stored. */
const SENTENCE = 400;

/** Characters that Sluice's tools and instructions may add to the first request. */
const TOOLS = 2600;

/** Characters of words and code that stay whole if the plain host shows them whole. Above that, most hosts cut by themselves. */
const WHOLE = 50_000;

/** Compares what a model got of a case without and with Sluice. */
export function judge(entry: HostCase, plain: Seen, behind: Seen): Verdict {
  const losses = listLosses(entry, plain, behind);
  const gains = listGains(plain, behind);
  const more = behind.chars - plain.chars;
  const isCostly = entry.late === undefined && more > (entry.tool === null ? TOOLS : SENTENCE);
  // A call that gives nothing either way costs nothing.
  if (isCostly && gains.length === 0 && plain.failure === undefined) losses.push(`${more} characters more`);
  if (losses.length > 0) return { word: "worse", reason: losses.join("; ") };
  return gains.length > 0 ? { word: "better", reason: gains.join("; ") } : { word: "equal", reason: "" };
}

function listLosses(entry: HostCase, plain: Seen, behind: Seen): string[] {
  if (behind.failure !== undefined)
    return plain.failure === undefined ? [`no result: ${firstLine(behind.failure)}`] : [];
  const isReached = behind.read?.isFound === true;
  const lost = plain.facts.filter((fact) => !behind.facts.includes(fact));
  const isWhole = plain.share === 1 && (plain.isScript === true || plain.chars <= WHOLE);
  return [
    behind.pictures < plain.pictures && `${plain.pictures - behind.pictures} of ${plain.pictures} pictures not shown`,
    countDocuments(behind) < countDocuments(plain) && "document not handed on",
    behind.recordings < plain.recordings && "recording not handed on",
    // What a script adds up has to be in place; for a model, what it can read on is one call away.
    lost.length > 0 && !(isReached && !lost.includes("sum")) && `lost: ${lost.join(", ")}`,
    entry.kind === "prose" && isWhole && behind.share < 1 && "text not whole in place",
    behind.uri !== undefined && !behind.isTold && "a URI without a sentence",
    entry.name === "reader" &&
      behind.misnamed !== undefined &&
      `named ${behind.misnamed[0]}, offered as ${behind.misnamed[1]}`,
    behind.uri !== undefined && behind.read?.isFound === false && `reading on fails: ${firstLine(behind.read.excerpt)}`,
    behind.hasRefs && !plain.hasRefs && "`sluice/refs` reaches the model",
  ].filter((loss) => loss !== false);
}

function listGains(plain: Seen, behind: Seen): readonly string[] {
  if (plain.failure !== undefined) return behind.failure === undefined ? ["a result"] : [];
  const gained = behind.facts.filter((fact) => !plain.facts.includes(fact));
  return [
    behind.pictures > plain.pictures && `${behind.pictures - plain.pictures} pictures more`,
    behind.refused.length < plain.refused.length && "no picture that the API refuses",
    countDocuments(behind) > countDocuments(plain) && "the document",
    gained.length > 0 && `gains: ${gained.join(", ")}`,
    behind.read?.isFound === true && plain.share < 1 && "all of it can be read",
    behind.chars < plain.chars * 0.9 && `${plain.chars - behind.chars} characters less`,
  ].filter((gain) => gain !== false);
}

/** Documents in place, or a call away with the host's own tool. */
const countDocuments = ({ documents, opened = 0 }: Seen): number => documents + opened;

const firstLine = (text: string): string => text.split("\n", 1)[0]?.slice(0, 100) ?? "";
