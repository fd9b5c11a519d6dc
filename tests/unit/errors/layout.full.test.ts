/** Stores that outlive their program, and what they say of their version: real folders, a real Redis, a real S3 service. */
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DeleteObjectCommand, GetObjectCommand, PutObjectCommand } from "@aws-sdk/client-s3";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { FileArtifactStore, FileStateStore } from "../../../web/src/node.js";
import { RedisStateStore } from "../../../web/src/planner/redis-state-store.js";
import { redisState } from "../../../web/src/serve-redis.js";
import { BUCKET, CREDENTIALS, TestS3 } from "../artifacts/s3/ceph.js";
import { Room, sluice } from "../cli/command.js";
import { begin, serve } from "../cli/serve/serving.js";
import { TestRedis } from "../redis/redis-server.js";

let s3: TestS3;
let redis: TestRedis;
beforeAll(async () => {
  [s3, redis] = await Promise.all([TestS3.started(), TestRedis.started()]);
}, 60_000);
afterAll(() => Promise.all([s3[Symbol.asyncDispose](), redis[Symbol.asyncDispose]()]));

const LONG = { timeout: 60_000 };
const SECRET = "s".repeat(40);
const ID = "sluice_000000000000";

/** A store as a program has it, and as somebody sees it who looks at its files, objects or keys. */
interface Kept {
  /** Another program's, over the same. */
  readonly open: () => { readonly write: () => Promise<unknown>; readonly read: () => Promise<unknown> };
  /** The text that says the version; null if there is none. */
  readonly marker: () => Promise<string | null>;
  readonly mark: (text: string | null) => Promise<void>;
  /** The names of all that is kept. */
  readonly all: () => Promise<readonly string[]>;
  /** What no message may show. */
  readonly secret: string;
}

const orNull = async <T>(work: Promise<T>): Promise<T | null> => work.catch(() => null);

async function folder(kind: "artifact" | "state"): Promise<Kept> {
  const room = await Room.open();
  onTestFinished(() => room[Symbol.asyncDispose]());
  const file = join(room.store, `sluice-${kind === "state" ? "state" : "store"}.json`);
  return {
    open: () => {
      const store = kind === "state" ? new FileStateStore(room.store) : new FileArtifactStore(room.store);
      return store instanceof FileStateStore ? ofState(store) : ofArtifacts(store);
    },
    marker: () => orNull(readFile(file, "utf8")),
    mark: (text) => (text === null ? rm(file) : writeFile(file, text)),
    all: async () => ((await orNull(readdir(room.store, { recursive: true }))) ?? []).toSorted(),
    secret: room.folder,
  };
}

const ofState = (store: FileStateStore | RedisStateStore) => ({
  write: () => store.savePlannerState("token", "kept"),
  read: () => store.loadPlannerState("token"),
});
const ofArtifacts = (store: FileArtifactStore | ReturnType<TestS3["store"]>) => ({
  write: () => store.putText("kept"),
  read: async () => {
    for await (const { id } of store.list()) return new TextDecoder().decode((await store.get(id)) ?? undefined);
    return null;
  },
});

async function bucket(): Promise<Kept> {
  const prefix = s3.prefix();
  const at = { Bucket: BUCKET, Key: `${prefix}/sluice-store.json` };
  return {
    open: () => {
      const store = s3.store({ prefix });
      onTestFinished(() => store.close());
      return ofArtifacts(store);
    },
    marker: async () => {
      const found = await orNull(s3.client.send(new GetObjectCommand(at)));
      return (await found?.Body?.transformToString()) ?? null;
    },
    mark: async (text) => {
      const command = text === null ? new DeleteObjectCommand(at) : new PutObjectCommand({ ...at, Body: text });
      await (s3.client as { send: (given: unknown) => Promise<unknown> }).send(command);
    },
    all: () => s3.keys(prefix),
    secret: prefix,
  };
}

async function inRedis(open: Kept["open"]): Promise<Kept> {
  await redis.command("FLUSHALL");
  return {
    open,
    marker: async () => (await redis.command("GET", "{sluice}:version")) as string | null,
    mark: async (text) => {
      await redis.command(...(text === null ? ["DEL"] : ["SET"]), "{sluice}:version", ...(text === null ? [] : [text]));
    },
    all: () => redis.keys(),
    secret: "{sluice}",
  };
}

