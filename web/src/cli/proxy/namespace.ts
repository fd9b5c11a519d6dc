/**
 * The name of a server, from the command or the address that reaches it.
 * @module
 */
import { cleanNamespace } from "../../artifacts/ids.js";

/** Programs that run others: the name is that of what they run. */
const RUNNERS: ReadonlySet<string> = new Set(
  [
    "npx",
    "npm",
    "pnpm",
    "pnpx",
    "yarn",
    "bunx",
    "bun",
    "node",
    "deno",
    "tsx",
    "uv",
    "uvx",
    "pipx",
    "python",
    "python3",
  ].concat(["docker", "podman", "sh", "bash", "env", "cmd", "exec", "dlx", "run", "x", "tool"]),
);

/** Words that say no more than that this is a server. */
const NOISE = /^(?:mcp[-_]?server|server|mcp)[-_]|[-_](?:mcp[-_]?server|mcp|server)$|\.(?:m?js|c?js|ts|py|exe|cmd)$/gi;

/** A letter for each of a tool's name that hosts and models put up with: theirs come before it. */
const MAX_LENGTH = 24;

/** `npx -y @modelcontextprotocol/server-filesystem /data` → `filesystem`. */
export function namespaceOfCommand(words: readonly string[]): string {
  const word = words.find((each) => !each.startsWith("-") && !/^\w+=/.test(each) && !RUNNERS.has(nameOf(each)));
  return named(nameOf(word ?? words[0] ?? ""));
}

/** `https://mcp.example.com/mcp` → `example`, `http://127.0.0.1:8080/` → `127_0_0_1_8080`: two ports are two servers. */
export function namespaceOfUrl(url: URL): string {
  const port = url.port === "" ? "" : `_${url.port}`;
  if (/^[\d.]+$|^\[/.test(url.hostname)) return named(url.hostname.replace(/[^\w]+/g, "_") + port);
  const labels = url.hostname
    .split(".")
    .filter((label) => !/^(?:www|api|mcp|com|org|net|io|ai|dev|app|\d+)$/.test(label));
  return named((labels.at(-1) ?? "server") + port);
}

/** Names of files and folders that many servers have. */
const USUAL = /^(?:index|main|cli|server|start|app|run|stdio|mcp|dist|build|src|lib|bin|out|scripts?)(?:\.\w+)?$/i;

/** The last part of a path that is a server's own, without the version of a package. */
function nameOf(word: string): string {
  const parts = word
    .replaceAll("\\", "/")
    .split("/")
    .filter((part) => part !== "" && part !== "." && part !== "..");
  const own = parts.findLast((part) => !USUAL.test(part)) ?? parts.at(-1) ?? "";
  return own.replace(/(.)@[\w.^~-]*$/, "$1");
}

function named(name: string): string {
  let short = name;
  for (let before = ""; before !== short;) {
    before = short;
    short = short.replace(NOISE, "");
  }
  // Tools' names have no dots.
  const clean = cleanNamespace(short === "" ? name : short)
    .replaceAll(".", "_")
    .slice(0, MAX_LENGTH);
  return clean === "" ? "server" : clean;
}
