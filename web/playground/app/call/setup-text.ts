/**
 * Texts that put Sluice in front of a server: a command line, a host's JSON, a program. No credential is ever part of them.
 * @module
 */
import type { SluiceConfig } from "mcp-sluice";
import type { ServerAddress } from "../../engine/messages.js";

/** What to replace by a credential. */
export const PLACEHOLDER = "FILL_IN";
/** The file that holds the guardrails, as Export of the guardrails names it. */
export const CONFIG_FILE = "sluice.config.json";
/** A host starts a command in a folder of its own, so the file is named from the root. */
const CONFIG_PATH = `/absolute/path/of/${CONFIG_FILE}`;
/** The variable that programs take the server's token from. */
const TOKEN_VARIABLE = "MCP_TOKEN";

/** A server as the texts name it: an address, or the command that starts it. */
export interface SetupServer {
  /** The namespace of its artifacts. */
  readonly name: string;
  /** Streamable HTTP. {@link PLACEHOLDER} stands for each part that may be a credential. */
  readonly url?: string;
  /** The words of the command, without a shell's quotes. */
  readonly command: readonly string[];
  /** It was connected with a token. */
  readonly hasToken: boolean;
}

/** A server that anybody can run, in place of one that runs in the page. */
export const EXAMPLE: SetupServer = {
  name: "everything",
  command: ["npx", "-y", "@modelcontextprotocol/server-everything"],
  hasToken: false,
};

/** The server of a call; the example for one that cannot be reached from outside of the page. */
export function setupServer(address: Omit<ServerAddress, "token"> | undefined, hasToken: boolean): SetupServer {
  if (address?.kind !== "http") return EXAMPLE;
  return { name: address.name, url: withoutSecrets(address.url), command: [], hasToken };
}

/** Whether something is to be filled in. */
export function hasGaps({ url, hasToken }: SetupServer): boolean {
  return hasToken || isMasked(url);
}

/** How a host names servers in its configuration. */
export interface Host {
  readonly id: string;
  readonly label: string;
  /** Where its configuration is. */
  readonly file: string;
  readonly key: "mcpServers" | "servers" | "context_servers";
  /** What else an entry has. */
  readonly entry?: Readonly<Record<string, unknown>>;
}

/** Hosts whose configuration is JSON. */
export const HOSTS: readonly Host[] = [
  {
    id: "claude-desktop",
    label: "Claude Desktop",
    file: "claude_desktop_config.json (Settings, Developer, Edit Config)",
    key: "mcpServers",
  },
  { id: "claude-code", label: "Claude Code", file: ".mcp.json in the project", key: "mcpServers" },
  { id: "cursor", label: "Cursor", file: "~/.cursor/mcp.json, or .cursor/mcp.json in the project", key: "mcpServers" },
  { id: "vscode", label: "VS Code", file: ".vscode/mcp.json", key: "servers", entry: { type: "stdio" } },
  { id: "windsurf", label: "Windsurf", file: "~/.codeium/windsurf/mcp_config.json", key: "mcpServers" },
  { id: "gemini", label: "Gemini CLI", file: "~/.gemini/settings.json", key: "mcpServers" },
  { id: "zed", label: "Zed", file: "its settings (zed: open settings file)", key: "context_servers" },
];

/** Ways to use Sluice in a program. */
export const PROGRAMS = [
  { id: "client", label: "MCP SDK, a new client" },
  { id: "wrapped", label: "MCP SDK, a client that you have" },
  { id: "node", label: "Without the SDK: ToolNode" },
] as const;
export type ProgramId = (typeof PROGRAMS)[number]["id"];

/** The command line, for a POSIX shell. */
export function commandLine(server: SetupServer, config: SluiceConfig): string {
  const { words, env } = writeStart(server, config, CONFIG_FILE);
  return [...Object.entries(env).map(([name, value]) => `${name}=${quoteWord(value)}`), ...words.map(quoteWord)].join(
    " ",
  );
}

/** The guardrails as the file that `--config` names; undefined if all are the defaults. */
export function configText(config: SluiceConfig): string | undefined {
  return isDefault(config) ? undefined : JSON.stringify(config, null, 2);
}

/** The host's configuration with this server alone. */
export function hostText(host: Host, server: SetupServer, config: SluiceConfig): string {
  const { words, env } = writeStart(server, config, CONFIG_PATH);
  const [command, ...args] = words;
  const entry = { ...host.entry, command, args, ...(Object.keys(env).length > 0 && { env }) };
  // An entry's arguments stay on one line, as people write them.
  const list = JSON.stringify(args).replaceAll('","', '", "');
  const text = JSON.stringify({ [host.key]: { [server.name]: { ...entry, args: "ARGS" } } }, null, 2);
  return text.replace('"ARGS"', () => list);
}

/** A TypeScript program, and the packages that it needs. */
export function programText(id: ProgramId, server: SetupServer, config: SluiceConfig): string {
  if (id === "node") return toolNode(server, config);
  return id === "wrapped" ? writeWrapped(server, config) : client(server, config);
}

/** What installs the packages of a program. */
export function installLine(id: ProgramId): string {
  return `npm install mcp-sluice${id === "node" ? "" : " @modelcontextprotocol/sdk"}`;
}