const KINDS: readonly (readonly [name: string, kind: string, open: () => Promise<Kept>])[] = [
  ["a folder of artifacts", "artifact store", () => folder("artifact")],
  ["a folder of a planner's state", "state store", () => folder("state")],
  ["a bucket", "artifact store", bucket],
  [
    "a planner's state in Redis",
    "state",
    () =>
      inRedis(() => {
        const store = new RedisStateStore({ url: redis.url });
        onTestFinished(() => store[Symbol.asyncDispose]());
        return ofState(store);
      }),
  ],
  [
    "a server's state in Redis",
    "state",
    () =>
      inRedis(() => {
        const state = redisState({ url: redis.url, secret: SECRET });
        onTestFinished(() => state[Symbol.asyncDispose]());
        const session = {
          id: "s",
          identity: { user_id: "ada" },
          begun_at: Date.now(),
          expires_at: Date.now() + 60_000,
        };
        return {
          write: () => state.sessions.begin(session),
          read: async () => ((await state.sessions.find("s")) === null ? null : "kept"),
        };
      }),
  ],
];

describe.each(KINDS)("%s", LONG, (name, kind, opened) => {
  const text = (version: number): string => `{"sluice":"${kind}","version":${version}}`;

  test("that is new says its version, also where many begin it at once", async () => {
    const kept = await opened();
    expect(await kept.open().read()).toBeNull();
    expect(await kept.marker()).toBeNull();
    await Promise.all(Array.from({ length: 8 }, () => kept.open().write()));
    expect((await kept.marker())?.trim()).toBe(text(1));
    expect(await kept.open().read()).toBe("kept");
  });

  test("of a newer version is refused before anything is read or written, with what to do", async () => {
    const kept = await opened();
    await kept.open().write();
    await kept.mark(text(2));
    const before = await kept.all();
    const other = kept.open();
    for (const work of [other.read, other.write, other.write]) {
      const error = await work().then(
        () => undefined,
        (thrown: unknown) => thrown as Error,
      );
      expect(error).toMatchObject({
        code: "E_STORE_READ",
        message: expect.stringMatching(/^A newer version of Sluice made this store: update Sluice, or use another /),
      });
      expect(error?.message).not.toContain(kept.secret);
    }
    expect([await kept.all(), await kept.marker()]).toEqual([before, text(2)]);
  });

  test("with something in place of its version is refused too", async () => {
    const kept = await opened();
    await kept.open().write();
    await kept.mark('{"version":"1"}');
    await expect(kept.open().read()).rejects.toMatchObject({ code: "E_STORE_CORRUPT" });
    await expect(kept.open().write()).rejects.toMatchObject({ code: "E_STORE_CORRUPT" });
  });

  // A folder without it is no store: it may be anybody's.
  if (kind !== "state" && name !== "a bucket") return;

  test("that was made before there were versions is the first, and says so from the next write on", async () => {
    const kept = await opened();
    await kept.open().write();
    await kept.mark(null);
    const other = kept.open();
    expect(await other.read()).toBe("kept");
    expect(await kept.marker()).toBeNull();
    await other.write();
    expect((await kept.marker())?.trim()).toBe(text(1));
  });
});

