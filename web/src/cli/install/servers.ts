/**
 * The servers in a host's configuration: what each entry says, how it looks behind Sluice, and how it looked before.
 * @module
 */
import { isObject } from "../../errors/arguments.js";
import { cleanNamespace } from "../../artifacts/reference.js";
import { readToolName } from "../../mcp/artifact-reader/definition.js";
import { findHost } from "../../mcp/host-profiles.js";
import { parseHeaderLines, parseHeaders } from "../proxy/upstream.js";
import type { ConfigData, EntryChange } from "./config-text.js";
import type { EntryShape, Host } from "./hosts.js";

/** The variables that `sluice proxy` takes an address and headers from. */
const URL_VARIABLE = "SLUICE_PROXY_URL";
const HEADERS_VARIABLE = "SLUICE_PROXY_HEADERS";

/** A program and its arguments. */
type Words = readonly string[];

/** What an entry is. */
export type Standing =
  /** A command that Sluice can be put in front of. */
  | { readonly kind: "command"; readonly words: Words }
  /** A server that speaks HTTP, and wants no more than these headers. */
  | { readonly kind: "remote"; readonly url: string; readonly headers: Readonly<Record<string, string>> }
  /** A server that Sluice is in front of. `words` are those of the proxy. */
  | { readonly kind: "behind"; readonly words: Words; readonly inner: Words }
  /** One that Sluice is not put in front of. */
  | { readonly kind: "skipped"; readonly reason: string; readonly url?: string };

/** A server in a configuration. */
export interface Server {
  readonly host: Host;
  readonly name: string;
  /** The project that it is for, if it is for one. */
  readonly project: string | undefined;
  /** Where its entry is in the configuration: the part of it that says how it is started or reached. */
  readonly path: readonly string[];
  readonly entry: ConfigData;
  /** The entry with what stands beside that part: the same where a host does not write it one level deeper. */
  readonly whole: { readonly path: readonly string[]; readonly entry: ConfigData };
  readonly standing: Standing;
}

/**
 * The servers of a configuration, in its order.
 *
 * @param wanted names that the user gave. A server at an address without headers may sign in by itself, or want nothing: only
 * who names it knows.
 */
export function listServers(host: Host, data: ConfigData, wanted: readonly string[] = []): readonly Server[] {
  return host.maps.flatMap((map) =>
    mapsAt(data, map, []).flatMap(({ path, value }) =>
      Object.entries(value).flatMap(([key, whole]) => {
        if (!isObject(whole)) return [];
        const { inner = "" } = host.shape;
        const isDeep = isObject(whole[inner]);
        const entry = isDeep ? (whole[inner] as ConfigData) : whole;
        const name = Array.isArray(value) ? whole["name"] : key;
        if (typeof name !== "string") return [];
        const standing = judgeEntry(entry, host.shape, wanted.includes(name));
        if (standing === undefined) return [];
        const project = path.length > 2 ? path.at(-2) : undefined;
        const at = [...path, key];
        const place = { path: isDeep ? [...at, inner] : at, entry, whole: { path: at, entry: whole } };
        return [{ host, name, project, ...place, standing }];
      }),
    ),
  );
}

function mapsAt(
  value: unknown,
  [name, ...rest]: readonly string[],
  path: readonly string[],
): readonly { readonly path: readonly string[]; readonly value: ConfigData | readonly unknown[] }[] {
  if (name === undefined && Array.isArray(value)) return [{ path, value }];
  if (!isObject(value)) return [];
  if (name === undefined) return [{ path, value }];
  const names = name === "*" ? Object.keys(value) : [name];
  return names.flatMap((each) => mapsAt(value[each], rest, [...path, each]));
}

/** What an entry is; undefined if it is no server that a host starts or connects to, as what is built in. */
function judgeEntry(entry: ConfigData, shape: EntryShape, isNamed: boolean): Standing | undefined {
  const words = readWords(entry, shape);
  if (words === "unknown")
    return { kind: "skipped", reason: "its command is written in a way that Sluice does not know" };
  if (words !== undefined) {
    const inner = behindProxy(words);
    return inner === undefined ? { kind: "command", words } : { kind: "behind", words, inner };
  }
  const key = shape.urls.find((name) => typeof entry[name] === "string");
  return key === undefined ? undefined : standingOfRemote(entry, key, shape, isNamed);
}

