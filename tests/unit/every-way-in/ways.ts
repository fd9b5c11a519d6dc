/**
 * Every way in which something becomes what a model is told.
 * @module
 */
import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, writeFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { UserFiles } from "../../../web/src/files.js";
import {
  createSluice,
  FileArtifactStore,
  gateFetch,
  NoOpArtifactStore,
  wrapClient,
  type ArtifactScope,
  type ArtifactStore,
  type Dialect,
  type InterceptorOptions,
  type Sluice,
  type SluiceConfig,
  type Transformed,
} from "../../../web/src/node.js";
import { tool } from "../../../web/src/planner.js";
import { SluiceServer } from "../../../web/src/serve.js";
import { ToolNode, type ExternalToolConfig, type OutputTransformer } from "../../../web/src/tools-node.js";
import { session, serving } from "../../e2e/http/proxies.js";
import { COMMAND as SLUICE } from "../cli/command.js";
import { once as callsOnce, planned } from "../planner/planned.js";
import { Visitor } from "../server/visitor.js";
import { begin, HttpPeer, LinePeer, TransportPeer, type Answer, type Peer } from "./peers.js";
import type { Random } from "./random.js";
import type { Form, Payload } from "./shapes.js";
import { CurrentStore, DiskFaults, type CaseStore, type StoreKind } from "./stores.js";

/** One call of a case: what is answered, and where that lies. */
export interface GivenCall {
  readonly payload: Payload;
  /** What the payload refers to by a link, where it does. */
  readonly linked?: Payload | undefined;
  /** The file with the payload's JSON text, or with its bytes. */
  readonly file: string;
  /** What is not to be touched; left out: a result of a tool. */
  readonly untouched?: Untouched | undefined;
}

/** What is no result of a call: what passes as it is, and `error` and `prompt`, of which bytes and long texts are taken out. */
export type Untouched = "error" | "app" | "ui" | "read" | "prompt";

/** A case as a way meets it. */
export interface Given {
  /** One, or two that are under way at the same time. */
  readonly calls: readonly GivenCall[];
  /** How the server writes: where the `id` stands, in which pieces, as events, which answer first. */
  readonly place: "first" | "last";
  readonly chunk: number;
  readonly events: boolean;
  readonly isReversed: boolean;
  readonly store: CaseStore;
  /** `on_store_failure: "error"`. */
  readonly isStrict: boolean;
  readonly transformer: Transformer | undefined;
  readonly random: Random;
}

/** A transformer, by what it does and what it is given. */
export interface Transformer {
  readonly does: "returns its own" | "returns what it was given" | "throws" | "is too slow";
  readonly input: "reduced" | "raw";
}

/** What a model, or a host, was told. */
export interface Told {
  /** JSON text; undefined where the call was refused. */
  readonly text?: string;
  /** The sentence of an error. */
  readonly refused?: string;
  /** The whole message and its id, where there is one. */
  readonly answer?: Answer;
  /** What is stored, when the case is over. */
  readonly read: (id: string) => Promise<Uint8Array | null>;
  readonly stat?: (id: string) => Promise<{ readonly mime_type: string | null } | null>;
  /** Undoes it, in the mcp dialect with a good store. */
  readonly restore?: (value: unknown) => Promise<unknown>;
}

/** A way in. */
export interface Way {
  readonly name: string;
  /** `host`: what a host is given, who shows it as it likes. */
  readonly dialect: Dialect | "host";
  /** What it goes through, by the names that `entries.test.ts` finds. */
  readonly entries: readonly string[];
  readonly form: Form;
  /** Whether it takes JavaScript's bytes. */
  readonly values?: boolean;
  /** Whether the answer may be a file's bytes. */
  readonly bodies?: boolean;
  /** The stores that it can have. */
  readonly stores?: readonly StoreKind[];
  /** Whether two calls can be under way at the same time. */
  readonly pairs?: boolean;
  readonly untouched?: readonly Untouched[];
  /** What its transformer does, where it has one; a list is drawn from. */
  readonly transformers?: readonly Transformer["does"][];
  /** Whether results have a link, which is read. */
  readonly links?: boolean;
  /** Whether `on_store_failure: "error"` is none of its business. */
  readonly isNeverStrict?: boolean;
  /** One case starts a process: seldom. */
  readonly isCostly?: boolean;
  run(given: Given, setting: Setting): Promise<readonly Told[]>;
}

