/**
 * `sluice doctor`: which servers of which hosts are behind Sluice, what that saved so far, what the store has of them, which files a
 * model can read, and with `--start` whether the servers start.
 *
 * The operands and options are in `../commands/install.ts`.
 * @module
 */
import { isAbsolute } from "node:path";
import { createInterface } from "node:readline";
import spawn from "cross-spawn";
import { countNoun, groupDigits, humanSize } from "../../core/amounts.js";
import type { ConversionRequest } from "../../documents/conversion.js";
import { convertInWorker } from "../../documents/sandbox-node.js";
import { isObject } from "../../errors/arguments.js";
import { objectOr, tryParse } from "../../jsonrpc/rpc.js";
import type { Invocation } from "../command.js";
import { Exit, toExitCode } from "../exit.js";
import { storeFolder } from "../store/folders.js";
import { savingsIn, sumByHost, totalSavings, type Savings } from "../store/savings.js";
import { openKeptStore } from "../store/store.js";
import { report } from "../terminal/report.js";
import { clause, onOneLine, printable, type Terminal } from "../terminal/terminal.js";
import { thisMachine } from "./hosts.js";
import { findConfigs, indentRows, toLabel, NO_HOST, standingText, type InstallDeps } from "./install.js";
import { isThere } from "./program.js";
import { namespaceIn, optionIn, listServers, summarizeEntry, findHiddenTool, type Server } from "./servers.js";

/** What a store has of a server. */
interface Kept {
  artifacts: number;
  bytes: number;
}

/** Whether a server starts: the number of its tools, or why not. */
interface Start {
  readonly tools?: number;
  readonly error?: string;
}

/** What is known of a server. */
interface Finding {
  readonly server: Server;
  /** What the store has of it. Undefined for a server that is not behind Sluice, and for one with a store of its own. */
  readonly kept: Kept | undefined;
  /** What was saved of its results. Undefined likewise. */
  readonly saved: Savings | undefined;
  /** What keeps it from starting, as far as files tell. */
  readonly problem: string | undefined;
  readonly start: Start | undefined;
}

export async function doctor(invocation: Invocation, terminal: Terminal, deps: InstallDeps = {}): Promise<number> {
  const machine = deps.machine ?? thisMachine(terminal.env);
  const { files, failures } = await findConfigs(invocation.operands, machine);
  const { total, namespaces } = await countKept(invocation.value("store"));
  const store = storeFolder(invocation.value("store"));
  const savings = await savingsIn(store);
  const found: { readonly host: string; readonly place: string; readonly findings: readonly Finding[] }[] = [];
  for (const { host, place, data } of files) {
    const findings: Finding[] = [];
    for (const server of listServers(host, data)) {
      const start =
        invocation.has("start") && server.standing.kind === "behind" ? await startServer(server, terminal) : undefined;
      const namespace = findSharedNamespace(server);
      const kept = namespace === undefined ? undefined : (namespaces.get(namespace) ?? { artifacts: 0, bytes: 0 });
      // What other hosts' clients saved by a server of the same namespace is theirs.
      const saved = namespace === undefined ? undefined : savings.get(namespace)?.get(host.id);
      findings.push({ server, kept, saved, problem: await findProblem(server), start });
    }
    found.push({ host: host.title, place, findings });
  }
  for (const failure of failures) await report(failure, terminal.errors, undefined);
  const sum = { store, ...total, saved: sumByHost(savings.values()) };
  const documents = await checkDocuments();
  if (invocation.has("json")) await printJson(found, sum, documents, terminal);
  else {
    await print(found, sum, failures.length > 0, terminal);
    await printDocuments(documents, terminal);
  }
  const isWell =
    documents.every(({ problem }) => problem === undefined) &&
    found.every(({ findings }) =>
      findings.every(({ problem, start }) => problem === undefined && start?.error === undefined),
    );
  return failures.length > 0 ? toExitCode(failures[0]) : isWell ? Exit.ok : Exit.failure;
}

/** What the store has now, by namespace. What retention has removed is not known any more. */
async function countKept(
  where: string | undefined,
): Promise<{ readonly total: Kept; readonly namespaces: ReadonlyMap<string, Kept> }> {
  const total: Kept = { artifacts: 0, bytes: 0 };
  const namespaces = new Map<string, Kept>();
  const store = await openKeptStore(where);
  for await (const { namespace, size_bytes } of store.list()) {
    const kept = namespaces.get(namespace) ?? { artifacts: 0, bytes: 0 };
    namespaces.set(namespace, kept);
    for (const each of [kept, total]) {
      each.artifacts += 1;
      each.bytes += size_bytes;
    }
  }
  return { total, namespaces };
}

/** Under which namespace the store has what a server behind Sluice sent. Undefined for one with a store of its own. */
function findSharedNamespace({ standing }: Server): string | undefined {
  if (standing.kind !== "behind" || optionIn(standing.words, "--store") !== undefined) return undefined;
  // One that was put in by hand may have a namespace that is made of its command.
  return namespaceIn(standing.words);
}

