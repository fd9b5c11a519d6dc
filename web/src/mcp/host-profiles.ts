/**
 * What hosts make of results: one table, one row a host. A client is known by the name that it introduces itself with. Of an
 * unknown one, only what harms no host is assumed. `docs/hosts.md` has what runs have shown, with their dates.
 * @module
 */
import type { AnswerRef, Transformed } from "../core/types.js";
import { plainType } from "../core/media-type.js";
import { objectOr, stringOr } from "../jsonrpc/rpc.js";
import type { ClientRequest } from "./client-request.js";
import type { ResultWishes } from "./in-flight.js";

/** What a host makes of results. Each member says which case of `npm run hosts` shows it. */
export interface HostProfile {
  /** The word for the host, as `--host` takes it. */
  readonly host: string;
  /** The version that the row was seen in, or what it was read in. */
  readonly seen: string;
  /** Whether image blocks come before a model that sees. Cases `img`, `three_images`. */
  readonly images: boolean;
  /** Whether those of a call that failed do. Case `err`. */
  readonly imagesInErrors: boolean;
  /** Media types of an embedded resource whose bytes it gives its model, or saves to a file; `*` stands for all. Case `blob_pdf`. */
  readonly blobs: readonly string[];
  /** Whether it gives its model the sound of an audio block, or saves it to a file. Case `audio`. */
  readonly audio: boolean;
  /** The half of a result with both that its model reads. Cases `both`, `both_rows`. */
  readonly half: "structured" | "content" | "both" | "unknown";
  /** What of `content` is hidden by `structuredContent` if that half alone is read: texts, or images too. Case `img_structured`. */
  readonly hides: "texts" | "all";
  /** What becomes of `structuredContent` beside empty `content`. Case `structured_only`. */
  readonly structuredAlone: "shown" | "lost";
  /** What becomes of the text of an embedded resource. Case `res_text`. */
  readonly resourceTexts: "shown" | "lost";
  /** Whether its model is told of links, whether it takes further ones, whether it drops them, or the call throws. Case `link`. */
  readonly links: "told" | "taken" | "dropped" | "throw";
  /** Whether it offers its model tools of its own for the resources of servers, in so many words that ours are not worth them. Case `list`. */
  readonly hasResourceTools: boolean;
  /** Whether its model reads `_meta` of results: of all, or of those that are errors. Case `meta`. */
  readonly meta: "always" | "errors" | "never";
  /**
   * Who gets the bytes of a resource that the host reads: its model, as text, or the application, which shows it or saves it to a file. The
   * server's own resource in `docs/hosts.md`.
   */
  readonly readsResources: "model" | "application";
  /** The longest text that it shows whole, in bytes. Cases `text8k` to `text400k`. */
  readonly wholeText: number;
  /** The same where it depends on the model, by the beginning of the model's name. */
  readonly wholeTextByModel: Readonly<Record<string, number>>;
  /** Where `_meta` of a call has the name of the model, member by member; empty where it has none. */
  readonly modelAt: readonly string[];
  /** The most lines of a text that it shows whole. Case `text_lines`. */
  readonly wholeLines: number;
  /** Characters that it shows of a text that is longer. Case `text400k`. */
  readonly cutText: number;
  /** Calls whose result goes to a script of its model's, not to the model: all, or by a member of the call's `_meta` and how it begins. */
  readonly scripts: { readonly member: string; readonly begins: string } | "all" | undefined;
  /** Most characters of an answer of our own tools, as JSON. Case `answer`. */
  readonly answerChars: number;
  /** Whether it refuses a result that the schema of its tool refuses. Case `refused_value`. */
  readonly checksResults: boolean;
  /** Whether it shows as much of a tool's results as the tool's `_meta["anthropic/maxResultSizeChars"]` says. */
  readonly readsToolLimits: boolean;
  /** What its model calls a tool, of the name of its server in its configuration and that of the tool. Case `dotted_name`. */
  readonly toolNames: string;
}