const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const SERVER = here("server.mjs");
const COMMAND = [process.execPath, SERVER];

/** Whose results are, where a way tells people apart. */
export const SCOPE: ArtifactScope = { user_id: "ada", session_id: "s1", trace_id: "t1" };

/** What lives longer than a case, made when it is first needed. */
export class Setting implements AsyncDisposable {
  readonly folder: string;
  #kept = new Map<string, Promise<AsyncDisposable>>();
  #restoring: Promise<{ readonly sluice: Sluice; readonly store: CurrentStore }> | undefined;

  constructor(folder: string) {
    this.folder = folder;
  }

  /** The same for the same key. */
  keep<T extends AsyncDisposable>(key: string, make: () => Promise<T>): Promise<T> {
    const kept = this.#kept.get(key) as Promise<T> | undefined;
    if (kept !== undefined) return kept;
    const made = make();
    this.#kept.set(key, made);
    made.catch(() => this.#kept.delete(key));
    return made;
  }

  /** Puts back what was taken out of a result. */
  async restored(value: unknown, store: ArtifactStore, scope: ArtifactScope): Promise<unknown> {
    this.#restoring ??= (async () => {
      const current = new CurrentStore();
      return { store: current, sluice: await createSluice({ store: current.store }) };
    })();
    const { sluice, store: current } = await this.#restoring;
    current.set(store);
    return sluice.restore(value, { scope });
  }

  /** Where the server answers over HTTP. */
  async http(): Promise<string> {
    return (await this.keep("http server", httpServer)).url;
  }

  /** Ends everything: after a case that hung, nothing may be the same. */
  async [Symbol.asyncDispose](): Promise<void> {
    const kept = [...this.#kept.values()];
    this.#kept = new Map();
    const ended = Promise.allSettled(kept.map(async (each) => (await each)[Symbol.asyncDispose]()));
    await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 5_000))]);
  }
}

async function httpServer(): Promise<AsyncDisposable & { readonly url: string; readonly child: ChildProcess }> {
  const child = spawn(process.execPath, [SERVER, "http"], { stdio: ["ignore", "pipe", "inherit"] });
  const [url] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  return { url, child, [Symbol.asyncDispose]: async () => void child.kill() };
}

/** The arguments of a call, or the URI of a read: how the server answers. */
function how(given: Given, call: GivenCall, number: number): Record<string, string | number | boolean> {
  const { place, chunk, events, calls, isReversed } = given;
  return {
    file: call.file,
    place,
    chunk,
    events,
    ...(call.untouched === "error" && { as: "error" }),
    ...(calls.length > 1 && { pair: calls[0]?.file ?? "", turn: isReversed ? 1 - number : number }),
  };
}

/** The URI of a resource that is what stands in a file. */
export function uriOf(file: string, given: Pick<Given, "place" | "chunk">, scheme: "suite" | "ui" = "suite"): string {
  const query = new URLSearchParams({ file, place: given.place, chunk: String(given.chunk) });
  return `${scheme}://host/payload?${query}`;
}

function config(given: Given, more: SluiceConfig = {}): SluiceConfig {
  return given.isStrict ? { ...more, interceptor: { on_store_failure: "error" } } : more;
}

function refusal(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}

const stored = (
  store: Pick<CaseStore, "read" | "inner">,
  scope: ArtifactScope,
  setting: Setting,
): Pick<Told, "read" | "stat" | "restore"> => ({
  read: (id) => store.read(id, scope),
  stat: (id) => store.inner.stat(id, scope).catch(() => null),
  restore: (value) => setting.restored(value, store.inner, scope),
});

// --- the library ---