/** What keeps a server from being of use: programs that are gone, and a tool that is not offered. */
async function findProblem(server: Server): Promise<string | undefined> {
  const { host, name, standing } = server;
  if (standing.kind !== "behind") return undefined;
  const again = `${host.id} --server ${JSON.stringify(name)}`;
  const proxy = standing.words.indexOf("proxy");
  for (const path of standing.words.slice(0, proxy)) {
    if (!isAbsolute(path) || (await isThere(path))) continue;
    return `${path} is gone: run \`sluice uninstall ${again}\`, then \`sluice install ${again}\``;
  }
  const tool = findHiddenTool(server);
  return tool && `its "${host.shape.allowed}" lacks ${tool}, so no model can read what is stored: add it there`;
}

/** Milliseconds that a server has to answer. A first start may fetch packages. */
const PATIENCE = 60_000;

/** What hosts replace in entries: `${…}`, `$NAME`, `{env:…}`, `{file:…}`, `{{…}}`. */
const FILLED_IN = /\$\{|\$[A-Z_]|\{(?:env|file):|\{\{/;

/** Starts a server as its host does, and asks for its tools. */
async function startServer({ host: { shape }, entry, standing }: Server, terminal: Terminal): Promise<Start> {
  if (standing.kind !== "behind") return {};
  const said = objectOr(entry[shape.env]);
  const env = Object.fromEntries(Object.entries(said).map(([name, value]) => [name, String(value)]));
  if ([...standing.words, ...Object.values(env)].some((text) => FILLED_IN.test(text))) {
    return { error: "not started, since its host fills in part of its entry" };
  }
  const [program = "", ...args] = standing.words;
  const folder = entry["cwd"];
  const child = spawn(program, args, {
    stdio: ["pipe", "pipe", "ignore"],
    env: { ...process.env, ...env },
    windowsHide: true,
    ...(typeof folder === "string" && { cwd: folder }),
  });
  const patience = AbortSignal.any([terminal.signal, AbortSignal.timeout(PATIENCE)]);
  try {
    return await new Promise<Start>((resolve) => {
      patience.addEventListener("abort", () => resolve({ error: `no answer within ${PATIENCE / 1000} seconds` }), {
        once: true,
      });
      child.once("error", () => resolve({ error: "its program cannot be started" }));
      child.once("exit", (code) => resolve({ error: `it ended before it answered, with exit code ${String(code)}` }));
      child.stdin?.on("error", () => undefined);
      const send = (message: object): void =>
        void child.stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
      if (child.stdout === null) return;
      createInterface({ input: child.stdout }).on("line", (line) => {
        const { id, result, error } = objectOr(tryParse(line));
        if (id !== 1 && id !== 2) return;
        if (!isObject(result))
          resolve({ error: `it answered with an error: ${clause(onOneLine(String(objectOr(error)["message"])))}` });
        else if (id === 2) resolve({ tools: Array.isArray(result["tools"]) ? result["tools"].length : 0 });
        else {
          send({ method: "notifications/initialized" });
          send({ id: 2, method: "tools/list" });
        }
      });
      const clientInfo = { name: "sluice-doctor", version: "1" };
      send({ id: 1, method: "initialize", params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo } });
    });
  } finally {
    terminal.signal.throwIfAborted();
    // The proxy ends its server with itself.
    child.stdin?.end();
    child.kill();
  }
}

/** Whether files of a kind can be read. */
interface DocumentCheck {
  /** Kinds as a person calls them. */
  readonly kinds: string;
  /** Why they cannot be read; undefined if they can. */
  readonly problem: string | undefined;
}

const encoder = new TextEncoder();

/** An empty page (ISO 32000-1). */
const PDF = encoder.encode(
  "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj 3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>endobj trailer<</Root 1 0 R>>",
);

/** One black pixel (GIF89a). */
const GIF = Uint8Array.from(
  Buffer.from("47494638396101000100800000000000ffffff2c00000000010001000002024401003b", "hex"),
);

const PICTURE_LIMITS = { maxSide: 100, maxBytes: 1024 * 1024 };

/** What is tried, and which kinds are read in the same way. */
const SAMPLES: readonly { readonly kinds: string; readonly request: ConversionRequest; readonly bytes: Uint8Array }[] =
  [
    { kinds: "text of PDF", request: { kind: "pdf", form: "text" }, bytes: PDF },
    {
      kinds: "pages of PDF as pictures",
      request: { kind: "pdf", form: "picture", page: 1, limits: PICTURE_LIMITS },
      bytes: PDF,
    },
    {
      kinds: "pictures (PNG, JPEG, WebP, GIF, BMP, TIFF)",
      request: { kind: "image", form: "picture", page: 1, limits: PICTURE_LIMITS },
      bytes: GIF,
    },
    {
      kinds: "Word, Excel, PowerPoint, OpenDocument, EPUB, HTML, Parquet, archives",
      request: { kind: "html", form: "text" },
      bytes: encoder.encode("<p>Hello</p>"),
    },
  ];

/** Tries each kind, in processes of their own. Never throws. */
async function checkDocuments(): Promise<readonly DocumentCheck[]> {
  return Promise.all(
    SAMPLES.map(async ({ kinds, request, bytes }) => {
      try {
        await convertInWorker({ request, input: readOnce(bytes), write: async () => undefined });
        return { kinds, problem: undefined };
      } catch (error) {
        return { kinds, problem: clause(onOneLine((error as Error).message)) };
      }
    }),
  );
}

async function* readOnce(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** The store's folder, with what it has and what was saved in all, by host. */
type Sum = Kept & { readonly store: string; readonly saved: ReadonlyMap<string, Savings> };

type Found = readonly { readonly host: string; readonly place: string; readonly findings: readonly Finding[] }[];

async function print(found: Found, sum: Sum, hasFailed: boolean, { output, errors }: Terminal): Promise<void> {
  for (const { host, place, findings } of found) {
    await output.write(`${output.bold(host)}  ${printable(place)}\n`);
    const rows = findings.map((finding) =>
      [toLabel(finding.server), summarizeEntry(finding.server), describeState(finding)].map(onOneLine),
    );
    await output.write(indentRows(rows.length === 0 ? [["no servers", "", ""]] : rows));
  }
  if (found.length === 0 && !hasFailed) await errors.write(`sluice: ${NO_HOST}\n`);
  const total = totalSavings(sum.saved.values());
  if (total.calls > 0) {
    await output.write(`Sluice ${describeSaved(total)}, against what each host would have shown its model:\n`);
    await output.write(indentRows([...sum.saved].map(([host, savings]) => [onOneLine(host), describeSaved(savings)])));
  }
  const kept = sum.artifacts === 0 ? "is empty" : `has ${describeKept(sum)}`;
  await output.write(`The store ${printable(sum.store)} ${kept}.\n`);
}

async function printDocuments(documents: readonly DocumentCheck[], { output }: Terminal): Promise<void> {
  await output.write(`${output.bold("Files that a model can read")}\n`);
  const rows = documents.map(({ kinds, problem }) => [kinds, problem ?? "read"]);
  await output.write(indentRows(rows));
}

function describeState({ server, kept, saved, problem, start }: Finding): string {
  const parts = [
    standingText(server),
    ...(problem === undefined ? [] : [problem]),
    ...(start?.tools === undefined ? [] : [`starts, with ${countNoun(start.tools, "tool")}`]),
    ...(start?.error === undefined ? [] : [start.error]),
    ...(saved === undefined ? [] : [describeSaved(saved)]),
    ...(kept === undefined ? [] : [`${describeKept(kept)} in the store`]),
  ];
  return parts.join("; ");
}

/** Bytes of JSON text that a token stands for, roughly. */
const TOKEN_BYTES = 4;

const countSavedBytes = ({ bytes_shown, bytes_out }: Savings): number => Math.max(0, bytes_shown - bytes_out);
const countSavedTokens = (savings: Savings): number => Math.round(countSavedBytes(savings) / TOKEN_BYTES);

const withTokens = (savings: Savings): object => ({ ...savings, tokens_saved: countSavedTokens(savings) });

/** `saved 5.3 MB (about 1,397,000 tokens) in 3 calls`. */
function describeSaved(savings: Savings): string {
  const { calls } = savings;
  const tokens = `about ${groupDigits(Number(countSavedTokens(savings).toPrecision(4)))} tokens`;
  return `saved ${humanSize(countSavedBytes(savings))} (${tokens}) in ${countNoun(calls, "call")}`;
}

function describeKept({ artifacts, bytes }: Kept): string {
  return artifacts === 0 ? "nothing" : `${countNoun(artifacts, "artifact")} of ${humanSize(bytes)}`;
}

async function printJson(
  found: Found,
  { saved: savings, ...store }: Sum,
  documents: readonly DocumentCheck[],
  { output }: Terminal,
): Promise<void> {
  const hosts = found.map(({ host, place, findings }) => ({
    host,
    file: place,
    servers: findings.map(({ server, kept, saved, problem, start }) => ({
      name: server.name,
      ...(server.project !== undefined && { project: server.project }),
      behind: server.standing.kind === "behind",
      ...(server.standing.kind === "skipped" && { skipped: server.standing.reason }),
      ...(problem !== undefined && { problem }),
      ...start,
      ...kept,
      ...(saved !== undefined && { saved: withTokens(saved) }),
    })),
  }));
  const byHost = Object.fromEntries([...savings].map(([host, each]) => [host, withTokens(each)]));
  const savedByHost = { ...withTokens(totalSavings(savings.values())), hosts: byHost };
  const files = documents.map(({ kinds, problem }) => ({ kinds, read: problem === undefined, problem }));
  await output.write(`${JSON.stringify({ hosts, store, saved: savedByHost, files })}\n`);
}