/** What is assumed of an unknown host. */
const CAREFUL: HostProfile = {
  host: "unknown",
  seen: "",
  images: false,
  imagesInErrors: false,
  blobs: [],
  audio: false,
  half: "unknown",
  hides: "texts",
  structuredAlone: "shown",
  resourceTexts: "shown",
  links: "told",
  hasResourceTools: false,
  meta: "never",
  readsResources: "application",
  wholeText: 10_000,
  wholeTextByModel: {},
  modelAt: [],
  wholeLines: Infinity,
  cutText: Infinity,
  scripts: undefined,
  answerChars: 10_000,
  checksResults: true,
  readsToolLimits: false,
  toolNames: "{tool}",
};

interface HostRow extends Partial<HostProfile> {
  readonly host: string;
  readonly seen: string;
  /** Names of its clients in lower case; one that ends in `*` stands for all that begin so. None: it has no name of its own. */
  readonly clients: readonly string[];
  /** The first version that shows images, where older ones do not, or are unknown. */
  readonly imagesSince?: string;
}

/** Bytes of a text that a model reads whole in a host that cuts none. */
const UNCUT = 48_000;

const HOSTS: readonly HostRow[] = [
  {
    host: "claude-code",
    clients: ["claude-code"],
    seen: "2.1.328",
    checksResults: false,
    readsToolLimits: true,
    toolNames: "mcp__{server}__{tool}",
    images: true,
    imagesSince: "2.0.0",
    blobs: ["*"],
    audio: true,
    half: "structured",
    wholeText: 48_000,
    cutText: 2300,
  },
  {
    host: "codex",
    clients: ["codex-mcp-client"],
    seen: "0.169.0",
    images: true,
    imagesSince: "0.53.0",
    imagesInErrors: true,
    half: "structured",
    hides: "all",
    // Its `read_mcp_resource` gives a model the JSON of what a server answers, base64 too: 12,000 characters of a PDF.
    readsResources: "model",
    checksResults: false,
    wholeTextByModel: { "gpt-5.": 40_000 },
    modelAt: ["x-codex-turn-metadata", "model"],
    cutText: 12_000,
    scripts: { member: "callId", begins: "exec-" },
  },
  {
    host: "opencode",
    clients: ["opencode"],
    seen: "1.18.33",
    toolNames: "{server}_{tool}",
    images: true,
    imagesSince: "1.18.33",
    blobs: ["application/pdf"],
    half: "content",
    links: "dropped",
    hasResourceTools: true,
    wholeText: 45_000,
    wholeLines: 1900,
    cutText: 51_500,
  },
  // Its calls do not say that a script makes them.
  {
    host: "opencode-code",
    clients: [],
    seen: "1.18.33 with OPENCODE_EXPERIMENTAL_CODE_MODE",
    toolNames: "{server}_{tool}",
    half: "content",
    hasResourceTools: true,
    scripts: "all",
  },
  {
    host: "gemini",
    clients: ["gemini-cli-mcp-client"],
    seen: "0.61.0",
    toolNames: "mcp_{server}_{tool}",
    images: true,
    blobs: ["application/pdf"],
    half: "content",
    structuredAlone: "lost",
    meta: "errors",
    wholeText: 36_000,
    cutText: 40_900,
  },
  {
    host: "qwen",
    clients: ["qwen-cli-mcp-client-*"],
    seen: "0.24.4",
    checksResults: false,
    toolNames: "mcp__{server}__{tool}",
    images: true,
    imagesInErrors: true,
    blobs: ["application/pdf"],
    half: "both",
    meta: "errors",
    wholeText: 24_000,
    wholeLines: 900,
    cutText: 2600,
  },
  {
    host: "cline",
    clients: ["@cline/core"],
    seen: "3.0.65",
    checksResults: false,
    toolNames: "{server}__{tool}",
    half: "both",
    meta: "always",
    wholeText: 7000,
    cutText: 8200,
    answerChars: 7500,
  },
  {
    host: "kilo",
    clients: ["kilo"],
    seen: "7.7.7",
    toolNames: "{server}_{tool}",
    images: true,
    blobs: ["application/pdf"],
    half: "content",
    links: "dropped",
    hasResourceTools: true,
    wholeText: 45_000,
    wholeLines: 1900,
    cutText: 53_300,
  },
  {
    host: "continue",
    clients: ["continue-cli-client"],
    seen: "1.5.47",
    half: "content",
    structuredAlone: "lost",
    wholeText: UNCUT,
  },
  {
    host: "copilot",
    clients: ["copilot-cli"],
    seen: "1.0.102",
    blobs: ["application/pdf"],
    half: "both",
    links: "dropped",
    wholeText: 20_100,
    cutText: 840,
  },
  {
    host: "vscode",
    clients: ["visual studio code", "visual studio code - insiders"],
    seen: "source of 027907cb",
    images: true,
    imagesSince: "1.100.0",
    half: "structured",
  },
  { host: "cursor", clients: ["cursor-vscode"], seen: "documentation of 2026-11-25", images: true },
  {
    host: "langchain",
    clients: ["@langchain/mcp-adapters"],
    seen: "1.1.4",
    half: "both",
    structuredAlone: "lost",
    resourceTexts: "lost",
    links: "throw",
    meta: "always",
    wholeText: UNCUT,
  },
  {
    host: "ai-sdk",
    clients: ["ai-sdk-mcp-client"],
    seen: "2.0.99",
    half: "content",
    structuredAlone: "lost",
    wholeText: UNCUT,
  },
  // It tells the name that its user gives the server; without one, how it reaches the server.
  {
    host: "openai-agents",
    clients: ["stdio: *", "streamable-http: *", "sse: *"],
    seen: "0.20.0",
    images: true,
    imagesInErrors: true,
    half: "content",
    structuredAlone: "lost",
    wholeText: UNCUT,
  },
  // Its models of Chat Completions get no pictures.
  {
    host: "openai-agents-chat",
    clients: [],
    seen: "0.20.0",
    half: "content",
    structuredAlone: "lost",
    wholeText: UNCUT,
  },
  {
    host: "strands",
    clients: ["strands-agents-ts-sdk"],
    seen: "1.19.0",
    images: true,
    imagesInErrors: true,
    half: "content",
    structuredAlone: "lost",
    wholeText: UNCUT,
  },
  // The name that it tells is the one that its user gives the server.
  { host: "mastra", clients: [], seen: "2.0.0", half: "structured", hides: "all", meta: "always", wholeText: UNCUT },
  // It prints base64, unless it is told to save images.
  {
    host: "mcporter",
    clients: ["mcporter"],
    seen: "0.12.3",
    half: "structured",
    meta: "always",
    wholeText: UNCUT,
  },
  { host: "inspector", clients: ["mcp-inspector"], seen: "2.12", half: "both", links: "taken", meta: "always" },
  { host: "librechat", clients: ["@librechat/api-client"], seen: "source of 001f16d8", half: "content" },
  { host: "zed", clients: ["zed"], seen: "source of 00400088", half: "content" },
];

