/** Failure is an answer: whatever the document, and whichever call on the store fails. */
import { CallToolResultSchema } from "@modelcontextprotocol/sdk/types.js";
import fc from "fast-check";
import { expect, test } from "vitest";
import { MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import type { ArtifactStore } from "../../../web/src/artifacts/store.js";
import { SluiceError } from "../../../web/src/errors/error.js";
import { createSluice, type Dialect, type TransformOptions } from "../../../web/src/index.js";
import { documents, results, type Json } from "./documents.js";
import { faulty, type Call, type Fault, type Watched } from "./faulty-store.js";
import { base64, longestRun, PDF, PNG, prose, refsIn, sha256 } from "./samples.js";
import { amount } from "../../support/full.js";

const CONFIG = {
  auto_artifact_large_content: true,
  resources: { auto_read_if_size_under_bytes: 1_000_000 },
  guardrail: { max_observation_chars: 4_000, auto_artifact_threshold: 4_000 },
};

/** What stores throw: errors of ours, of the system, and of nobody. */
const ERRORS: readonly (() => unknown)[] = [
  () => new SluiceError("E_TOO_LARGE", "The artifact is larger than allowed: raise the limit."),
  () => Object.assign(new Error("ENOSPC: /secret/path"), { code: "ENOSPC" }),
  () => new TypeError("cannot read properties of undefined (reading 'secret')"),
  () => "secret",
  () => undefined,
];

const linked: Json = {
  content: [
    { type: "resource_link", uri: "file:///a.txt", name: "a", size: 500 },
    { type: "image", data: "ACGT".repeat(9_000), mimeType: "image/png" },
  ],
};
const input = fc.oneof(
  documents,
  results,
  fc.constantFrom<Json>(linked, [base64(PDF), { log: prose(20_000), png: base64(PNG) }], {
    log: `${prose(15_000)}${base64(PDF)} ${prose(15_000)}`,
  }),
);

const readResource = (uri: string): Promise<unknown> =>
  Promise.resolve({
    contents: [
      { uri, text: prose(12_000) },
      { uri, blob: base64(PNG) },
    ],
  });

/** A watched store whose fault can be set later. */
function switched(): Watched & { readonly memory: ArtifactStore; fault: Fault } {
  const memory = new MemoryArtifactStore();
  const holder = { fault: (): unknown => undefined };
  const watched = faulty(memory, (call, number) => (holder.fault as Fault)(call, number));
  return Object.assign(holder, watched, { memory });
}

/** Fails one call of those to come, and remembers which it was. */
function failOne(at: number, error: () => unknown): { readonly fault: Fault; hit: Call | undefined } {
  let left = at;
  const one = {
    hit: undefined as Call | undefined,
    fault: (call: Call): void => {
      if ((left -= 1) !== 0) return;
      one.hit = call;
      throw error();
    },
  };
  return one;
}

/** Calls of a message whose failure loses nothing: clearing up, and a last look at what is stored. */
const HARMLESS: readonly (Call | undefined)[] = [undefined, "abort", "stat"];
/** Whether something is lost by it. */
const costs = ({ hit }: { readonly hit: Call | undefined }): boolean => !HARMLESS.includes(hit);
const isResult = (value: unknown): boolean => CallToolResultSchema.safeParse(value).success;

async function readable(store: ArtifactStore): Promise<ReadonlySet<string>> {
  const ids = new Set<string>();
  for (const ref of await refsIn(store)) {
    expect(sha256((await store.get(ref.id, ref.scope)) ?? Buffer.from("gone"))).toBe(ref.sha256);
    ids.add(ref.id);
  }
  return ids;
}

async function empty(store: ArtifactStore): Promise<void> {
  for (const { id, scope } of await refsIn(store)) await store.delete(id, scope);
}

test("an answer comes, nothing half-written stays, and what is not stored is said not to be", async () => {
  const all = switched();
  const { store, memory, open } = all;
  const sluice = await createSluice({ store, config: CONFIG });
  const property = fc.asyncProperty(
    input,
    fc.constantFrom<Dialect>("observation", "mcp"),
    fc.nat(),
    fc.constantFrom(...ERRORS),
    async (document, dialect, which, error) => {
      const options: TransformOptions = { dialect, namespace: "f", readResource };
      all.fault = () => undefined;
      const before = all.calls.length;
      const healthy = await sluice.transform(document, options);
      const calls = all.calls.length - before;
      // What the store knows already takes fewer calls.
      await empty(memory);
      const one = failOne(1 + (which % Math.max(1, calls)), error);
      all.fault = one.fault;
      const opened = open.size;
      const answer = await sluice.transform(document, options);

      // A writer whose abort fails is left to the store's own clean-up.
      expect(open.size - opened).toBe(one.hit === "abort" ? 1 : 0);
      expect(one.hit !== undefined).toBe(calls > 0);
      expect(answer.failures.length).toBe(costs(one) ? 1 : 0);
      for (const failure of answer.failures) {
        expect(failure).toBeInstanceOf(SluiceError);
        expect(failure.message).not.toContain("secret");
      }
      expect(answer.text).not.toContain("secret");
      const limit = dialect === "observation" ? 4_000 : Number.POSITIVE_INFINITY;
      expect(Array.from(answer.text).length).toBeLessThanOrEqual(limit);
      // What was clamped and cannot be stored as a whole stays as it was clamped, one long word included. Zeros, which
      // are one letter in base64, are shown as any text that is not stored.
      const run = healthy.clamped ? limit : Math.max(500, longestRun(healthy.text));
      expect(longestRun(answer.text.replaceAll(/A{500,}/g, ""))).toBeLessThanOrEqual(run);
      expect(dialect === "mcp" && isResult(healthy.value) && !isResult(answer.value)).toBe(false);
      const ids = await readable(memory);
      for (const { id, source } of answer.artifacts) expect(ids.has(id)).toBe(source["truncated"] !== true);

      all.fault = () => undefined;
      expect((await sluice.transform(document, options)).text).toBe(healthy.text);
      await empty(memory);
    },
  );
  await fc.assert(property, { numRuns: amount(60, 250) });
});

test("where failures are thrown, a coded one is, nothing half-written stays, and the next result is none the worse", async () => {
  const all = switched();
  const sluice = await createSluice({ store: all.store, config: CONFIG, onStoreFailure: "throw" });
  const property = fc.asyncProperty(
    input,
    fc.constantFrom<Dialect>("observation", "mcp"),
    fc.integer({ min: 1, max: 30 }),
    fc.constantFrom(...ERRORS),
    async (document, dialect, which, error) => {
      const options: TransformOptions = { dialect, namespace: "f", readResource };
      const one = failOne(which, error);
      all.fault = one.fault;
      const outcome = await sluice.transform(document, options).catch((thrown: unknown) => thrown);
      expect(outcome instanceof SluiceError).toBe(costs(one));
      expect(all.open.size).toBe(0);
      all.fault = () => undefined;
      expect((await sluice.transform(document, options)).failures).toEqual([]);
      await readable(all.memory);
    },
  );
  await fc.assert(property, { numRuns: amount(30, 100) });
});

test("restore gives back the original, or a coded error, whichever read fails", async () => {
  const all = switched();
  const { store } = all;
  const sluice = await createSluice({ store });
  const property = fc.asyncProperty(
    input,
    fc.integer({ min: 1, max: 12 }),
    fc.constantFrom(...ERRORS),
    async (document, which, error) => {
      all.fault = () => undefined;
      const { value } = await sluice.transform(document, { dialect: "mcp" });
      const one = failOne(which, error);
      all.fault = one.fault;
      const outcome = await sluice.restore(value).catch((thrown: unknown) => thrown);
      const said = outcome instanceof SluiceError ? outcome.message : JSON.stringify(outcome);
      expect(outcome instanceof SluiceError).toBe(one.hit !== undefined);
      expect(outcome instanceof SluiceError || said === JSON.stringify(document)).toBe(true);
      expect(said).not.toContain("secret");
      all.fault = () => undefined;
      expect(JSON.stringify(await sluice.restore(value))).toBe(JSON.stringify(document));
      for (const { id, scope } of await refsIn(all.memory)) await all.memory.delete(id, scope);
    },
  );
  await fc.assert(property, { numRuns: amount(30, 100) });
});
