/** Random reads, changes, losses and time, held against what a cache may give at all. */
import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { ArtifactScope } from "../../../../web/src/artifacts/store.js";
import { ResourceCache } from "../../../../web/src/tools/resources/cache.js";
import type { ReadResult } from "../../../../web/src/tools/resources/connection.js";

const SCOPES: readonly ArtifactScope[] = [{ user_id: "ada" }, { user_id: "bob" }, { user_id: "bob", trace_id: "1" }];
const URIS = ["a", "b", "c"];
const MAX_KEPT = 4;

type Step =
  | { readonly do: "read"; readonly scope: number; readonly uri: number; readonly updates: readonly number[] }
  | { readonly do: "update"; readonly uri: number }
  | { readonly do: "clear" }
  | { readonly do: "wait"; readonly time: number }
  | { readonly do: "lose"; readonly scope: number; readonly uri: number };

interface Nature {
  readonly kind: "text" | "artifact";
  readonly ttl: number;
  readonly isPublic: boolean;
  /** A content beside it, by the number of its URI. */
  readonly beside: number | undefined;
}

/** What the model keeps: the version, when it was read, and what it is stored as. */
interface Known {
  readonly key: string;
  readonly version: number;
  readonly expires: number;
  readonly id: string | undefined;
  readonly uris: readonly number[];
}

const index = fc.nat({ max: 2 });
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("read" as const),
      scope: index,
      uri: index,
      updates: fc.constantFrom([], [], [], [0], [1], [0, 2]),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("update" as const), uri: index }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("wait" as const), time: fc.constantFrom(1, 9, 10) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("lose" as const), scope: index, uri: index }) },
  { weight: 1, arbitrary: fc.constant({ do: "clear" as const }) },
);
const nature: fc.Arbitrary<Nature> = fc.record({
  kind: fc.constantFrom("text" as const, "artifact" as const),
  ttl: fc.constantFrom(0, 10, 20),
  isPublic: fc.boolean(),
  beside: fc.option(index, { nil: undefined }),
});

/** A cache, a source whose every answer has a new version, and a list of what may be kept. */
class World {
  /** What was read other than it should have been. */
  readonly differences: string[] = [];
  readonly #natures: readonly Nature[];
  readonly #sharesPublic: boolean;
  readonly #cache: ResourceCache;
  readonly #gone = new Set<string>();
  #known: Known[] = [];
  #now = 0;
  #version = 0;

  constructor(natures: readonly Nature[], sharesPublic: boolean) {
    this.#natures = natures;
    this.#sharesPublic = sharesPublic;
    this.#cache = new ResourceCache({
      exists: (id, scope) => Promise.resolve(id.startsWith(`s${SCOPES.indexOf(scope)}`) && !this.#gone.has(id)),
      clock: () => this.#now,
      maxKept: MAX_KEPT,
      sharesPublic,
    });
  }

  async take(made: Step): Promise<void> {
    switch (made.do) {
      case "read":
        await this.#read(made);
        return;
      case "update":
        this.#update(made.uri);
        return;
      case "clear":
        this.#cache.clear();
        this.#known = [];
        return;
      case "wait":
        this.#now += made.time;
        return;
      case "lose":
        for (const { key, id } of this.#known) {
          if (key === `${made.scope} ${made.uri}` && id !== undefined) this.#gone.add(id);
        }
    }
  }

  async #read({ scope, uri, updates }: Step & { readonly do: "read" }): Promise<void> {
    const expected = this.#expected(scope, uri);
    let fetched = 0;
    const result = await this.#cache.read(URIS[uri] as string, { scope: SCOPES[scope] as ArtifactScope }, async () => {
      fetched += 1;
      const answer = this.#answer(scope, uri);
      await Promise.resolve();
      for (const each of updates) this.#update(each);
      return answer;
    });
    const wanted = { fetched: expected === undefined ? 1 : 0, version: expected?.version ?? this.#version };
    this.differences.push(...differencesOf({ fetched, version: versionOf(result) }, wanted));
    if (expected === undefined) this.#learn(scope, uri, updates);
  }

  #update(uri: number): void {
    this.#cache.invalidate(URIS[uri] as string);
    this.#known = this.#known.filter(({ uris }) => !uris.includes(uri));
  }

  /** What may be given without asking, counted as used. */
  #expected(scope: number, uri: number): Known | undefined {
    for (const key of [`${scope} ${uri}`, ...(this.#sharesPublic ? [`public ${uri}`] : [])]) {
      const known = this.#known.find((each) => each.key === key);
      if (known === undefined) continue;
      this.#known = this.#known.filter((each) => each !== known);
      if (this.#now >= known.expires || (known.id !== undefined && this.#gone.has(known.id))) continue;
      this.#known.push(known);
      return known;
    }
    return undefined;
  }

  #learn(scope: number, uri: number, updates: readonly number[]): void {
    const { kind, ttl, isPublic, beside } = this.#natures[uri] as Nature;
    const own = `${scope} ${uri}`;
    const shared = `public ${uri}`;
    this.#known = this.#known.filter(({ key }) => key !== own && key !== shared);
    const uris = beside === undefined ? [uri] : [uri, beside];
    if (ttl === 0 || uris.some((each) => updates.includes(each))) return;
    const key = isPublic && this.#sharesPublic && kind === "text" ? shared : own;
    const id = kind === "text" ? undefined : idOf(scope, this.#version);
    this.#known.push({ key, version: this.#version, expires: this.#now + ttl, id, uris });
    this.#known = this.#known.slice(-MAX_KEPT);
  }

  #answer(scope: number, at: number): ReadResult {
    this.#version += 1;
    const { kind, ttl, isPublic, beside } = this.#natures[at] as Nature;
    const uri = URIS[at] as string;
    const summary = String(this.#version);
    const first =
      kind === "text"
        ? { kind, uri, mime_type: null, text: summary }
        : { kind, uri, mime_type: null, id: idOf(scope, this.#version), size_bytes: 1, filename: null, summary };
    const second = { kind: "text" as const, uri: URIS[beside ?? 0] as string, mime_type: null, text: "beside" };
    const contents = beside === undefined ? [first] : [first, second];
    return { contents, ttl_ms: ttl, cache_scope: isPublic ? "public" : "private" };
  }
}

interface Seen {
  readonly fetched: number;
  readonly version: number;
}

function differencesOf(seen: Seen, wanted: Seen): string[] {
  const [left, right] = [JSON.stringify(seen), JSON.stringify(wanted)];
  return left === right ? [] : [`${left} instead of ${right}`];
}

const idOf = (scope: number, version: number): string => `s${scope}_${version}`;

function versionOf({ contents: [first] }: ReadResult): number {
  return Number(first?.kind === "text" ? first.text : first?.summary);
}

test("the cache gives what a list of everything it may keep would give, and asks the source else", async () => {
  const natures = fc.tuple(nature, nature, nature);
  await fc.assert(
    fc.asyncProperty(
      natures,
      fc.boolean(),
      fc.array(step, { maxLength: 40, size: "max" }),
      async (three, sharesPublic, steps) => {
        const world = new World(three, sharesPublic);
        for (const made of steps) await world.take(made);
        expect(world.differences).toEqual([]);
      },
    ),
    { numRuns: 300 },
  );
});