function standingOfRemote(entry: ConfigData, key: string, shape: EntryShape, isNamed: boolean): Standing {
  const url = String(entry[key]);
  const headers = readTexts(entry[shape.headers]);
  const toSkipped = (reason: string): Standing => ({ kind: "skipped", reason, url });
  // `false` and the like turn a way to sign in off.
  const signIn = shape.signIn.find((name) => Boolean(entry[name]));
  if (signIn !== undefined) {
    return toSkipped(`its "${signIn}" makes the host sign in or look up headers, which the proxy cannot do for it`);
  }
  const speaksEvents =
    entry["type"] === "sse" ||
    (shape.eventUrls?.includes(key) === true && entry["type"] !== "http") ||
    (entry["type"] === undefined && /\/sse\/?$/.test(URL.canParse(url) ? new URL(url).pathname : ""));
  if (speaksEvents) return toSkipped("it speaks the older transport with server-sent events, which the proxy does not");
  if (headers === undefined) return toSkipped("its headers are not all strings");
  if (
    shape.onlyInHeaders !== undefined &&
    Object.values({ ...headers, url }).some((each) => shape.onlyInHeaders?.test(each))
  ) {
    return toSkipped("the host fills in its headers or its address, which hosts do not do for a command");
  }
  if (Object.keys(headers).length === 0 && !hasCredentials(url) && !isNamed) {
    return toSkipped(
      "it has no headers, so the host may sign in to it, which the proxy cannot do; if it needs no sign-in, name it with --server",
    );
  }
  return { kind: "remote", url, headers };
}

/** The words of a command; undefined if the entry has none. */
function readWords(entry: ConfigData, { command, args }: EntryShape): Words | undefined | "unknown" {
  const said = entry[command];
  if (said === undefined) return undefined;
  const more = args === undefined ? [] : (entry[args] ?? []);
  const words = [said, more].flat();
  const isWritten = args === undefined ? Array.isArray(said) : typeof said === "string" && Array.isArray(more);
  return isWritten && words.length > 0 && words.every((word) => typeof word === "string") ? words : "unknown";
}

/** The texts of an object, with numbers as YAML and TOML may have them; undefined if there is anything else in it. */
function readTexts(value: unknown): Readonly<Record<string, string>> | undefined {
  if (value == null) return {};
  if (!isObject(value)) return undefined;
  const texts = Object.entries(value).map(
    ([name, each]) => [name, typeof each === "number" ? String(each) : each] as const,
  );
  return texts.every(([, each]) => typeof each === "string")
    ? (Object.fromEntries(texts) as Record<string, string>)
    : undefined;
}

/** Whether an address has a user or a query in it, which is how servers take keys in addresses. */
function hasCredentials(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { username, search } = new URL(url);
  return username !== "" || search !== "";
}

/** The words behind those of `sluice proxy`: empty for an address; undefined if the words are not those of the proxy. */
function behindProxy(words: Words): Words | undefined {
  const proxy = words.indexOf("proxy");
  const program = words[proxy - 1] ?? "";
  if (
    proxy < 1 ||
    proxy > 6 ||
    !/(?:^|[\\/])(?:sluice(?:\.cmd|\.exe)?|mcp-sluice(?:@[^\\/]*)?|cli[\\/]main\.js)$/.test(program)
  ) {
    return undefined;
  }
  const end = words.indexOf("--", proxy);
  return end === -1 ? [] : words.slice(end + 1);
}

/** The namespace of a server behind Sluice: `--namespace`, if it has one. */
export function namespaceIn(words: Words): string | undefined {
  return optionIn(words, "--namespace");
}

/** The value of an option of the proxy. */
export function optionIn(words: Words, option: string): string | undefined {
  return optionsIn(words, option)[0];
}

/** All values of an option of the proxy. */
function optionsIn(words: Words, option: string): readonly string[] {
  const end = words.indexOf("--");
  const own = end === -1 ? words : words.slice(0, end);
  return own.flatMap((word, index) => {
    if (word === option) return own.slice(index + 1, index + 2);
    return word.startsWith(`${option}=`) ? [word.slice(option.length + 1)] : [];
  });
}

/** The entry's change that puts Sluice in front. `program` is the command up to `proxy`. */
export function withSluice({ host: { id, shape }, name, entry, standing }: Server, program: Words): EntryChange {
  // Only where models know tools by the name of their server, too.
  const isNamed = findHost(id)?.toolNames.includes("{server}") === true;
  const proxy = [...program, "proxy", "--namespace", namespaceFor(name), ...(isNamed ? [`--server-name=${name}`] : [])];
  if (standing.kind === "command") return new Map(commandMembers([...proxy, "--", ...standing.words], shape));
  if (standing.kind !== "remote") return new Map();
  const lines = Object.entries(standing.headers).map(([header, value]) => `${header}: ${value}`);
  const env = {
    ...readTexts(entry[shape.env]),
    [URL_VARIABLE]: standing.url,
    ...(lines.length > 0 && { [HEADERS_VARIABLE]: lines.join("\n") }),
  };
  const gone = [...shape.urls, shape.headers, ...(shape.commandType === undefined ? ["type"] : [])];
  return new Map<string, unknown>([
    ...gone.filter((key) => key in entry).map((key): [string, unknown] => [key, undefined]),
    ...(shape.commandType !== undefined && "type" in entry ? [["type", shape.commandType] as const] : []),
    ...commandMembers(proxy, shape),
    [shape.env, env],
  ]);
}

