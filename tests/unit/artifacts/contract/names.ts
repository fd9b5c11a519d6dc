/** Contract: what is found by its file name. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ArtifactScope, ArtifactStore } from "../../../../web/src/artifacts/store.js";
import { listed } from "../bytes.js";
import type { Subject } from "../store-contract.js";
import { amount } from "../../../support/full.js";

const SCOPES: readonly ArtifactScope[] = [{ user_id: "ada" }, { user_id: "bob" }];
/** Alike but for their case, halves of pairs, and what paths are made of. */
const NAMES: readonly string[] = ["a.txt", "A.txt", "../a.txt", "a/b", "\ud800", "\ud801", "", "x".repeat(2000)];

/** One thing that is done to a store. Artifacts are counted in the order in which they were stored. */
type Step =
  | readonly ["put", scope: number, text: number, name: number]
  | readonly ["rename", artifact: number, name: number | null]
  | readonly ["delete" | "evict", artifact: number];

const name = fc.nat(NAMES.length - 1);
const artifact = fc.nat(5);
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.tuple(fc.constant("put" as const), fc.nat(1), fc.nat(3), name) },
    {
      weight: 2,
      arbitrary: fc.tuple(fc.constant("rename" as const), artifact, fc.option<number>(name, { nil: null })),
    },
    { weight: 1, arbitrary: fc.tuple(fc.constantFrom("delete" as const, "evict" as const), artifact) },
  ),
  { maxLength: 12 },
);

async function idsNamed(store: ArtifactStore, scope: ArtifactScope, filename: string): Promise<readonly string[]> {
  return (await listed(store.list(scope, { filename }))).map(({ id }) => id);
}

async function taken(store: ArtifactStore, step: Step, ids: { id: string; scope: ArtifactScope }[]): Promise<void> {
  if (step[0] === "put") {
    const [, at, text, named] = step;
    const scope = SCOPES[at] ?? {};
    const { id } = await store.putText(`text ${text}`, { scope, filename: NAMES[named] ?? null });
    ids.push({ id, scope });
    return;
  }
  const known = ids[step[1]];
  if (known === undefined) return;
  const { id, scope } = known;
  if (step[0] === "rename")
    await store.update(id, { filename: step[2] === null ? null : (NAMES[step[2]] ?? "") }, scope);
  if (step[0] === "delete") await store.delete(id, scope);
  const seen = step[0] === "evict" ? await store.stat(id, scope) : null;
  if (seen !== null) await store.evict(seen);
}

/** Of stores with limits, which remember what they evicted. */
function unlessExpired(error: unknown): void {
  if ((error as { readonly code?: unknown }).code !== "E_EXPIRED") throw error;
}

export function contractOfNaming(subject: () => Subject): void {
  const store = (): ArtifactStore => subject().store;

  describe("artifacts of one name", () => {
    test("are just those of a list that have it, whatever was stored, renamed and deleted", async () => {
      const property = fc.asyncProperty(steps, async (taking) => {
        const ids: { id: string; scope: ArtifactScope }[] = [];
        for (const step of taking) await taken(store(), step, ids).catch(unlessExpired);
        for (const scope of SCOPES) {
          const all = await listed(store().list(scope));
          for (const filename of NAMES) {
            const wanted = all.filter((each) => each.filename === filename).map(({ id }) => id);
            expect(await idsNamed(store(), scope, filename)).toEqual(wanted);
          }
        }
        for await (const { id, scope } of store().list()) await store().delete(id, scope);
      });
      await fc.assert(property, { numRuns: amount(3, 12) });
    }, 60_000);

    test("are all of them, of every scope, where no scope is said", async () => {
      for (const scope of SCOPES) await store().putText("x", { scope, filename: "a.txt" });
      await store().putText("y", { filename: "b.txt" });
      const found = await listed(store().list(undefined, { filename: "a.txt" }));
      expect(
        found.map(({ scope }) => scope.user_id).sort((left, right) => (String(left) < String(right) ? -1 : 1)),
      ).toEqual(["ada", "bob"]);
    });

    test("are found by whoever renames them at once", async () => {
      const [scope] = SCOPES;
      const { id } = await store().putText("x", { scope: scope ?? {}, filename: "a.txt" });
      for (let turn = 0; turn < 10; turn += 1) {
        await Promise.all(["a.txt", "A.txt"].map((filename) => store().update(id, { filename }, scope)));
        const now = (await store().stat(id, scope))?.filename ?? "";
        expect(await idsNamed(store(), scope ?? {}, now)).toEqual([id]);
        expect(await idsNamed(store(), scope ?? {}, now === "a.txt" ? "A.txt" : "a.txt")).toEqual([]);
      }
    });

    test("are asked for by a text", async () => {
      const list = listed(store().list({}, { filename: 5 } as never));
      await expect(list).rejects.toEqual(
        expect.objectContaining({ code: "E_INVALID_ARGUMENT", path: "only.filename" }),
      );
    });
  });
}