/** The words for hosts that are known. */
export const HOST_WORDS: readonly string[] = HOSTS.map(({ host }) => host);

/** Most characters of a version, or of a server's name. Longer ones are none. Of a client's name so many are compared. */
const MAX_CHARS = 64;

/** The profile of a client by what it says of itself, `clientInfo` of MCP. If it is not known, that of an unknown host. */
export function recognizeHost(clientInfo: unknown): HostProfile {
  const { name, version } = objectOr(clientInfo);
  const known = (stringOr(name) ?? "").slice(0, MAX_CHARS).toLowerCase();
  const row = HOSTS.find(({ clients }) => clients.some((client) => isNamed(known, client)));
  return row === undefined ? CAREFUL : complete(row, cut(version));
}

/** The profile of a host by its word, of the version that the table has. Undefined for other words. */
export function findHost(word: string): HostProfile | undefined {
  const row = HOSTS.find(({ host }) => host === word);
  return row && complete(row);
}

/** How a client asks for the result of a call. */
export function readWishes({ params }: Pick<ClientRequest, "params">, { scripts }: HostProfile): ResultWishes {
  const meta = objectOr(params["_meta"]);
  const isScript =
    scripts === "all" || (scripts !== undefined && stringOr(meta[scripts.member])?.startsWith(scripts.begins) === true);
  return { wantsList: meta["sluice/refs"] === "list", wantsWhole: isScript || meta["sluice/whole"] === true };
}