/**
 * The entry's change that takes Sluice away. What the user changed in the entry since then stays.
 *
 * @param before the entry as it was, if that is known. It says how an address was written down.
 */
export function withoutSluice(
  { host: { shape }, entry, standing }: Server,
  before: ConfigData | undefined,
): EntryChange {
  if (standing.kind !== "behind") return new Map();
  const { inner } = standing;
  if (inner.length > 0) {
    const members = new Map<string, unknown>(commandMembers(inner, shape));
    if (shape.args !== undefined && inner.length === 1 && before?.[shape.args] === undefined)
      members.set(shape.args, undefined);
    return members;
  }
  const {
    [URL_VARIABLE]: inEnvironment,
    [HEADERS_VARIABLE]: lines = "",
    ...others
  } = readTexts(entry[shape.env]) ?? {};
  const url = inEnvironment ?? optionIn(standing.words, "--url");
  if (url === undefined) return new Map();
  const urlKey = shape.urls.find((key) => before?.[key] !== undefined) ?? shape.urls[0] ?? "url";
  const headers = Object.fromEntries([
    ...parseHeaderLines(lines, HEADERS_VARIABLE),
    ...parseHeaders(optionsIn(standing.words, "--header")),
  ]);
  const isSame = before !== undefined && before[urlKey] === url;
  const hadEnv = isSame ? before[shape.env] !== undefined : Object.keys(others).length > 0;
  return new Map<string, unknown>([
    [shape.command, undefined],
    ...(shape.args === undefined ? [] : [[shape.args, undefined] as const]),
    [shape.env, hadEnv ? others : undefined],
    ["type", isSame ? before["type"] : remoteType(entry, shape)],
    [urlKey, url],
    ...(Object.keys(headers).length === 0 ? [] : [[shape.headers, headers] as const]),
  ]);
}

/** What `type` says of a server at an address, if its earlier value is unknown. */
function remoteType(entry: ConfigData, { args, commandType, urls }: EntryShape): string | undefined {
  if (commandType === undefined || !("type" in entry)) return undefined;
  if (commandType === "local" && args === undefined) return "remote";
  return urls[0] === "uri" ? "streamable_http" : "http";
}

/**
 * What changes beside the part of an entry that says how a server is started: our tool joins a list of tools that are offered, and what
 * the host needs is said. Empty if nothing does.
 */
export function changeBeside({ host: { shape }, name, whole: { entry } }: Server): EntryChange {
  const change = new Map<string, unknown>();
  const list = listAllowedTools(entry, shape);
  const tool = readToolName(namespaceFor(name));
  // First, so that the rest of the list keeps its form.
  if (shape.allowed !== undefined && list !== undefined && !isAllowed(list, tool))
    change.set(shape.allowed, [tool, ...list]);
  for (const [key, value] of Object.entries(shape.more ?? {})) {
    // A server that is switched off is not waited for.
    if (entry[key] === undefined && entry["enabled"] !== false) change.set(key, value);
  }
  return change;
}

/**
 * The same, taken away.
 *
 * @param before the entry as it was, if that is known: what it said stays.
 */
export function restoreBeside(server: Server, before: ConfigData | undefined): EntryChange {
  const { host, name, whole, standing } = server;
  const { allowed, more = {} } = host.shape;
  const change = new Map<string, unknown>();
  const list = listAllowedTools(whole.entry, host.shape);
  const tool = readToolName(
    (standing.kind === "behind" ? namespaceIn(standing.words) : undefined) ?? namespaceFor(name),
  );
  const others = list?.filter((each) => each !== tool);
  if (allowed !== undefined && others !== undefined && others.length !== list?.length) change.set(allowed, others);
  if (before === undefined) return change;
  for (const [key, value] of Object.entries(more)) {
    if (whole.entry[key] === value && before[key] === undefined) change.set(key, undefined);
  }
  return change;
}

/** The name of our tool that a host does not offer, since its list lacks it. */
export function findHiddenTool({ host: { shape }, whole: { entry }, standing }: Server): string | undefined {
  if (standing.kind !== "behind") return undefined;
  const namespace = namespaceIn(standing.words);
  const list = listAllowedTools(entry, shape);
  if (namespace === undefined || list === undefined) return undefined;
  const tool = readToolName(namespace);
  return isAllowed(list, tool) ? undefined : tool;
}

