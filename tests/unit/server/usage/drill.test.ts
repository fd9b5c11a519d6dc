import { request } from "node:http";
import * as fc from "fast-check";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { MemoryArtifactStore } from "../../../../web/src/index.js";
import { listen, memoryState, SluiceServer, type SluiceServerOptions } from "../../../../web/src/serve.js";
import { MemoryUsageRegister } from "../../../../web/src/server/usage/usage-register.js";
import { keyOfUser } from "../../../../web/src/server/sessions/session-register.js";
import { noise } from "../../artifacts/bytes.js";
import { amount } from "../../../support/full.js";
import { anyText } from "../any-text.js";
import { SECRET } from "../chat/chatting.js";
import { served, visitor } from "../sources/serving.js";
import { byHeaders, Visitor } from "../visitor.js";

// What somebody tries who wants more than they may have, or another's.

type Use = Readonly<Record<string, { readonly used: number; readonly limit: number }>>;

const useOf = async (by: Visitor): Promise<Use> => (await by.json<{ limits: Use }>("/usage")).limits;
const range = (count: number): readonly number[] => Array.from({ length: count }, (_, at) => at);
const put = (by: Visitor, bytes: number, seed: number, path = "/artifacts"): Promise<Response> =>
  by.ask(path, { method: "POST", body: noise(bytes, seed) });

describe("whose use it is", () => {
  test("no two users share a count, whatever their ids and tenants are", () => {
    const name = fc.oneof(fc.constantFrom("", "ada", "acme", '["acme","ada"]', '","', "ada|b", "null"), anyText(12));
    const user = fc.record({ user_id: name, tenant_id: fc.option(name) });
    fc.assert(
      fc.property(user, user, (one, other) => {
        const isSame = one.user_id === other.user_id && one.tenant_id === other.tenant_id;
        expect(keyOfUser(one) === keyOfUser(other)).toBe(isSame);
      }),
      { numRuns: amount(500, 5000) },
    );
  });

  test.each([
    ["another case", "Ada"],
    ["white space", "ada%20"],
    ["letters that are composed otherwise", "a%CC%81da"],
    ["a look-alike", "%D0%B0da"],
    ["a zero-width character", "ada%E2%80%8B"],
    ["the key of a user with a tenant", '["acme","ada"]'],
    ["the key of a store", "{sluice}:1:usage"],
  ])("%s is somebody else, who sees nothing of ada's", async (_, user) => {
    const authenticate = ({ headers }: Request) => ({ user_id: decodeURIComponent(headers.get("x-user") ?? "") });
    const serving = served({ userLimits: { artifactBytes: 1000, sessions: 1 }, authenticate });
    const ada = await visitor(serving);
    await put(ada, 1000, 1);
    const other = await visitor(serving, user);
    expect(await useOf(other)).toEqual({
      sessions: { used: 1, limit: 1 },
      artifact_bytes: { used: 0, limit: 1000 },
    });
    expect((await put(other, 1000, 1)).status).toBe(201);
  });

  test("headers, queries and bodies of a session say nothing of whose use is shown", async () => {
    const serving = served({ userLimits: { artifactBytes: 1000 } });
    const [ada, eve] = [await visitor(serving), await visitor(serving, "eve")];
    await put(ada, 700, 1);
    const tricks: readonly (readonly [string, RequestInit])[] = [
      ["/usage", { headers: { "x-user": "ada" } }],
      ["/usage?user_id=ada&user=ada&tenant_id=", {}],
      ["/usage/", { headers: { "x-forwarded-user": "ada", forwarded: "for=ada" } }],
    ];
    for (const [path, init] of tricks) {
      expect(await eve.json(path, init)).toEqual({ limits: { artifact_bytes: { used: 0, limit: 1000 } } });
    }
    for (const path of ["/usage/ada", "/usage/..%2fusage", '/usage/["acme","ada"]']) {
      expect((await eve.ask(path)).status).toBe(404);
    }
    for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
      expect((await eve.ask("/usage", { method })).status).toBe(405);
    }
    expect((await serving.server.fetch(new Request("http://127.0.0.1:8080/usage"))).status).toBe(401);
  });

  test("nothing that is told of a limit names a user, a tenant or a session", async () => {
    const serving = served({ userLimits: { artifactBytes: 10 } });
    const by = await Visitor.of(serving.server, { user: "ada.lovelace", tenant: "acme-corp" });
    const said = [await (await put(by, 100, 1)).text(), await (await by.ask("/usage")).text()].join(" ");
    expect(said).not.toMatch(/lovelace|acme/);
    expect(said).not.toContain(by.id);
  });
});

