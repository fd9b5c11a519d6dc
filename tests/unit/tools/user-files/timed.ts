/**
 * Sources, as a rule with users' files, and what was told of their calls.
 * @module
 */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MemoryArtifactStore } from "../../../../web/src/artifacts/memory.js";
import type { ArtifactScope, ArtifactWriter } from "../../../../web/src/artifacts/store.js";
import {
  ToolNode,
  type ExternalToolConfig,
  type ToolContext,
  type ToolNodeEvent,
  type ToolNodeOptions,
} from "../../../../web/src/tools-node.js";
import type { UserFileHandling } from "../../../../web/src/tools/user-files.js";
import { serverScript, type ScriptDeps } from "../sources/mcp/server-script.js";

/** Files are of no matter to these calls. */
export const NO_FILES: UserFileHandling = {
  prepare: async (args) => ({ kind: "call", args }),
  receive: async () => undefined,
  cleaned: async (said) => said,
  within: (store) => store,
  ownerKey: () => "",
  command: async (argv) => argv,
};

/** A store that knows whose artifacts were begun. */
export class WatchedStore extends MemoryArtifactStore {
  readonly scopes: ArtifactScope[] = [];

  constructor() {
    super({ retention: null });
  }

  override openWriter(options: Parameters<MemoryArtifactStore["openWriter"]>[0]): Promise<ArtifactWriter> {
    this.scopes.push(options?.scope ?? {});
    return super.openWriter(options);
  }

  /** The ids of what is there of all of them. */
  async ids(): Promise<readonly string[]> {
    const ids: string[] = [];
    for (const scope of this.scopes) for await (const { id } of this.list(scope)) ids.push(id);
    return ids;
  }
}

/** A source that is connected. */
export interface Timed extends AsyncDisposable {
  readonly node: ToolNode;
  readonly store: WatchedStore;
  readonly events: ToolNodeEvent[];
  /** What the server wrote down, line by line. */
  heard(): Promise<readonly string[]>;
}

/** Those of a call that takes a second. */
const SOON = { notify_after_s: [0.2, 0.4, 0.6] } as const;

/** Says which process it is. */
const PID = "return JSON.stringify({ content: [], structuredContent: { pid: process.pid } });";

/** Writes down what it is told. */
const HEARS = `
import { appendFileSync } from "node:fs";
const hear = (what) => appendFileSync(process.argv[2], what + "\\n");
`;

/** Writes down what is taken back. */
const HEARS_CANCELLED = `
if (message.method === "notifications/cancelled") hear("cancelled " + process.pid + " " + message.params.requestId);`;

/** Connects to a source. */
export async function timed(config: Partial<ExternalToolConfig>, options: ToolNodeOptions = {}): Promise<Timed> {
  const store = new WatchedStore();
  const events: ToolNodeEvent[] = [];
  const node = new ToolNode(
    { name: "lab", transport: "mcp", connection: "http://127.0.0.1:1/", user_files: true, ...SOON, ...config },
    { store, userFiles: NO_FILES, onEvent: (event) => void events.push(event), ...options },
  );
  await node.connect();
  return { node, store, events, heard: async () => [], [Symbol.asyncDispose]: () => node.close() };
}

/** Connects to a server of a few lines that runs as a program, beside whose tools there is `pid`. */
export async function timedProgram(
  { prelude = "", before = "", ...deps }: ScriptDeps,
  config: Partial<ExternalToolConfig> = {},
  options: ToolNodeOptions = {},
): Promise<Timed> {
  const folder = await mkdtemp(join(tmpdir(), "sluice-timed-"));
  const [program, log] = [join(folder, "server.mjs"), join(folder, "log")];
  const tools = { pid: PID, ...deps.tools };
  await writeFile(
    program,
    serverScript({ ...deps, tools, prelude: HEARS + prelude, before: HEARS_CANCELLED + before }),
  );
  await writeFile(log, "");
  const connection = [process.execPath, program, log].map((word) => `"${word}"`).join(" ");
  const source = await timed({ connection, ...config }, options);
  // Whoever is hurried later has a program that runs.
  await source.node.call("pid", {}, as("alice"));
  const heard = async (): Promise<readonly string[]> => (await readFile(log, "utf8")).split("\n").filter(Boolean);
  const dispose = async (): Promise<void> => {
    await source.node.close();
    await rm(folder, { recursive: true });
  };
  return { ...source, heard, [Symbol.asyncDispose]: dispose };
}

/** A call of a user, with time enough for a program to start. */
export function as(user_id: string): Pick<ToolContext, "scope"> {
  return { scope: { user_id } };
}

/** One that is given up after a second of silence. */
export function hurried(user_id: string): Pick<ToolContext, "scope" | "timeoutSeconds"> {
  return { ...as(user_id), timeoutSeconds: 1 };
}