/** The list of the tools that a host offers; undefined if it offers all. */
function listAllowedTools(entry: ConfigData, { allowed }: EntryShape): readonly unknown[] | undefined {
  const list = allowed === undefined ? undefined : entry[allowed];
  return Array.isArray(list) ? (list as readonly unknown[]) : undefined;
}

function isAllowed(list: readonly unknown[], tool: string): boolean {
  return list.includes("*") || list.includes(tool);
}

function commandMembers([program = "", ...rest]: Words, { command, args }: EntryShape): [string, unknown][] {
  if (args === undefined) return [[command, [program, ...rest]]];
  return [
    [command, program],
    [args, rest],
  ];
}

/** Longest namespace: hosts and models limit the names of tools, which it is part of. */
const MAX_NAMESPACE = 24;

/** The namespace for a server of this name. */
export function namespaceFor(name: string): string {
  // A word that begins with a dash would be an option.
  const clean = cleanNamespace(name).replaceAll(".", "_").replace(/^-+/, "").slice(0, MAX_NAMESPACE);
  return clean === "" ? "server" : clean;
}

/** What an entry is, in words that show no secrets. */
export function summarizeEntry({ standing, entry, host: { shape } }: Server): string {
  if (standing.kind === "remote" || (standing.kind === "skipped" && standing.url !== undefined)) {
    return maskUrl(standing.url ?? "");
  }
  if (standing.kind === "command") return maskWords(standing.words).join(" ");
  if (standing.kind === "skipped") return "";
  if (standing.inner.length > 0) return maskWords(standing.inner).join(" ");
  return maskUrl(readTexts(entry[shape.env])?.[URL_VARIABLE] ?? optionIn(standing.words, "--url") ?? "");
}

/** What stands in place of a secret. */
const HIDDEN = "…";

/** The members of an entry that a change concerns, as text without secrets: all values of environments and headers are hidden. */
export function showMember(key: string, value: unknown, shape: EntryShape): string {
  if ((key === shape.env || key === shape.headers) && isObject(value)) {
    return `{ ${Object.keys(value)
      .map((name) => `${JSON.stringify(name)}: "${HIDDEN}"`)
      .join(", ")} }`;
  }
  if (typeof value === "boolean" || typeof value === "number") return String(value);
  if (key === shape.allowed) return JSON.stringify(value);
  if (Array.isArray(value))
    return `[${maskWords(value.map(String))
      .map((word) => JSON.stringify(word))
      .join(", ")}]`;
  if (typeof value !== "string") return HIDDEN;
  return JSON.stringify(shape.urls.includes(key) ? maskUrl(value) : maskWords([value])[0]);
}

/** Where an address leads, without what may be a key in it. */
function maskUrl(url: string): string {
  if (!URL.canParse(url)) return HIDDEN;
  const { protocol, host, pathname, search } = new URL(url);
  const isShort = /^(?:\/(?:[a-z]{1,12}|v\d))*\/?$/.test(pathname);
  return `${protocol}//${host}${isShort ? pathname : `/${HIDDEN}`}${search === "" ? "" : `?${HIDDEN}`}`;
}

const SECRET_NAME = /(?:key|token|secret|passw|pwd|auth|credential|bearer|cookie|header|private|dsn|connection)/i;
const SECRET_BEGINNING = /^(?:Bearer |Basic |sk-|pk-|rk_|ghp_|gho_|ghs_|github_pat_|glpat-|xox[a-z]-|AKIA|AIza|eyJ)/;

/** The words of a command, without what may be a secret among them. */
export function maskWords(words: Words): readonly string[] {
  let isNextSecret = false;
  return words.map((word) => {
    const isSecret = isNextSecret && !word.startsWith("--");
    isNextSecret = word === "-H" || (/^--?[A-Za-z]/.test(word) && !word.includes("=") && SECRET_NAME.test(word));
    if (isSecret) return HIDDEN;
    // A line for a shell.
    if (word.includes(" ") && !/^[\w-]+: /.test(word)) return maskWords(word.split(" ")).join(" ");
    if (/^[a-z][a-z0-9+.-]*:\/\//i.test(word)) return maskUrl(word);
    // NAME=value and "Name: value".
    const named = /^(--?[\w-]+=|\w+=|[\w-]+:(?![\\/]) ?)/.exec(word)?.[1];
    if (named !== undefined && (SECRET_NAME.test(named) || !word.startsWith("-"))) return `${named}${HIDDEN}`;
    if (SECRET_BEGINNING.test(word)) return HIDDEN;
    // A long run of letters and digits that is no path, package or name.
    return word.length >= 20 && /^[\w+=-]+$/.test(word) && /\d/.test(word) && /[A-Za-z]/.test(word) ? HIDDEN : word;
  });
}
