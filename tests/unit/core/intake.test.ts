/** What the store does wrong must not become anyone's loss. */
import { describe, expect, test } from "vitest";
import { MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import type { ArtifactInfo, ArtifactPatch, ArtifactRef, ArtifactWriter } from "../../../web/src/artifacts/store.js";
import { SluiceError } from "../../../web/src/errors/error.js";
import { createSluice } from "../../../web/src/index.js";
import { base64, longestRun, PDF, PNG, prose, refsIn, textResult } from "./samples.js";

type Step = "open" | "write" | "close" | "update";

/** A store that fails at the nth of one step while `failing`, and counts the writers that were left open. */
class FailingStore extends MemoryArtifactStore {
  readonly #step: Step;
  readonly #error: unknown;
  #left: number;
  readonly open = new Set<FailingWriter>();
  failing = true;

  constructor(step: Step, nth: number, error: unknown) {
    super();
    this.#step = step;
    this.#left = nth;
    this.#error = error;
  }

  at(step: Step): void {
    if (!this.failing || step !== this.#step || --this.#left !== 0) return;
    throw this.#error;
  }

  override async openWriter(info?: ArtifactInfo): Promise<ArtifactWriter> {
    this.at("open");
    return new FailingWriter(this, await super.openWriter(info));
  }

  override async update(...args: Parameters<MemoryArtifactStore["update"]>): Promise<ArtifactRef | null> {
    this.at("update");
    return super.update(...args);
  }
}

class FailingWriter implements ArtifactWriter {
  readonly #store: FailingStore;
  readonly #writer: ArtifactWriter;

  constructor(store: FailingStore, writer: ArtifactWriter) {
    this.#store = store;
    this.#writer = writer;
    store.open.add(this);
  }

  async write(chunk: Uint8Array): Promise<void> {
    this.#store.at("write");
    await this.#writer.write(chunk);
  }

  async close(patch?: ArtifactPatch): Promise<ArtifactRef> {
    this.#store.at("close");
    const ref = await this.#writer.close(patch);
    this.#store.open.delete(this);
    return ref;
  }

  async abort(): Promise<void> {
    await this.#writer.abort();
    this.#store.open.delete(this);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.abort();
  }
}

const FULL = new SluiceError("E_STORE_FULL", "There is no room.");
const INPUT = { pdf: base64(PDF), log: prose(30_000), png: base64(PNG) };

describe.each([
  ["openWriter", "open", 1],
  ["the second openWriter", "open", 2],
  ["the first write", "write", 1],
  ["the second write", "write", 2],
  ["close", "close", 1],
  ["the last close", "close", 3],
] as const)("a store that fails at %s", (_, step, nth) => {
  test.each(["observation", "mcp"] as const)("fails the transform with its own code (%s)", async (dialect) => {
    const store = new FailingStore(step, nth, FULL);
    const sluice = await createSluice({ store });
    await expect(sluice.transform(INPUT, { dialect })).rejects.toBe(FULL);
    expect(store.open.size).toBe(0);
    store.failing = false;
    const { artifacts, text } = await sluice.transform(INPUT, { dialect });
    expect(artifacts).toHaveLength(3);
    expect(longestRun(text)).toBeLessThan(200);
    expect(store.open.size).toBe(0);
  });

  test("fails a stream, which then can only be disposed of", async () => {
    const store = new FailingStore(step, nth, FULL);
    const sluice = await createSluice({ store });
    const stream = sluice.open();
    const pushing = stream.write(Buffer.from(JSON.stringify(INPUT))).then(() => stream.close());
    await expect(pushing).rejects.toBe(FULL);
    await stream[Symbol.asyncDispose]();
    expect(store.open.size).toBe(0);
    expect((await sluice.transform("next")).value).toBe("next");
  });
});

test("what a store throws that is no SluiceError gets a code and keeps its cause", async () => {
  const cause = Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" });
  for (const step of ["open", "write", "close"] as const) {
    const sluice = await createSluice({ store: new FailingStore(step, 1, cause) });
    const failure: unknown = await sluice.transform(INPUT).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(SluiceError);
    expect(failure).toMatchObject({ code: "E_STORE_FULL", cause });
  }
});

test("a stream whose store failed does not go on as if nothing had happened", async () => {
  const store = new FailingStore("write", 1, FULL);
  const sluice = await createSluice({ store });
  const stream = sluice.open();
  await expect(stream.write(Buffer.from(`{"pdf":"${base64(PDF)}"`))).rejects.toBe(FULL);
  const goingOn = stream.write(Buffer.from("}")).then(() => stream.close());
  await expect(goingOn).rejects.toBeInstanceOf(SluiceError);
  await stream[Symbol.asyncDispose]();
  expect(store.open.size).toBe(0);
  expect(await refsIn(store)).toEqual([]);
});

describe("a store that fails after the document is through", () => {
  test("while it is told names and types", async () => {
    const store = new FailingStore("update", 1, FULL);
    const sluice = await createSluice({ store });
    await expect(sluice.transform(INPUT)).rejects.toBe(FULL);
    expect((await sluice.transform(INPUT)).artifacts).toHaveLength(3);
  });

  test("while the whole of a clamped observation is stored", async () => {
    const rows = Array.from({ length: 900 }, (_, n) => [prose(60), n]);
    const config = { auto_artifact_large_content: false };
    const healthy = await createSluice({ store: new MemoryArtifactStore(), config });
    expect(await healthy.transform(rows)).toMatchObject({ clamped: true, artifacts: [{ namespace: "artifact" }] });
    const store = new FailingStore("close", 1, FULL);
    const sluice = await createSluice({ store, config });
    await expect(sluice.transform(rows)).rejects.toBe(FULL);
    expect(store.open.size).toBe(0);
    expect(await refsIn(store)).toEqual([]);
  });
});

test("a failure of one transform is nothing to another that runs beside it", async () => {
  const store = new FailingStore("close", 1, FULL);
  const sluice = await createSluice({ store });
  const outcomes = await Promise.allSettled(
    [1, 2, 3, 4].map((n) => sluice.transform(textResult(`${n} ${base64(PDF)}`))),
  );
  expect(outcomes.map(({ status }) => status).sort()).toEqual(["fulfilled", "fulfilled", "fulfilled", "rejected"]);
  expect(await refsIn(store)).toHaveLength(1);
});
