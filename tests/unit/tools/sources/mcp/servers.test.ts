import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { McpSubscription, SubscriptionFilter } from "@modelcontextprotocol/client";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { isFull } from "../../../../support/full.js";
import type { ArtifactRef } from "../../../../../web/src/index.js";
import { McpListener } from "../../../../../web/src/tools/sources/mcp/notices.js";
import { ResultFacts } from "../../../../../web/src/tools/sources/mcp/tool-interceptor.js";
import { sha256Of } from "../../../../e2e/fixture/bytes.mjs";
import { serveFixture } from "../../../../e2e/serving.js";
import { printed } from "../../../../support/program.js";
import { ROOT } from "../../../cli/command.js";
import { STDIO, useConnection, call, processSource, until } from "./setting.js";

describe("the reference server", () => {
  const SERVERS = join(ROOT, "node_modules", "@modelcontextprotocol");
  const EVERYTHING = join(SERVERS, "server-everything", "dist", "index.js");

  describe("server-everything", () => {
    const own = useConnection((at) => processSource(at, { argv: [process.execPath, EVERYTHING, "stdio"] }));

    it("lists tools, and says which of them may be repeated", async () => {
      const tools = await own.connection.tools(new AbortController().signal);
      expect(tools.find(({ name }) => name === "get-tiny-image")).toMatchObject({ isRepeatable: true });
      expect(tools.some(({ isRepeatable }) => !isRepeatable)).toBe(true);
      expect(tools.find(({ name }) => name === "get-structured-content")?.output_schema).toMatchObject({
        type: "object",
      });
    });

    it("tells of progress", async () => {
      const told: number[] = [];
      const onProgress = ({ progress }: { readonly progress: number }): void => void told.push(progress);
      await call(own.connection, "trigger-long-running-operation", { duration: 0.3, steps: 3 }, { onProgress });
      expect(told).toEqual([1, 2, 3]);
    });

    it("is given up in the middle of a call", async () => {
      const abort = new AbortController();
      const long = call(
        own.connection,
        "trigger-long-running-operation",
        { duration: 60, steps: 600 },
        {
          signal: abort.signal,
          onProgress: () => abort.abort(new Error("enough")),
        },
      );
      await expect(long).rejects.toThrow("enough");
      expect((await call(own.connection, "echo", { message: "still there" })).reduced.text).toContain("still there");
    });

    it("lists, reads, completes and watches resources", async () => {
      const { resources } = own.connection;
      if (resources === undefined) throw new Error("no resources");
      const signal = AbortSignal.timeout(20_000);
      const [first] = await resources.list(signal);
      expect(first?.uri).toMatch(/^\w+:\/\//);
      const templates = await resources.templates(signal);
      const template = templates.find(({ uri_template }) => uri_template.includes("blob"))?.uri_template ?? "";
      const uri = template.replace(/\{\w+\}/, "1");
      const read = await resources.read(uri, { scope: {}, inlineChars: 1000, signal });
      expect(read.contents).toMatchObject([{ kind: "artifact", uri }]);
      const text = await resources.read(first?.uri ?? "", { scope: {}, inlineChars: 100_000, signal });
      expect(text.contents).toMatchObject([{ kind: "text" }]);
      await resources.subscribe(first?.uri ?? "", signal);
      await call(own.connection, "toggle-subscriber-updates");
      const told = await until(() => own.at.notices.find(({ kind }) => kind === "resource_updated"));
      expect(told).toEqual({ kind: "resource_updated", uri: first?.uri });
      await call(own.connection, "toggle-subscriber-updates");
      await resources.unsubscribe(first?.uri ?? "", signal);
    });
  });
});

describe("listening", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  /** A server's side: what is listened to, and what ends it. */
  function serverSide() {
    const open: { filter: SubscriptionFilter; end: (how: "graceful" | "remote") => void }[] = [];
    const state = { refuses: 0, open };
    const listen = async (filter: SubscriptionFilter): Promise<McpSubscription> => {
      if (state.refuses > 0) {
        state.refuses -= 1;
        throw new Error("refused");
      }
      let resolve!: (how: "local" | "graceful" | "remote") => void;
      const closed = new Promise<"local" | "graceful" | "remote">((settle) => (resolve = settle));
      const entry = {
        filter,
        end: (how: "local" | "graceful" | "remote") => {
          open.splice(open.indexOf(entry), 1);
          resolve(how);
        },
      };
      open.push(entry);
      return { honoredFilter: filter, closed, close: async () => entry.end("local") };
    };
    return { state, listen, filters: () => open.map(({ filter }) => filter) };
  }

  const A = { toolsListChanged: true };
  const B = { resourcesListChanged: true };
  const never = new AbortController().signal;

  it("listens to one filter in place of the one before", async () => {
    const { listen, filters } = serverSide();
    const listening = new McpListener(listen, () => undefined);
    await listening.to(A, never);
    await listening.to(B, never);
    expect(filters()).toEqual([B]);
    await listening.close();
    expect(filters()).toEqual([]);
  });

  it("keeps what it had where the server does not agree", async () => {
    const { listen, filters } = serverSide();
    const listening = new McpListener(listen, () => undefined);
    await listening.to(A, never);
    const refused = new Error("not that");
    await expect(
      listening.to(B, never, () => {
        throw refused;
      }),
    ).rejects.toBe(refused);
    expect(filters()).toEqual([A]);
  });

  it("listens again when the server ends it, and says that something may have been missed", async () => {
    const { listen, filters, state } = serverSide();
    let missed = 0;
    const listening = new McpListener(listen, () => (missed += 1));
    await listening.to(A, never);
    state.refuses = 2;
    state.open[0]?.end("remote");
    await vi.advanceTimersByTimeAsync(60_000);
    expect(filters()).toEqual([A]);
    expect(missed).toBe(1);
  });

  it("gives up in the end, and does not go on once it is closed", async () => {
    const { listen, filters, state } = serverSide();
    const listening = new McpListener(listen, () => undefined);
    await listening.to(A, never);
    state.refuses = 1000;
    state.open[0]?.end("graceful");
    await vi.advanceTimersByTimeAsync(1_000_000);
    expect(state.refuses).toBe(994);
    expect(vi.getTimerCount()).toBe(0);
    state.refuses = 0;
    await listening.to(B, never);
    state.open[0]?.end("remote");
    await listening.close();
    await vi.advanceTimersByTimeAsync(1_000_000);
    expect(filters()).toEqual([]);
  });
});

