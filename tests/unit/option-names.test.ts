/** An option that there is not is refused everywhere, with the one that was meant. What there is says `surface.txt`. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import * as browser from "../../web/src/browser.js";
import * as files from "../../web/src/files.js";
import type { Workspace } from "../../web/src/files/workspace/workspace.js";
import * as mcp from "../../web/src/mcp.js";
import * as node from "../../web/src/node.js";
import * as planner from "../../web/src/planner.js";
import * as redis from "../../web/src/planner-redis.js";
import * as s3 from "../../web/src/s3.js";
import * as serve from "../../web/src/serve.js";
import * as serveRedis from "../../web/src/serve-redis.js";
import * as tools from "../../web/src/tools-node.js";
import { ROOT } from "./cli/command.js";

const store = new node.MemoryArtifactStore();
const sluice = await node.createSluice({ store });
const llm = new planner.OpenAiClient({ model: "m" });
const agent = new planner.ReactPlanner({ catalog: [], llm });
const config = { name: "shell", transport: "cli", connection: "echo" } as const;
const workspace = {} as Workspace;
const scope = {};
const archive = {
  size: 0,
  filename: "",
  read: () => Promise.resolve(new Uint8Array()),
  stream: () => Promise.resolve(new Blob().stream()),
};
const aiModel = {
  specificationVersion: "v3",
  modelId: "m",
  doStream: () => Promise.reject(new Error("never")),
} as const;

/** For each type of options: what takes them, given some more. Those that are needed are there. */
const TAKERS: Readonly<Record<string, (more: object) => unknown>> = {
  AiSdkClientOptions: (more) => new planner.AiSdkClient(aiModel, more),
  ArtifactHandlerOptions: (more) => browser.artifactHandler({ base: "/", scope, store, ...more }),
  ArtifactToolsOptions: (more) => sluice.tools(more),
  ArtifactUrlOptions: (more) => browser.artifactUrl("key", "id", more),
  ClampOptions: (more) => sluice.clamp({}, more),
  ExtractOptions: (more) => files.extractEntry(archive, "a", () => Promise.resolve(), more),
  FileContextOptions: (more) => files.fileContext([], more),
  FileStoreOptions: (more) => new node.FileArtifactStore("store", more),
  GatedStdioOptions: (more) => new node.GatedStdioTransport({ command: "echo", ...more }),
  IndexedDbSessionsOptions: (more) => new browser.IndexedDbArtifactSessions(more),
  IndexedDbStoreOptions: (more) => new browser.IndexedDbArtifactStore(more),
  InterceptorOptions: (more) => mcp.gateFetch(fetch, more),
  ListenOptions: (more) => serve.listen({ fetch: () => new Response() }, { host: "127.0.0.1", port: 0, ...more }),
  LocalWorkspacesOptions: (more) => node.localWorkspaces(more),
  MemoryStoreOptions: (more) => new node.MemoryArtifactStore(more),
  NativeToolOptions: (more) =>
    planner.tool({ name: "a", description: "b", input: z.object({}), run: () => 1, ...more }),
  NoOpStoreOptions: (more) => new node.NoOpArtifactStore(more),
  OAuthManagerOptions: (more) => new tools.OAuthManager({ providers: {}, ...more }),
  OpenAiClientOptions: (more) => new planner.OpenAiClient({ model: "m", ...more }),
  ReactPlannerOptions: (more) => new planner.ReactPlanner({ catalog: [], llm, ...more }),
  RedisStateOptions: (more) => serveRedis.redisState({ url: "redis://localhost:1", secret: "s".repeat(32), ...more }),
  RedisStateStoreOptions: (more) => new redis.RedisStateStore({ url: "redis://localhost:1", ...more }),
  ResumeOptions: (more) => agent.resume("token", more),
  RetainingOptions: (more) => new node.RetainingArtifactStore(store, {}, more),
  RunOptions: (more) => agent.run("Hello", more),
  S3StoreOptions: (more) => new s3.S3ArtifactStore({ bucket: "artifacts", ...more }),
  SandboxOptions: (more) => node.sandboxed(["true"], { workspace, ...more }),
  ServeArtifactsOptions: (more) =>
    browser.serveArtifacts({
      sessions: new browser.MemoryArtifactSessions(),
      store,
      base: "http://a.example/",
      ...more,
    }),
  SluiceOptions: (more) => node.createSluice(more),
  OidcOptions: (more) =>
    new serve.SluiceServer({ store, publicUrl: "https://a.example", oidc: { issuer: "https://b.example", ...more } }),
  SluiceServerOptions: (more) => new serve.SluiceServer({ store, ...more }),
  StateStoreOptions: (more) => new planner.MemoryStateStore(more),
  TieredStoreOptions: (more) => new node.TieredArtifactStore({ near: store, far: store, ...more }),
  ToolNodeOptions: (more) => new tools.ToolNode(config, more),
  TransformOptions: (more) => sluice.transform({}, more),
  UserFilesOptions: (more) => new files.UserFiles({ store, ...more }),
  UserStorageOptions: (more) => new files.UserStorage(store, { user_id: "ada" }, more),
};

