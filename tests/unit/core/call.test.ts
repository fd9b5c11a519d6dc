/** What is handed in wrongly is refused at once, with a code, the path and what is wanted instead. */
import { getEventListeners } from "node:events";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { FileArtifactStore } from "../../../web/src/artifacts/file/file-store.js";
import { onAbort, untilAborted, untilEither, untilLate } from "../../../web/src/core/abort.js";
import { createSluice, MemoryArtifactStore, type Sluice } from "../../../web/src/index.js";
import { noise } from "../artifacts/bytes.js";
import { mounted, unmounted } from "../artifacts/small-disk.js";
import { base64, PDF, refsIn, sha256 } from "./samples.js";

describe("one call", async () => {
  const store = new MemoryArtifactStore();
  const sluice: Sluice = await createSluice({ store });
  /** As untyped code hands things in. */
  const anyhow = sluice as unknown as Record<string, (...args: unknown[]) => unknown>;
  const refused = (path: string): object => ({ name: "SluiceError", code: "E_INVALID_ARGUMENT", path });

  const WRONG: readonly (readonly [path: string, options: unknown])[] = [
    ["options", null],
    ["options", "mcp"],
    ["tool", { tool: 7 }],
    ["tool", { tool: null }],
    ["dialect", { dialect: "poem" }],
    ["dialect", { dialect: true }],
    ["clientShowsImages", { clientShowsImages: "yes" }],
    ["readResource", { readResource: "file:///x" }],
    ["signal", { signal: {} }],
    ["namespace", { namespace: "a/b" }],
    ["namespace", { namespace: "" }],
    ["namespace", { namespace: ["n"] }],
    ["scope", { scope: "me" }],
    ["scope", { scope: null }],
    ["scope.user_id", { scope: { user_id: 7 } }],
    ["scope.tenant_id", { scope: { tenant_id: "t".repeat(2_000) } }],
    ["scope.foo", { scope: { foo: 1 } }],
    ["scope.userId", { scope: { user_id: "u", userId: "u" } }],
  ];

  describe.each(WRONG)("%s of %j", (path, options) => {
    test("is refused by transform, though nothing would be stored", async () => {
      await expect(anyhow["transform"]?.("small", options)).rejects.toMatchObject(refused(path));
    });

    test("is refused by open before the first byte", () => {
      expect(() => anyhow["open"]?.(options)).toThrow(expect.objectContaining(refused(path)));
    });
  });

  test("the sentence names the field and those that there are", async () => {
    const scope = { sessionId: "secret-session" } as object;
    const failure = sluice.transform({}, { scope });
    await expect(failure).rejects.toMatchObject({
      message: 'scope has no field "sessionId"; its fields are tenant_id, user_id, session_id and trace_id.',
    });
  });

  test("null fields of a scope, and options that are undefined, are none", async () => {
    const options = { tool: undefined, dialect: undefined, scope: { user_id: null }, signal: undefined };
    await expect(anyhow["transform"]?.("small", options)).resolves.toMatchObject({ value: "small" });
  });

  describe("a stream", () => {
    test.each([["text"], [null], [undefined], [7], [[0x7b, 0x7d]], [new ArrayBuffer(2)], [{ length: 2 }]])(
      "refuses %j as a chunk and goes on",
      async (chunk) => {
        const stream = sluice.open();
        await expect(stream.write(chunk as Uint8Array)).rejects.toMatchObject(refused("chunk"));
        await stream.write(new TextEncoder().encode("[1]"));
        expect((await stream.close()).value).toEqual([1]);
      },
    );

    test("takes bytes of another realm", async () => {
      const { runInNewContext } = await import("node:vm");
      const stream = sluice.open();
      await stream.write(runInNewContext("Uint8Array.of(0x5b, 0x31, 0x5d)") as Uint8Array);
      expect((await stream.close()).value).toEqual([1]);
    });
  });

  describe("what else is handed in", () => {
    test.each([
      ["restore without options", "restore", [{}, null], "options"],
      ["restore with an unknown scope field", "restore", [{}, { scope: { user: "u" } }], "scope.user"],
      ["restore with a scope that is none", "restore", [{}, { scope: 5 }], "scope"],
    ] as const)("%s", async (_, method, args, path) => {
      await expect(anyhow[method]?.(...args)).rejects.toMatchObject(refused(path));
    });

    test("restoreStream of a value", async () => {
      const stream = anyhow["restoreStream"]?.({ content: [] }) as AsyncIterator<Uint8Array>;
      await expect(stream.next()).rejects.toMatchObject(refused("json"));
    });

    test.each([
      ["text", ["%PDF-"], "head"],
      ["nothing", [], "head"],
      ["a size that is none", [new Uint8Array(4), "big"], "size"],
      ["a negative size", [new Uint8Array(4), -1], "size"],
    ] as const)("sniff of %s", async (_, args, path) => {
      await expect(anyhow["sniff"]?.(...args)).rejects.toThrow(expect.objectContaining(refused(path)));
      expect((await sluice.sniff(PDF.subarray(0, 64))).mime_type).toBe("application/pdf");
    });
  });

  describe("createSluice", () => {
    const cycle: Record<string, unknown> = {};
    cycle["tool_fields"] = cycle;

    test.each([
      [
        "a way to fail that is none",
        { onStoreFailure: "ignore" },
        { code: "E_INVALID_ARGUMENT", path: "onStoreFailure" },
      ],
      ["a store that is none", { store: {} }, { code: "E_INVALID_ARGUMENT", path: "store" }],
      ["a store that is a number", { store: 7 }, { code: "E_INVALID_ARGUMENT", path: "store" }],
      ["a configuration with a cycle", { config: cycle }, { code: "E_CONFIG_JSON" }],
      ["a configuration that is text", { config: "max_inline_size" }, { code: "E_CONFIG_JSON" }],
      ["no options", null, { code: "E_INVALID_ARGUMENT", path: "options" }],
    ])("refuses %s", async (_, options, error) => {
      await expect(createSluice(options as never)).rejects.toMatchObject({ name: "SluiceError", ...error });
    });
  });
});