describe("memory", () => {
  const SIZE = 64 * 1024 * 1024;
  const PROGRAM = fileURLToPath(new URL("memory-program.mjs", import.meta.url));

  it.runIf(isFull).each(["stdio", "http"])(
    "64 MiB of bytes arrive over %s while the process grows by less than 60 MB",
    async (transport) => {
      const folder = await mkdtemp(join(tmpdir(), "sluice-memory-"));
      await using server = await serveFixture();
      try {
        const where = transport === "stdio" ? STDIO : server.url;
        const args = [PROGRAM, join(ROOT, "dist"), join(folder, "store"), String(SIZE), transport, where];
        const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
        const { text, artifacts, growth } = JSON.parse(await printed(child)) as {
          text: string;
          artifacts: ArtifactRef[];
          growth: number;
        };
        expect(artifacts).toMatchObject([{ size_bytes: SIZE, sha256: sha256Of("pdf", SIZE) }]);
        expect(text.length).toBeLessThan(1000);
        expect(growth).toBeLessThan(60_000_000);
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    },
  );
});

describe("facts of results", () => {
  function factsOf(text: string, cuts: readonly number[] = []): ResultFacts {
    const facts = new ResultFacts();
    const bytes = new TextEncoder().encode(text);
    const borders = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].toSorted((left, right) => left - right);
    let from = 0;
    for (const border of [...borders, bytes.length]) {
      facts.push(bytes.subarray(from, border));
      from = border;
    }
    return facts;
  }

  it("says what a reader of the whole message would say, however it is cut", () => {
    const result = fc.record(
      {
        content: fc.array(fc.record({ type: fc.constant("text"), text: fc.string() })),
        isError: fc.oneof(fc.boolean(), fc.constant("true"), fc.constant(null)),
        resultType: fc.constantFrom("complete", "input_required", "task", "é".repeat(40), 7, null),
        other: fc.jsonValue(),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(result, fc.array(fc.nat()), fc.boolean(), fc.constantFrom(0, 2), (value, cuts, idLast, indent) => {
        const rpc = { jsonrpc: "2.0", id: 1 };
        const text = JSON.stringify(idLast ? { result: value, ...rpc } : { ...rpc, result: value }, null, indent);
        const facts = factsOf(text, cuts);
        expect(facts.isError).toBe(value.isError === true);
        expect(facts.isComplete).toBe(value.resultType === undefined || value.resultType === "complete");
      }),
    );
  });

  it("takes the last of two of a name", () => {
    expect(factsOf('{"id":1,"result":{"isError":false,"isError":true}}').isError).toBe(true);
  });

  it("does not take a name for said where it stands deeper, or in an error", () => {
    expect(factsOf('{"id":1,"result":{"content":[{"isError":true}],"a":{"resultType":"task"}}}')).toMatchObject({
      isError: false,
      isComplete: true,
    });
    expect(factsOf('{"id":1,"error":{"isError":true}}').isError).toBe(false);
  });
});
