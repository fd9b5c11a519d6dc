/**
 * Lists artifacts of a session in pages.
 * @module
 */
import { z } from "zod";
import { ScopedArtifacts } from "../../artifacts/scoped.js";
import type { ArtifactScope, ArtifactStore, StoredArtifact } from "../../artifacts/store.js";
import { BodyRefused } from "../http/request.js";

/** Artifacts of a page: the default and the maximum. */
export const PAGE = { usual: 100, most: 500 } as const;

/** Most characters of JSON of one page, not counting the first artifact, whose metadata may be long. */
const MAX_CHARS = 4 * 1024 * 1024;

/** Where a page ends: after an artifact, which may be deleted meanwhile. */
type Place = readonly [stored_at: number, trace: string, id: string];

const PLACE: z.ZodType<Place> = z.tuple([z.number(), z.string(), z.string()]);

/** One page. */
interface ArtifactPage {
  /** Oldest first. */
  readonly artifacts: readonly StoredArtifact[];
  /** Where the next page begins. Missing on the last page. */
  readonly next?: string;
}

/** A requested page. */
interface PageDeps {
  readonly scopes: readonly ArtifactScope[];
  readonly limit: number;
  /** The `next` of the page before. */
  readonly after?: string | undefined;
}

/** Reads a page, with at most twice its artifacts in memory. Throws BodyRefused for an `after` that no page gave. */
export async function artifactPage(store: ArtifactStore, deps: PageDeps): Promise<ArtifactPage> {
  const { scopes, limit, after } = deps;
  const behind = after === undefined ? null : placeIn(after);
  let first: StoredArtifact[] = [];
  for (const scope of scopes) {
    for await (const artifact of new ScopedArtifacts(store, scope).list()) {
      if (behind !== null && inOrder(toPlace(artifact), behind) <= 0) continue;
      first.push(artifact);
      if (first.length > 2 * limit + 1) first = takeFirst(first, limit + 1);
    }
  }
  first = takeFirst(first, limit + 1);
  const artifacts = fitting(first.slice(0, limit));
  const last = artifacts.at(-1);
  return artifacts.length < first.length && last !== undefined
    ? { artifacts, next: Buffer.from(JSON.stringify(toPlace(last))).toString("base64url") }
    : { artifacts };
}

function takeFirst(artifacts: StoredArtifact[], count: number): StoredArtifact[] {
  return artifacts.sort((left, right) => inOrder(toPlace(left), toPlace(right))).slice(0, count);
}

function fitting(artifacts: readonly StoredArtifact[]): readonly StoredArtifact[] {
  let chars = 0;
  const over = artifacts.findIndex((artifact, at) => {
    chars += JSON.stringify(artifact).length;
    return at > 0 && chars > MAX_CHARS;
  });
  return over === -1 ? artifacts : artifacts.slice(0, over);
}

function toPlace({ stored_at, scope, id }: StoredArtifact): Place {
  return [stored_at, scope.trace_id ?? "", id];
}

function inOrder([atLeft, traceLeft, left]: Place, [atRight, traceRight, right]: Place): number {
  return atLeft - atRight || compareText(traceLeft, traceRight) || compareText(left, right);
}

function compareText(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

function placeIn(after: string): Place {
  try {
    return PLACE.parse(JSON.parse(Buffer.from(after, "base64url").toString()));
  } catch {
    throw new BodyRefused(400, "The parameter after is not valid: take it from next of the previous page.", "after");
  }
}