/** Waiting ends when nobody wants the outcome, and leaves no listener behind. */
describe("given up", () => {
  const never = (): Promise<never> => new Promise(() => undefined);
  const late = (): Error => new Error("too late");

  test("work that is late is told so, and its caller too", async () => {
    let told: AbortSignal | undefined;
    const work = (signal: AbortSignal): Promise<never> => {
      told = signal;
      return never();
    };
    await expect(untilLate(work, { most: 1, late, signal: undefined })).rejects.toThrow("too late");
    expect(told?.reason).toEqual(late());
  });

  test("work that its caller gives up is told why, and not what becomes of the caller later", async () => {
    const reasons: unknown[] = [];
    const caller = new AbortController();
    const terms = { most: 60_000, late, signal: caller.signal };
    const done = await untilLate(async (signal) => signal, terms);
    const waiting = untilLate((signal) => {
      onAbort(signal, () => reasons.push(signal.reason));
      return never();
    }, terms);
    caller.abort("enough");
    await expect(waiting).rejects.toBe("enough");
    expect([reasons, done.aborted]).toEqual([["enough"], false]);
  });

  test("nothing is begun for a caller who has given up", async () => {
    let begun = 0;
    const work = async (): Promise<void> => void (begun += 1);
    const signal = AbortSignal.abort("enough");
    await expect(untilLate(work, { most: 1000, late, signal })).rejects.toBe("enough");
    expect(begun).toBe(0);
  });

  test("the first of several signals ends it, one that is aborted already at once", async () => {
    const [first, second] = [new AbortController(), new AbortController()];
    const signals = [undefined, first.signal, second.signal];
    const waiting = untilEither(signals, (signal) => untilAborted(never(), signal));
    second.abort("second");
    first.abort("first");
    await expect(waiting).rejects.toBe("second");
    expect(await untilEither(signals, async (signal) => signal.reason as unknown)).toBe("first");
  });

  test("however many wait with one signal, it has one listener", async () => {
    const caller = new AbortController();
    const all = Array.from({ length: 50 }, () => untilLate(never, { most: 60_000, late, signal: caller.signal }));
    expect(getEventListeners(caller.signal, "abort")).toHaveLength(1);
    caller.abort("enough");
    const outcomes = await Promise.allSettled(all);
    expect(new Set(outcomes.map((outcome) => outcome.status === "rejected" && outcome.reason))).toEqual(
      new Set(["enough"]),
    );
  });
});

/** A disk that is full: answers come while it is, and artifacts again when there is room. */
describe("a disk that is full", () => {
  const MIB = 1024 * 1024;
  const pdf = (mebibytes: number, seed: number): Buffer =>
    Buffer.concat([Buffer.from("%PDF-1.7\n"), noise(mebibytes * MIB, seed)]);

  /** Files above a limit are what the command's tests fail at where nothing can be mounted. */
  const folder = mounted(4);

  describe.skipIf(folder === undefined)("a disk of 4 MiB", () => {
    const disk = folder ?? "";
    afterAll(() => {
      unmounted(disk);
    });

    test.each(["observation", "mcp"] as const)(
      "keeps what fits, says of the rest that it does not (%s)",
      async (dialect) => {
        const root = await mkdtemp(join(disk, "store-"));
        const store = new FileArtifactStore(root);
        const sluice = await createSluice({ store });
        const files = [pdf(1, 1), pdf(2, 2), pdf(3, 3), pdf(1, 4).subarray(0, 3_000)];
        const { text, artifacts, failures } = await sluice.transform(
          { files: files.map(base64), note: "kept" },
          { dialect },
        );
        expect(failures).toMatchObject([
          { code: "E_STORE_FULL", message: expect.stringContaining("free some disk space") },
        ]);
        expect(artifacts.map(({ source }) => source["truncated"] ?? false)).toEqual([false, false, true, false]);
        expect(artifacts.map(({ size_bytes }) => size_bytes)).toEqual(files.map(({ length }) => length));
        expect(text).toContain("kept");
        expect(text).toContain(artifacts[2]?.id);
        expect(await readdir(join(root, "tmp"))).toEqual([]);
        const kept = await refsIn(store);
        expect(kept).toHaveLength(3);
        for (const { id, sha256: hash } of kept) expect(sha256((await store.get(id)) ?? Buffer.of())).toBe(hash);
        await store.purge();
      },
    );

    test("answers when not one byte more fits, and stores again when there is room", async () => {
      const store = new FileArtifactStore(join(disk, "store"));
      const sluice = await createSluice({ store });
      const ballast = join(disk, "ballast");
      await writeFile(ballast, noise(8 * MIB)).catch(() => undefined);
      const input = { small: base64(pdf(0, 7)), text: "word ".repeat(4_000), large: base64(pdf(1, 8)) };
      const full = await sluice.transform({ ...input, small: base64(noise(3_000, 9)) });
      expect(full.failures).toMatchObject([{ code: "E_STORE_FULL" }]);
      expect(full.artifacts.every(({ source }) => source["truncated"] === true)).toBe(true);
      await rm(ballast);
      const again = await sluice.transform(input);
      expect(again.failures).toEqual([]);
      expect(again.artifacts.some(({ source }) => source["truncated"] === true)).toBe(false);
    });
  });
});