describe("what it costs", LONG, () => {
  test("a store in a bucket looks once, and writes its version once", async () => {
    const prefix = s3.prefix();
    const sent: string[] = [];
    s3.client.middlewareStack.add(
      (next, { commandName }) =>
        async (given) => {
          const { Key = "" } = given.input as { readonly Key?: string };
          if (Key.endsWith("sluice-store.json")) sent.push(commandName ?? "");
          return next(given);
        },
      { step: "initialize", name: "counting" },
    );
    onTestFinished(() => void s3.client.middlewareStack.remove("counting"));
    const store = s3.store({ prefix, client: s3.client });
    for (let turn = 0; turn < 3; turn++) expect(await store.stat(ID)).toBeNull();
    for (let turn = 0; turn < 3; turn++) await store.putText(`text ${turn}`);
    const later = s3.store({ prefix, client: s3.client });
    for (let turn = 0; turn < 3; turn++) await later.putText(`text ${turn}`);
    expect(sent).toEqual(["GetObjectCommand", "PutObjectCommand", "PutObjectCommand", "GetObjectCommand"]);
  });

  test("the state in Redis sends nothing more, and holds when another server takes the place of the first", async () => {
    await using store = new RedisStateStore({ url: redis.url });
    await redis.command("FLUSHALL");
    await store.saveEvent("trace", { kind: "a" });
    await redis.command("CONFIG", "RESETSTAT");
    for (let turn = 0; turn < 10; turn++) await store.saveEvent("trace", { kind: "a" });
    const stats = String(await redis.command("INFO", "commandstats"));
    expect(/cmdstat_evalsha:calls=(\d+)/.exec(stats)?.[1]).toBe("10");
    // Empty, as after its end without a disk.
    await redis.command("FLUSHALL");
    await store.saveEvent("trace", { kind: "a" });
    expect(await redis.command("GET", "{sluice}:version")).toBe('{"sluice":"state","version":1}');
    await redis.command("SET", "{sluice}:version", '{"sluice":"state","version":12}');
    await expect(store.saveEvent("trace", { kind: "a" })).rejects.toMatchObject({ code: "E_STORE_READ" });
  });

  test("a user of Redis with the rights that the documentation asks for is enough", async () => {
    await redis.command("FLUSHALL");
    await redis.command("ACL", "SETUSER", "ada", "on", ">pass", "resetkeys", "~{sluice}*", "resetchannels", "+@all");
    onTestFinished(async () => void (await redis.command("ACL", "DELUSER", "ada")));
    await using store = new RedisStateStore({ url: redis.url.replace("//", "//ada:pass@") });
    await store.savePlannerState("token", 1);
    expect(await store.loadPlannerState("token")).toBe(1);
    expect(await redis.command("GET", "{sluice}:version")).toBe('{"sluice":"state","version":1}');
  });
});

describe("sluice serve", LONG, () => {
  const env = {
    SLUICE_SERVE_SECRET: SECRET,
    AWS_ACCESS_KEY_ID: CREDENTIALS.accessKeyId,
    AWS_SECRET_ACCESS_KEY: CREDENTIALS.secretAccessKey,
  };
  const NEWER = /A newer version of Sluice made this store: update Sluice, or use another /i;

  test("does not start over state, a bucket or a folder of a newer version, and says what to do", async () => {
    await using room = await Room.open();
    const listen = ["serve", "--listen", "127.0.0.1:0"];
    const own = { ...env, AWS_ENDPOINT_URL_S3: s3.endpoint };
    const state = await inRedis(() => ofState(new RedisStateStore({ url: redis.url })));
    await state.mark('{"sluice":"state","version":2}');
    const overState = await sluice([...listen, "--state", redis.url, "--store", room.store], { env: own });
    expect([overState.code, overState.stderr]).toEqual([73, expect.stringMatching(NEWER)]);

    const prefix = s3.prefix();
    const Body = '{"sluice":"artifact store","version":2}';
    await s3.client.send(new PutObjectCommand({ Bucket: BUCKET, Key: `${prefix}/sessions/sluice-store.json`, Body }));
    const overBucket = await sluice([...listen, "--store", `s3://${BUCKET}/${prefix}`], { env: own });
    expect([overBucket.code, overBucket.stderr]).toEqual([73, expect.stringMatching(NEWER)]);

    const other = join(room.folder, "other");
    await new FileArtifactStore(join(other, "files")).putText("kept");
    await writeFile(join(other, "files", "sluice-store.json"), Body);
    const overFolder = await sluice([...listen, "--store", other], { env: own });
    expect([overFolder.code, overFolder.stderr]).toEqual([2, expect.stringMatching(NEWER)]);
  });

  test("is not ready from when another process made its state that of a newer version", async () => {
    await using room = await Room.open();
    const state = await inRedis(() => ofState(new RedisStateStore({ url: redis.url })));
    await using server = await serve(["--state", redis.url, "--store", room.store], env);
    await begin(server.url);
    await state.mark('{"sluice":"state","version":2}');
    await vi.waitFor(async () => {
      const answer = await fetch(`${server.url}ready`);
      expect([answer.status, await answer.json()]).toMatchObject([503, { state: "away" }]);
    });
    expect((await fetch(`${server.url}health`)).status).toBe(200);
  });
});