function library(name: string, dialect: Dialect, isStream: boolean): Way {
  return {
    name,
    dialect,
    entries: ["createSluice", isStream ? "Sluice.open" : "Sluice.transform"],
    form: "any",
    values: !isStream,
    run: async (given, setting) => {
      const [call] = given.calls as [GivenCall];
      const onStoreFailure = given.isStrict ? "throw" : "answer";
      const sluice = await createSluice({ store: given.store.store, onStoreFailure });
      const options = { dialect, scope: SCOPE, tool: "give" };
      return [
        await toldBy(given, setting, SCOPE, async () => {
          if (!isStream) return sluice.transform(call.payload.value, options);
          await using stream = sluice.open(options);
          const bytes = Buffer.from(call.payload.json ?? "null");
          for (let at = 0; at < bytes.length;) {
            const end = at + given.random.int(1, Math.max(given.chunk, bytes.length / 500));
            await stream.write(bytes.subarray(at, end));
            at = end;
          }
          return await stream.close();
        }),
      ];
    },
  };
}

/** What a call came to. */
async function toldBy(
  given: Given,
  setting: Setting,
  scope: ArtifactScope,
  work: () => Promise<Pick<Transformed, "text">>,
): Promise<Told> {
  const after = stored(given.store, scope, setting);
  try {
    return { text: (await work()).text, ...after };
  } catch (error) {
    return { refused: refusal(error), ...after };
  }
}

/** What a store has, whoever has it. */
async function everything(store: ArtifactStore): Promise<ReadonlyMap<string, Uint8Array>> {
  const found = new Map<string, Uint8Array>();
  for await (const { id, scope } of store.list()) {
    const bytes = await store.get(id, scope).catch(() => null);
    if (bytes !== null) found.set(id, bytes);
  }
  return found;
}

const AUTO_READ = { resources: { auto_read_if_size_under_bytes: 20_000_000 } };

const linksRead: Way = {
  name: "transform, links read",
  dialect: "observation",
  entries: ["createSluice", "Sluice.transform"],
  form: "call",
  links: true,
  run: async (given, setting) => {
    const [call] = given.calls as [GivenCall];
    const onStoreFailure = given.isStrict ? "throw" : "answer";
    const sluice = await createSluice({ store: given.store.store, onStoreFailure, config: AUTO_READ });
    const readResource = async (): Promise<unknown> => call.linked?.value;
    const options = { scope: SCOPE, tool: "give", readResource };
    return [await toldBy(given, setting, SCOPE, () => sluice.transform(call.payload.value, options))];
  },
};

// --- between a client and a server ---

/** Asks, each call at the same time, and gives what the client gets. */
async function asked(
  peer: Peer,
  given: Given,
  after: Pick<Told, "read" | "stat" | "restore">,
): Promise<readonly Told[]> {
  return Promise.all(
    given.calls.map(async (call, number) => {
      const { untouched } = call;
      const isRead = untouched === "read" || untouched === "ui";
      const name = untouched === "app" ? "app" : number === 0 ? "give" : "other";
      const [method, params] = isRead
        ? ["resources/read", { uri: uriOf(call.file, given, untouched === "ui" ? "ui" : "suite") }]
        : [untouched === "prompt" ? "prompts/get" : "tools/call", { name, arguments: how(given, call, number) }];
      try {
        return answered(await peer.ask(method, params), after);
      } catch (error) {
        return { refused: refusal(error), ...after };
      }
    }),
  );
}

function answered(answer: Answer, after: Pick<Told, "read" | "stat" | "restore">): Told {
  const { result, error } = JSON.parse(answer.bytes.toString()) as { result?: unknown; error?: { message?: string } };
  if (error !== undefined) return { refused: error.message ?? "", answer, ...after };
  return { text: JSON.stringify(result), answer, ...after };
}

const ALL_UNTOUCHED = ["error", "app", "ui", "read", "prompt"] as const;
const ON_DISK = ["disk", "write fails", "read fails", "too small", "slow"] as const;

type Proxied = "a command" | "an address";