/** More that takes options of a type that is above. */
const OTHERS: readonly (readonly [type: string, taker: (more: object) => unknown])[] = [
  ["FileContextOptions", (more) => files.withFileContext("Hello", [], more)],
  ["InterceptorOptions", (more) => mcp.wrapClient({}, more)],
  ["ResumeOptions", (more) => agent.streamOn("token", more).next()],
  ["RunOptions", (more) => agent.stream("Hello", more).next()],
  ["S3StoreOptions", (more) => s3.s3StoreFrom("s3://artifacts", more)],
  ["StateStoreOptions", (more) => new node.FileStateStore("state", more)],
  ["TransformOptions", (more) => sluice.open(more)],
];

/** Parts of the types above, and what the library itself gives. */
const NOT_GIVEN: readonly string[] = ["LlmOptions"];

/** The members of each public type of options. */
const surface = readFileSync(join(ROOT, "tests/unit/surface.txt"), "utf8");
const MEMBERS = new Map(
  Array.from(surface.matchAll(/^(\w+Options): (?:interface|type) \{ (.*) \}$/gm), ([, type = "", all = ""]) => [
    type,
    all.split(", ").map((member) => member.replace("?", "")),
  ]),
);

/** What is thrown, now or later. */
async function refusal(taker: (more: object) => unknown, name: string): Promise<unknown> {
  try {
    await taker({ [name]: 1 });
  } catch (error) {
    return error;
  }
  throw new Error(`${name} was taken.`);
}

test("everything public that takes options is in the table", () => {
  expect([...Object.keys(TAKERS), ...NOT_GIVEN].toSorted()).toEqual([...MEMBERS.keys()].toSorted());
});

test.each([...Object.entries(TAKERS), ...OTHERS])(
  "%s: another name is refused, with all that there are",
  async (type, taker) => {
    const error = await refusal(taker, "qqqqqqqqqqqqqqqq");
    const [, list = ""] = /^"q+" is not an option of .+; the options are (.*)\.$/.exec((error as Error).message) ?? [];
    // The place of the core is an option beside the type.
    const listed = list.split(", ").filter((name) => name !== "wasm" || type !== "SluiceOptions");
    expect(listed.toSorted()).toEqual(MEMBERS.get(type)?.toSorted());
  },
);

test.each([...Object.entries(TAKERS), ...OTHERS])(
  "%s: a slip of the pen is refused, with what was meant",
  async (type, taker) => {
    for (const name of MEMBERS.get(type) ?? []) {
      const slip = `${name}x`;
      const error = await refusal(taker, slip);
      expect(error).toMatchObject({ code: expect.stringMatching(/^E_(?:INVALID_ARGUMENT|TOOL_CONFIG)$/) as string });
      expect((error as Error).message).toMatch(new RegExp(`^"${slip}" is not an option of .+; did you mean \\w+\\?$`));
    }
  },
);