describe("bytes", () => {
  interface Raw {
    readonly status: number | string;
    readonly text: string;
  }

  /** Sends a request as it is written, over a real connection. */
  function raw(
    port: number,
    token: string,
    headers: Record<string, string>,
    pieces: Iterable<Uint8Array>,
  ): Promise<Raw> {
    return new Promise((resolve) => {
      const sent = request({
        port,
        host: "127.0.0.1",
        method: "POST",
        path: "/artifacts",
        headers: { authorization: `Bearer ${token}`, ...headers },
      });
      sent.on("response", (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (piece: string) => (text += piece));
        response.on("close", () => resolve({ status: response.statusCode ?? 0, text }));
      });
      sent.on("error", (error: NodeJS.ErrnoException) => resolve({ status: error.code ?? "failed", text: "" }));
      const source = pieces[Symbol.iterator]();
      const next = (): void => {
        for (;;) {
          const { done, value } = source.next();
          if (done === true) return void sent.end();
          if (!sent.write(value)) return void sent.once("drain", next);
        }
      };
      next();
    });
  }

  async function listening(userLimits: NonNullable<SluiceServerOptions["userLimits"]>) {
    const store = new MemoryArtifactStore();
    const server = new SluiceServer({ store, authenticate: byHeaders, userLimits });
    const service = await listen(server, { host: "127.0.0.1", port: 0 });
    onTestFinished(async () => {
      await service[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    });
    return { port: service.port, store, by: await Visitor.at(service.port, { user: "ada" }) };
  }

  const listed = async (store: MemoryArtifactStore): Promise<number> => {
    let count = 0;
    for await (const { id } of store.list()) count += id === "" ? 0 : 1;
    return count;
  };

  test("of a body without a length are stopped at the limit, and nothing remains", async () => {
    const { port, store, by } = await listening({ artifactBytes: 100_000 });
    let sent = 0;
    const endless = function* (): Generator<Uint8Array> {
      for (; sent < 30_000_000; sent += 16_384) yield noise(16_384, sent);
    };
    const { status } = await raw(port, by.token, { "transfer-encoding": "chunked" }, endless());
    expect([507, "ECONNRESET", "EPIPE"]).toContain(status);
    await vi.waitFor(async () => expect(await useOf(by)).toEqual({ artifact_bytes: { used: 0, limit: 100_000 } }));
    expect(await listed(store)).toBe(0);
    expect((await put(by, 100_000, 1)).status).toBe(201);
  });

  test.each(["-1", "NaN", "1e3", "0x10", "18446744073709551617", "1, 2"])(
    "with a Content-Length of %s are refused or counted as they come",
    async (length) => {
      const { port, store, by } = await listening({ artifactBytes: 1000 });
      const { status } = await raw(port, by.token, { "content-length": length }, [noise(2000, 1)]).catch(() => ({
        status: "refused",
      }));
      expect(status).not.toBe(201);
      expect(await listed(store)).toBe(0);
      expect((await useOf(by))["artifact_bytes"]?.used).toBe(0);
    },
  );

  test("that break off are given back at once", async () => {
    const serving = served({
      userLimits: { artifactBytes: 100_000, fileBytes: 100_000 },
      filesStore: new MemoryArtifactStore(),
    });
    const by = await visitor(serving);
    for (const path of ["/artifacts", "/files?filename=a"]) {
      const body = new ReadableStream({
        start: (controller) => controller.enqueue(noise(90_000, 1)),
        pull: () => new Promise((_, reject) => setTimeout(() => reject(new Error("gone")), 50)),
      });
      await by.ask(path, { method: "POST", body }).catch(() => undefined);
    }
    await vi.waitFor(async () => {
      expect(Object.values(await useOf(by)).map(({ used }) => used)).toEqual([0, 0]);
    });
    expect((await put(by, 100_000, 1)).status).toBe(201);
    expect((await put(by, 100_000, 1, "/files?filename=a")).status).toBe(201);
  });
});