/** A real `sluice proxy`, kept for all cases with the same command line. */
async function proxy(given: Given, setting: Setting, over: "stdio" | "HTTP", to: Proxied): Promise<Proxy> {
  const isSmall = given.store.kind === "too small";
  return setting.keep(`proxy ${over} ${to} ${given.isStrict} ${isSmall}`, async () => {
    const folder = await mkdtemp(join(setting.folder, "proxy-"));
    const [file, faultsFile] = [join(folder, "config.json"), join(folder, "faults")];
    const retention = { min_free_disk: 0, ...(isSmall && { max_artifact_bytes: 600 }) };
    await writeFile(file, JSON.stringify(config(given, { retention })));
    const faults = new DiskFaults(faultsFile);
    const store = join(folder, "store");
    const env = { SUITE_FAULTS: faultsFile, SUITE_STORE: store, NODE_OPTIONS: `--import=${here("faults.mjs")}` };
    const target = to === "a command" ? ["--", ...COMMAND] : ["--url", `${await setting.http()}/mcp`];
    const options = ["--store", store, "--namespace", "srv", "--config", file];
    if (over === "stdio") {
      const peer = new LinePeer([SLUICE, "proxy", ...options, ...target], env);
      await begin(peer);
      return {
        peer,
        faults,
        store: new FileArtifactStore(store),
        [Symbol.asyncDispose]: () => peer[Symbol.asyncDispose](),
      };
    }
    const service = await serving(["proxy", "--listen", "127.0.0.1:0", ...options, ...target], env);
    const peer = new HttpPeer(service.url, fetch, await session(service.url));
    await begin(peer);
    return {
      peer,
      faults,
      store: new FileArtifactStore(store),
      [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
    };
  });
}

interface Proxy extends AsyncDisposable {
  readonly peer: Peer;
  readonly faults: DiskFaults;
  readonly store: FileArtifactStore;
}

function proxied(name: string, over: "stdio" | "HTTP", to: Proxied): Way {
  return {
    name,
    dialect: "mcp",
    entries: ["sluice proxy"],
    form: "call",
    stores: ON_DISK,
    pairs: true,
    untouched: ALL_UNTOUCHED,
    run: async (given, setting) => {
      const { peer, faults, store } = await proxy(given, setting, over, to);
      faults.set(given.store.kind);
      try {
        const read = (id: string): Promise<Uint8Array | null> => store.get(id).catch(() => null);
        return await asked(peer, given, stored({ read, inner: store }, {}, setting));
      } finally {
        faults.set("good");
      }
    },
  };
}

/** A store for what outlives a case; none where the case has none. */
async function shared<T extends AsyncDisposable>(
  given: Given,
  setting: Setting,
  key: string,
  make: (store: ArtifactStore) => Promise<T>,
): Promise<T> {
  const { kind, store } = given.store;
  if (kind === "none")
    return setting.keep(`${key}, no store`, () => make(new NoOpArtifactStore({ warn: () => undefined })));
  const both = await setting.keep(key, async () => {
    const current = new CurrentStore();
    current.set(store);
    const made = await make(current.store);
    return { made, current, [Symbol.asyncDispose]: () => made[Symbol.asyncDispose]() };
  });
  both.current.set(store);
  return both.made;
}

function interceptorOptions(given: Given, store: ArtifactStore = given.store.store): InterceptorOptions {
  return { store, namespace: "srv", scope: SCOPE, config: config(given) };
}

const interceptors: readonly Way[] = [
  {
    name: "GatedStdioTransport",
    dialect: "mcp",
    entries: ["GatedStdioTransport"],
    form: "call",
    pairs: true,
    untouched: ALL_UNTOUCHED,
    run: async (given, setting) => {
      const peer = await shared(given, setting, `transport ${given.isStrict}`, async (store) => {
        const [program = "", ...args] = COMMAND;
        const made = new TransportPeer({ ...interceptorOptions(given, store), command: program, args });
        await made.start();
        await begin(made);
        return made;
      });
      return asked(peer, given, stored(given.store, SCOPE, setting));
    },
  },
  {
    name: "gateFetch",
    dialect: "mcp",
    entries: ["gateFetch"],
    form: "call",
    pairs: true,
    untouched: ALL_UNTOUCHED,
    run: async (given, setting) => {
      const peer = await shared(given, setting, `fetch ${given.isStrict}`, async (store) => {
        const made = new HttpPeer(`${await setting.http()}/mcp`, gateFetch(fetch, interceptorOptions(given, store)));
        await begin(made);
        return made;
      });
      return asked(peer, given, stored(given.store, SCOPE, setting));
    },
  },
  {
    name: "wrapClient",
    dialect: "mcp",
    entries: ["wrapClient"],
    form: "call",
    untouched: ["app", "ui", "read"],
    run: async (given, setting) => {
      const [call] = given.calls as [GivenCall];
      const { untouched } = call;
      const result = async (_params: object): Promise<unknown> => JSON.parse(call.payload.json ?? "null") as unknown;
      const tools = [{ name: "app", inputSchema: { type: "object" }, _meta: { ui: { visibility: ["app"] } } }];
      const inner = { callTool: result, readResource: result, listTools: async (_params: object) => ({ tools }) };
      const client = wrapClient(inner, interceptorOptions(given));
      await client.listTools({});
      const isRead = untouched === "read" || untouched === "ui";
      return [
        await toldBy(given, setting, SCOPE, async () => {
          const got = isRead
            ? await client.readResource({ uri: uriOf(call.file, given, untouched === "ui" ? "ui" : "suite") })
            : await client.callTool({ name: untouched === "app" ? "app" : "give", arguments: {} });
          return { text: JSON.stringify(got) };
        }),
      ];
    },
  },
];

// --- sources of tools ---

type Transport = "stdio" | "HTTP" | "API" | "UTCP" | "command";
/** As sources are configured. */
const TRANSPORT = { stdio: "mcp", HTTP: "mcp", API: "http", UTCP: "utcp", command: "cli" } as const;
const TRANSPORTS = Object.keys(TRANSPORT) as readonly Transport[];

const PARAMETERS = ["file", "type", "name", "chunk"];

async function source(transport: Transport, setting: Setting): Promise<ExternalToolConfig> {
  const more = { name: "src", retry_policy: { max_attempts: 1 }, timeout_s: 20 };
  const quoted = COMMAND.map((word) => `"${word}"`).join(" ");
  if (transport === "stdio") return { ...more, transport: "mcp", connection: quoted };
  if (transport === "HTTP") return { ...more, transport: "mcp", connection: `${await setting.http()}/mcp` };
  if (transport === "command") return { ...more, transport: "cli", connection: `${quoted} print` };
  const origin = await setting.http();
  if (transport === "UTCP") {
    const properties = Object.fromEntries(PARAMETERS.map((name) => [name, { type: "string" }]));
    const template = { call_template_type: "http", url: `${origin}/api`, http_method: "GET" };
    const inputs = { type: "object", properties };
    const tools = [{ name: "give", description: "", inputs, tool_call_template: template }];
    return {
      ...more,
      transport: "utcp",
      connection: JSON.stringify({ utcp_version: "1.0.1", manual_version: "1.0.0", tools }),
    };
  }
  const parameters = PARAMETERS.map((name) => ({ name, in: "query", schema: { type: "string" } }));
  const responses = { "200": { description: "" } };
  const paths = { "/api": { get: { operationId: "give", parameters, responses } } };
  const info = { title: "suite", version: "1" };
  const document = { openapi: "3.1.0", info, servers: [{ url: origin }], paths };
  return { ...more, transport: "http", connection: JSON.stringify(document) };
}

/** A connected source, and what its transformer does at the moment. */
interface Connected extends AsyncDisposable {
  readonly node: ToolNode;
  transformer: OutputTransformer;
}

interface NodeDeps {
  readonly more?: SluiceConfig;
  readonly dialect?: Dialect;
  readonly userFiles?: boolean;
}

function connected(given: Given, setting: Setting, transport: Transport, terms: NodeDeps = {}): Promise<Connected> {
  const { isStrict, transformer } = given;
  const isLate = transformer?.does === "is too slow";
  const key = JSON.stringify(["node", transport, isStrict, transformer?.input, isLate, terms]);
  return shared(given, setting, key, async (store) => {
    const made: { -readonly [Key in keyof Connected]?: Connected[Key] } = {};
    const configured: ExternalToolConfig = {
      ...(await source(transport, setting)),
      artifact_extraction: config(given, terms.more),
      ...(transformer !== undefined && {
        output_transformer: (...args: Parameters<OutputTransformer>) => made.transformer?.(...args),
        transformer_input: transformer.input,
        transformer_timeout_s: isLate ? 0.3 : 20,
      }),
      ...(terms.userFiles === true && { user_files: true }),
    };
    const { dialect } = terms;
    const userFiles = terms.userFiles === true ? { userFiles: new UserFiles({ store }) } : {};
    const node = new ToolNode(configured, { store, ...userFiles, ...(dialect !== undefined && { dialect }) });
    await node.connect({ scope: SCOPE });
    return Object.assign(made, {
      node,
      transformer: () => null,
      [Symbol.asyncDispose]: () => node.close(),
    });
  });
}

function argumentsFor(given: Given, transport: Transport, call: GivenCall, number: number): Record<string, unknown> {
  if (transport === "command") return { args: [call.file] };
  if (transport === "stdio" || transport === "HTTP") return how(given, call, number);
  const types = call.payload.body === undefined ? ["application/json"] : BODY_TYPES;
  const named = given.random.chance(0.3) ? { name: given.random.pick(NAMES) } : {};
  return { file: call.file, chunk: String(given.chunk), type: given.random.pick(types), ...named };
}

const BODY_TYPES = ["application/pdf", "application/octet-stream", "text/plain", "x-odd/thing"];
const NAMES = ["report.pdf", "../../etc/passwd", `${"n".repeat(300)}.pdf`, "a\u202egpj.exe"];

function transformerOf({ transformer, calls }: Given): OutputTransformer {
  switch (transformer?.does) {
    case "returns its own":
      return () => calls[0]?.linked?.value;
    case "returns what it was given":
      return (_, document) => document;
    case "throws":
      return () => {
        throw new Error("the test says so");
      };
    default:
      return () => new Promise((resolve) => setTimeout(() => resolve("late"), 1_000));
  }
}

/** Calls the node's tools, at the same time where there are two calls. */
async function called(
  given: Given,
  setting: Setting,
  transport: Transport,
  terms: NodeDeps = {},
): Promise<readonly Told[]> {
  const at = await connected(given, setting, transport, terms);
  at.transformer = transformerOf(given);
  return Promise.all(
    given.calls.map((call, number) => {
      const name = transport === "command" ? "run" : number === 0 ? "give" : "other";
      const args = argumentsFor(given, transport, call, number);
      return toldBy(given, setting, SCOPE, () => at.node.call(name, args, { scope: SCOPE }));
    }),
  );
}

const isMcp = (transport: Transport): boolean => transport === "stdio" || transport === "HTTP";

const nodes: readonly Way[] = [
  ...TRANSPORTS.map((transport): Way => ({
    name: `ToolNode ${transport}`,
    dialect: "observation",
    entries: ["ToolNode", "ToolNode.call", `transport ${TRANSPORT[transport]}`],
    form: isMcp(transport) ? "call" : "any",
    bodies: !isMcp(transport),
    pairs: isMcp(transport),
    run: (given, setting) => called(given, setting, transport),
  })),
  ...(["reduced", "raw"] as const).flatMap((input) =>
    ([["returns its own", "returns what it was given"], ["throws"], ["is too slow"]] as const).map(
      (transformers): Way => ({
        name: `ToolNode, transformer that ${transformers.length > 1 ? "returns" : transformers[0]}, ${input}`,
        dialect: "observation",
        entries: ["ToolNode.call"],
        form: "call",
        transformers,
        run: (given, setting) => called(given, setting, given.random.pick(TRANSPORTS)),
      }),
    ),
  ),
  {
    name: "ToolNode, dialect mcp",
    dialect: "mcp",
    entries: ["ToolNode.call"],
    form: "call",
    pairs: true,
    run: (given, setting) => called(given, setting, given.random.pick(["stdio", "HTTP"]), { dialect: "mcp" }),
  },
  {
    name: "ToolNode, links read",
    dialect: "observation",
    entries: ["ToolNode.call"],
    form: "call",
    links: true,
    run: (given, setting) => called(given, setting, given.random.pick(["stdio", "HTTP"]), { more: AUTO_READ }),
  },
  {
    name: "ToolNode, users' files",
    dialect: "observation",
    entries: ["ToolNode.call", "UserFiles"],
    form: "contract",
    run: async (given, setting) => {
      const told = await called(given, setting, given.random.pick(["stdio", "HTTP"]), { userFiles: true });
      // Files belong to their user, whatever the session.
      const all = await everything(given.store.inner);
      return told.map((each) => ({ ...each, read: async (id) => all.get(id) ?? null }));
    },
  },
  {
    name: "ToolNode.readResource",
    dialect: "host",
    entries: ["ToolNode.readResource"],
    form: "read",
    run: async (given, setting) => {
      const { node } = await connected(given, setting, given.random.pick(["stdio", "HTTP"]));
      const [call] = given.calls as [GivenCall];
      return [
        await toldBy(given, setting, SCOPE, async () => {
          const { contents, failures } = await node.readResource(uriOf(call.file, given), { scope: SCOPE });
          return { text: JSON.stringify({ contents, failures: failures.map(({ message }) => message) }) };
        }),
      ];
    },
  },
  {
    name: "resources_read",
    dialect: "observation",
    entries: ["ToolNode.call"],
    form: "read",
    run: async (given, setting) => {
      const { node } = await connected(given, setting, given.random.pick(["stdio", "HTTP"]));
      const [call] = given.calls as [GivenCall];
      const args = { uri: uriOf(call.file, given) };
      return [await toldBy(given, setting, SCOPE, () => node.call("src.resources_read", args, { scope: SCOPE }))];
    },
  },
];

// --- planners ---

/** Runs a planner that calls one tool once, and gives what its model was told. */
async function plannedCall(
  given: Given,
  setting: Setting,
  catalog: Parameters<typeof planned>[1],
  call: { readonly name: string; readonly args?: Record<string, unknown> },
): Promise<Told> {
  return toldBy(given, setting, SCOPE, async () => {
    const options = { artifactStore: given.store.store, config: config(given) };
    const { planner, turns, events } = planned(callsOnce(call), catalog, options);
    await planner.run("Go.", { scope: SCOPE });
    const failure = events.find((event) => event.kind === "tool_failed");
    if (failure !== undefined) throw failure.error;
    const last = turns.at(-1)?.messages.findLast(({ role }) => role === "tool");
    if (last === undefined) throw new Error("the model was told nothing");
    return { text: last.content };
  });
}

const planners: readonly Way[] = [
  {
    name: "native tool",
    dialect: "observation",
    entries: ["ReactPlanner", "ReactPlanner.run", "tool"],
    form: "any",
    values: true,
    run: async (given, setting) => {
      const [{ payload }] = given.calls as [GivenCall];
      const gives = tool({ name: "gives", description: "", input: z.object({}), run: () => payload.value });
      return [await plannedCall(given, setting, [gives], { name: "gives" })];
    },
  },
  {
    name: "ReactPlanner, a source",
    dialect: "observation",
    entries: ["ReactPlanner.run"],
    form: "any",
    bodies: true,
    run: async (given, setting) => {
      const transport = given.random.pick(["API", "UTCP"] as const);
      const { node } = await connected(given, setting, transport);
      const [call] = given.calls as [GivenCall];
      const args = argumentsFor(given, transport, call, 0);
      return [await plannedCall(given, setting, [node], { name: "src.give", args })];
    },
  },
];

// --- the server ---

async function visited(
  given: Given,
  setting: Setting,
  ask: (visitor: Visitor) => Promise<string>,
): Promise<readonly Told[]> {
  const sources = [{ ...(await source("HTTP", setting)), artifact_extraction: config(given) }];
  await using server = new SluiceServer({ store: given.store.store, sources, onError: () => undefined });
  const visitor = await Visitor.of(server, {});
  let outcome: Pick<Told, "text" | "refused">;
  try {
    outcome = { text: await ask(visitor) };
  } catch (error) {
    outcome = { refused: refusal(error) };
  }
  // Sessions end with the server, and their artifacts with them.
  const seen = await everything(given.store.inner);
  return [{ ...outcome, read: async (id) => seen.get(id) ?? null }];
}

const SERVED = ["good", "disk", "write fails", "read fails", "too small", "slow"] as const;

const served: readonly Way[] = [
  {
    name: "sluice serve, tools",
    dialect: "observation",
    entries: ["SluiceServer", "sluice serve", "route tools"],
    form: "call",
    stores: SERVED,
    run: (given, setting) =>
      visited(given, setting, async (visitor) => {
        const args = how(given, given.calls[0] as GivenCall, 0);
        const headers = { "content-type": "application/json", accept: "application/json" };
        const body = JSON.stringify({ args });
        const { observation } = await visitor.json<{ observation: string }>("/tools/src.give", {
          method: "POST",
          body,
          headers,
        });
        return observation;
      }),
  },
  {
    name: "sluice serve, resources",
    dialect: "host",
    entries: ["SluiceServer", "route resources"],
    form: "read",
    stores: SERVED,
    run: (given, setting) =>
      visited(given, setting, async (visitor) => {
        const uri = uriOf((given.calls[0] as GivenCall).file, given);
        const response = await visitor.ask(`/resources/src/${encodeURIComponent(uri)}`);
        const text = await response.text();
        if (!response.ok) throw new Error(`${response.status} ${text}`);
        return text;
      }),
  },
];

// --- the command ---

function command(
  name: string,
  form: Form,
  argv: (given: Given, setting: Setting, folder: string) => Promise<readonly string[]>,
): Way {
  return {
    name,
    dialect: name.includes("resources") ? "host" : "observation",
    entries: [name],
    form,
    stores: ON_DISK,
    isCostly: true,
    isNeverStrict: name === "sluice transform",
    run: async (given, setting) => {
      const folder = await mkdtemp(join(setting.folder, "command-"));
      const [store, faultsFile] = [join(folder, "store"), join(folder, "faults")];
      const faults = new DiskFaults(faultsFile);
      faults.set(given.store.kind);
      const env = { SUITE_FAULTS: faultsFile, SUITE_STORE: store, NODE_OPTIONS: `--import=${here("faults.mjs")}` };
      const kind = new FileArtifactStore(store);
      const said = await argv(given, setting, folder);
      const { stdout, stderr } = await ran([SLUICE, ...said, "--store", store], env);
      const after = {
        read: (id: string) => kind.get(id).catch(() => null),
        stat: (id: string) => kind.stat(id).catch(() => null),
      };
      return [stdout === "" ? { refused: stderr, ...after } : { text: stdout.trim(), ...after }];
    },
  };
}

function ran(argv: readonly string[], env: Record<string, string>): Promise<{ stdout: string; stderr: string }> {
  const options = { env: { ...process.env, ...env }, maxBuffer: 64 * 1024 * 1024 };
  return new Promise((resolve) =>
    execFile(process.execPath, [...argv], options, (_, stdout, stderr) => resolve({ stdout, stderr })),
  );
}

async function configFile(folder: string, value: unknown): Promise<readonly string[]> {
  await writeFile(join(folder, "config.json"), JSON.stringify(value));
  return ["--config", join(folder, "config.json")];
}

const SMALL = { retention: { max_artifact_bytes: 600 } };

async function sourcesFile(given: Given, setting: Setting, folder: string): Promise<readonly string[]> {
  const small = given.store.kind === "too small" ? SMALL : {};
  return configFile(folder, {
    sources: [{ ...(await source("HTTP", setting)), artifact_extraction: config(given, small) }],
  });
}

const commands: readonly Way[] = [
  command("sluice transform", "any", async (given, _, folder) => {
    const small = given.store.kind === "too small" ? SMALL : {};
    return ["transform", (given.calls[0] as GivenCall).file, ...(await configFile(folder, config(given, small)))];
  }),
  command("sluice tools call", "call", async (given, setting, folder) => {
    const args = JSON.stringify(how(given, given.calls[0] as GivenCall, 0));
    return ["tools", "call", "src.give", "--args", args, ...(await sourcesFile(given, setting, folder))];
  }),
  command("sluice resources read", "read", async (given, setting, folder) => {
    const uri = uriOf((given.calls[0] as GivenCall).file, given);
    return ["resources", "read", "src", uri, "--json", ...(await sourcesFile(given, setting, folder))];
  }),
];

/** All of them. */
export const WAYS: readonly Way[] = [
  library("transform, observation", "observation", false),
  library("transform, mcp", "mcp", false),
  library("open, observation", "observation", true),
  library("open, mcp", "mcp", true),
  linksRead,
  proxied("sluice proxy", "stdio", "a command"),
  proxied("sluice proxy --url", "stdio", "an address"),
  proxied("sluice proxy --listen", "HTTP", "a command"),
  proxied("sluice proxy --listen --url", "HTTP", "an address"),
  ...interceptors,
  ...nodes,
  ...planners,
  ...served,
  ...commands,
];