/** The name of the model that a request is made for, where the host tells it. */
export function readModel({ params }: Pick<ClientRequest, "params">, { modelAt }: HostProfile): string | undefined {
  if (modelAt.length === 0) return undefined;
  return stringOr(modelAt.reduce<unknown>((value, member) => objectOr(value)[member], params["_meta"]));
}

/** The longest name of a tool that hosts leave as it is. */
const MAX_TOOL_NAME = 64;

/**
 * What a host's model calls a tool. `server` is the name of its server in the host's configuration, if it is known; some clients tell
 * it in their own name. Where it is not, or where the host would write the name otherwise, it is the tool's own name.
 */
export function nameToolFor({ toolNames }: HostProfile, tool: string, server: string | undefined): string {
  if (!toolNames.includes("{server}")) return tool;
  // Hosts write other signs in their own way, and cut long names.
  if (server === undefined || !/^\w+$/.test(server)) return tool;
  const name = toolNames.replace("{server}", server).replace("{tool}", tool);
  return name.length <= MAX_TOOL_NAME ? name : tool;
}

/** The name of its server that a client tells in its own. */
export function readServerName(clientInfo: unknown): string | undefined {
  const name = cut(objectOr(clientInfo)["name"]);
  const [, server] = /^qwen-cli-mcp-client-(.+)$/i.exec(name) ?? [];
  return server;
}

function complete({ clients: _, imagesSince, ...row }: HostRow, version?: string): HostProfile {
  const isTooOld = version !== undefined && imagesSince !== undefined && !isSince(version, imagesSince);
  return { ...CAREFUL, ...row, ...(isTooOld && { images: false, imagesInErrors: false }) };
}

function isNamed(name: string, client: string): boolean {
  return client.endsWith("*") ? name.startsWith(client.slice(0, -1)) : name === client;
}

function cut(value: unknown): string {
  const text = stringOr(value) ?? "";
  return text.length > MAX_CHARS ? "" : text;
}

/** Compares versions. A pre-release counts as its release; a text that is not a version is older than all. */
function isSince(version: string, first: string): boolean {
  return /^\d/.test(version) && version.localeCompare(first, "en", { numeric: true }) >= 0;
}

/** Bytes of text that a host would have shown of a result, and those that it shows of what is left of it. */
export function measureShown(
  { artifacts, bytesIn, bytesOut, value, refs = "" }: Transformed,
  host: HostProfile,
): { readonly before: number; readonly now: number } {
  const media = artifacts.reduce((sum, ref) => sum + (isMedia(ref, host) ? countBase64(ref.size_bytes) : 0), 0);
  const before = countText(Math.max(0, bytesIn - media), host);
  return { before, now: Math.min(before, Math.max(0, bytesOut - refs.length - countMedia(value))) };
}

function countText(bytes: number, { wholeText, cutText }: HostProfile): number {
  return bytes <= wholeText ? bytes : Math.min(bytes, cutText);
}

/** Whether a host shows an artifact other than as text. */
function isMedia({ mime_type }: AnswerRef, { images, blobs }: HostProfile): boolean {
  const type = plainType(mime_type) ?? "";
  return type.startsWith("image/") ? images : blobs.includes(type);
}

/** Characters of bytes in base64. */
function countBase64(bytes: number): number {
  return Math.ceil(bytes / 3) * 4;
}

/** Characters of base64 in the blocks of a result. */
function countMedia(value: unknown): number {
  const { content } = objectOr(value);
  if (!Array.isArray(content)) return 0;
  return content.reduce<number>((sum, block) => {
    const { data, resource } = objectOr(block);
    return sum + (stringOr(data) ?? stringOr(objectOr(resource)["blob"]) ?? "").length;
  }, 0);
}