describe("at once", () => {
  test("a thousand sessions begin as many as may be", async () => {
    const serving = served({ userLimits: { sessions: 25 }, limits: { sessionsPerMinute: 10_000 } });
    const begun = await Promise.all(
      range(1000).map(() =>
        visitor(serving).then(
          (by) => by,
          () => null,
        ),
      ),
    );
    const living = begun.filter((by) => by !== null);
    expect(living).toHaveLength(25);
    expect((await useOf(living[0] as Visitor))["sessions"]).toEqual({ used: 25, limit: 25 });
  });

  test.each([
    ["one process", 1],
    ["two processes that share their state and their store", 2],
  ])(
    "uploads race at the border in %s: all that fit are stored, and no byte beyond",
    { timeout: 60_000 },
    async (_, count) => {
      const [state, store, filesStore] = [memoryState(), new MemoryArtifactStore(), new MemoryArtifactStore()];
      const shared = { state: { ...state, isShared: count > 1 }, store, filesStore, secret: SECRET };
      const options = { ...shared, userLimits: { artifactBytes: 50_000, fileBytes: 50_000, files: 4 } };
      const people = await Promise.all(range(count).map(() => visitor(served(options))));
      const each = (at: number): Visitor => people[at % count] as Visitor;
      const artifacts = await Promise.all(range(40).map((at) => put(each(at), 5000, at)));
      expect(artifacts.filter(({ status }) => status === 201)).toHaveLength(10);
      const files = await Promise.all(range(20).map((at) => put(each(at), 5000, at, `/files?filename=f${at}`)));
      expect(files.filter(({ status }) => status === 201)).toHaveLength(4);
      for (const by of people) {
        const { artifact_bytes, files: named } = await useOf(by);
        expect([artifact_bytes?.used, named?.used]).toEqual([50_000, 4]);
      }
    },
  );

  test("a file that is deleted while another version of it comes is one more file, and refused", async () => {
    const serving = served({ filesStore: new MemoryArtifactStore(), userLimits: { files: 1 } });
    const by = await visitor(serving);
    const { file } = (await (await put(by, 10, 1, "/files?filename=a")).json()) as { file: { id: string } };
    let go = (): void => undefined;
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(noise(10, 2));
        go = () => controller.close();
      },
    });
    const coming = by.ask("/files?filename=a", { method: "POST", body });
    await by.ask(`/files/${file.id}`, { method: "DELETE" });
    expect((await put(by, 10, 3, "/files?filename=b")).status).toBe(201);
    go();
    expect((await coming).status).toBe(507);
    expect(await useOf(by)).toEqual({ files: { used: 1, limit: 1 } });
  });

  test("deleting while others store never lets more be there than may be", { timeout: 60_000 }, async () => {
    const store = new MemoryArtifactStore();
    const serving = served({ store, userLimits: { artifactBytes: 20_000 } });
    const by = await visitor(serving);
    let most = 0;
    const look = async (): Promise<void> => {
      let sum = 0;
      for await (const { size_bytes } of store.list()) sum += size_bytes;
      most = Math.max(most, sum);
    };
    await Promise.all(
      range(8).map(async (hand) => {
        for (let turn = 0; turn < amount(12, 60); turn++) {
          const answer = await put(by, 3000 + hand, hand * 1000 + turn);
          await look();
          const { artifact } = (await answer.json()) as { artifact?: { id: string } };
          if (artifact === undefined) continue;
          if (turn % 2 === 0) await by.ask(`/artifacts/${artifact.id}`, { method: "DELETE" });
        }
      }),
    );
    expect(most).toBeLessThanOrEqual(20_000);
    expect(most).toBeGreaterThan(15_000);
    let sum = 0;
    for await (const { size_bytes } of store.list()) sum += size_bytes;
    expect((await useOf(by))["artifact_bytes"]?.used).toBe(sum);
  });
});

describe("time", () => {
  test("a machine whose clock is set back or ahead counts on as before", async () => {
    let now = Date.now();
    vi.spyOn(Date, "now").mockImplementation(() => now);
    onTestFinished(() => void vi.restoreAllMocks());
    const serving = served({ userLimits: { requestsPerDay: 4, artifactBytes: 1000 } });
    const by = await visitor(serving);
    await put(by, 900, 1);
    for (const jump of [1_800_000, -1_200_000]) {
      // Within the time of the session and of the artifact.
      now += jump;
      expect((await put(by, 900, 2)).status).toBe(507);
    }
    expect((await by.ask("/sources")).status).toBe(429);
  });

  test("a register whose clock jumps ahead loses leases, which come again with their processes", async () => {
    let now = 0;
    const register = new MemoryUsageRegister(() => now);
    const lease = { process: "p", id: "1" };
    const claim = { kind: "artifactBytes", amount: 90, most: 100, known: { amount: 0, ageMs: 0 } } as const;
    await register.take("ada", lease, [claim]);
    now += 3_600_000;
    await register.renew("ada", [{ ...lease, amounts: { artifactBytes: 90 } }]);
    expect((await register.take("ada", { process: "q", id: "1" }, [claim])).refused).toBe(0);
    now -= 7_200_000;
    expect((await register.take("ada", { process: "q", id: "1" }, [claim])).refused).toBe(0);
  });
});