interface Started {
  readonly words: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** The words of the command and its variables: others on a machine can read arguments, so secrets are variables. */
function writeStart({ url, command, hasToken }: SetupServer, config: SluiceConfig, file: string): Started {
  const isSecret = isMasked(url);
  const env = {
    ...(url !== undefined && isSecret && { SLUICE_PROXY_URL: url }),
    ...(hasToken && { SLUICE_PROXY_HEADERS: `Authorization: Bearer ${PLACEHOLDER}` }),
  };
  const options = isDefault(config) ? [] : ["--config", file];
  const end = url === undefined ? ["--", ...command] : isSecret ? [] : ["--url", url];
  return { words: ["npx", "-y", "mcp-sluice", "proxy", ...options, ...end], env };
}

function client(server: SetupServer, config: SluiceConfig): string {
  const { name, url, command } = server;
  if (url === undefined) {
    const [first = "", ...args] = command;
    return `import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { FileArtifactStore, GatedStdioTransport } from "mcp-sluice/node";

const transport = new GatedStdioTransport({
  command: ${literal(first)},
  args: ${joinWords(args)},
  store: new FileArtifactStore("./artifacts"),
  namespace: ${literal(name)},${configLine(config, "  ")}
});
${CONNECTED}`;
  }
  return `import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { gateFetch } from "mcp-sluice/mcp";
import { FileArtifactStore } from "mcp-sluice/node";

const transport = new StreamableHTTPClientTransport(new URL(${literal(url)}), {
  fetch: gateFetch(fetch, {
    store: new FileArtifactStore("./artifacts"),
    namespace: ${literal(name)},${configLine(config, "    ")}
  }),${requestLine(server)}
});
${CONNECTED}`;
}

const CONNECTED = `const client = new Client({ name: "my-app", version: "1.0.0" });
await client.connect(transport);

const { tools } = await client.listTools();
console.log(tools.map((tool) => tool.name));
await client.close();
`;

function writeWrapped(server: SetupServer, config: SluiceConfig): string {
  const { name, url, command } = server;
  const [first = "", ...args] = command;
  const [file, transport] =
    url === undefined
      ? ["stdio", `new StdioClientTransport({ command: ${literal(first)}, args: ${joinWords(args)} })`]
      : ["streamableHttp", `new StreamableHTTPClientTransport(new URL(${literal(url)})${requestOption(server)})`];
  return `import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { ${url === undefined ? "StdioClientTransport" : "StreamableHTTPClientTransport"} } from "@modelcontextprotocol/sdk/client/${file}.js";
import { wrapClient } from "mcp-sluice/mcp";
import { FileArtifactStore } from "mcp-sluice/node";

const client = new Client({ name: "my-app", version: "1.0.0" });
await client.connect(${transport});

const gated = wrapClient(client, {
  store: new FileArtifactStore("./artifacts"),
  namespace: ${literal(name)},${configLine(config, "  ")}
});
const { tools } = await gated.listTools();
console.log(tools.map((tool) => tool.name));
await client.close();
`;
}

function toolNode({ name, url, command, hasToken }: SetupServer, config: SluiceConfig): string {
  const connection = url ?? command.map((word) => (/\s/.test(word) ? `"${word}"` : word)).join(" ");
  const auth = hasToken
    ? `
  auth_type: "bearer",
  auth_config: { token: "\${${TOKEN_VARIABLE}}" },`
    : "";
  return `import { FileArtifactStore } from "mcp-sluice/node";
import { type ExternalToolConfig, ToolNode } from "mcp-sluice/tools";

const source: ExternalToolConfig = {
  name: ${literal(name)},
  transport: "mcp",
  connection: ${literal(connection)},${auth}${configLine(config, "  ", "artifact_extraction")}
};
const node = new ToolNode(source, { store: new FileArtifactStore("./artifacts") });
await node.connect();

console.log(node.getTools().map((tool) => tool.name));
await node.close();
`;
}

/** The configuration as a member of an object literal; empty if all are the defaults. */
function configLine(config: SluiceConfig, indent: string, key = "config"): string {
  if (isDefault(config)) return "";
  // Each key begins a line of its own, which no text of a value can do.
  const text = JSON.stringify(config, null, 2).replaceAll(/^(\s*)"([A-Za-z_]\w*)":/gm, "$1$2:");
  return `\n${indent}${key}: ${text.replaceAll("\n", `\n${indent}`)},`;
}

function requestLine(server: SetupServer): string {
  return server.hasToken ? `\n  requestInit: ${BEARER},` : "";
}

function requestOption(server: SetupServer): string {
  return server.hasToken ? `, { requestInit: ${BEARER} }` : "";
}

const BEARER = `{ headers: { Authorization: \`Bearer \${process.env["${TOKEN_VARIABLE}"] ?? ""}\` } }`;

function joinWords(words: readonly string[]): string {
  return `[${words.map(literal).join(", ")}]`;
}

function literal(text: string): string {
  return JSON.stringify(text);
}

function isDefault(config: SluiceConfig): boolean {
  return Object.keys(config).length === 0;
}

function isMasked(url: string | undefined): boolean {
  return url?.includes(PLACEHOLDER) === true;
}

/** Letters, digits and signs that are likely a key: long, and with digits among letters. */
const KEY = /^(?=.*\d)(?=.*[A-Za-z])[\w.~-]{20,}$/;

/** An address without what may be a credential: its user, each value of its query, and parts of its path like a key. */
export function withoutSecrets(url: string): string {
  const { origin, pathname, search } = new URL(url);
  const path = pathname
    .split("/")
    .map((part) => (KEY.test(part) ? PLACEHOLDER : part))
    .join("/");
  const names = [...new URLSearchParams(search).keys()];
  const query = names.map((name) => `${encodeURIComponent(KEY.test(name) ? PLACEHOLDER : name)}=${PLACEHOLDER}`);
  return `${origin}${path}${query.length === 0 ? "" : `?${query.join("&")}`}`;
}

/** A word as a POSIX shell reads it. */
function quoteWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
