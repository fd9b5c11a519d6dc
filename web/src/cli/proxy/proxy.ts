/**
 * `sluice proxy`: a server, with the bytes of its results kept out of the model's context.
 * @module
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Door } from "../../mcp/door.js";
import type { ProcessEnd } from "../../transports/server-process.js";
import type { Invocation } from "../commands.js";
import { UsageError } from "../exit.js";
import type { Terminal } from "../terminal.js";
import { headersSaid, type Header } from "./headers.js";
import type { ListenTerms } from "./listen.js";
import { listenAddress, listenToken } from "./listen-address.js";
import { answerUnstarted, endLike, startServer, StdioProxy, type StartedServer } from "./stdio.js";
import { openProxyDoors } from "./doors.js";
import type { RemoteTerms } from "./remote.js";

/** How long, in milliseconds, the last words of a server may take. */
const GRACE = 2000;

/** Ends with the exit code of a server that is a command, or by the signal that ended it. */
export async function run(invocation: Invocation, terminal: Terminal): Promise<number> {
  const { operands } = invocation;
  const url = urlSaid(invocation);
  const headers = headersSaid(invocation.values("header"));
  const said = invocation.value("listen");
  const address = said === undefined ? undefined : listenAddress(said);
  const token = address === undefined ? undefined : listenToken(terminal.env, address);
  const doors = invocation.has("bypass") ? undefined : await openProxyDoors(invocation, terminal, url);
  const open = doors?.open;
  let end: ProcessEnd | number;
  try {
    if (address !== undefined) end = await listen({ address, token, open, terminal }, operands, url, headers);
    else if (url !== undefined) end = await remote({ url, headers, door: open?.(), terminal });
    else end = await atCommand(operands, open?.(), terminal);
  } finally {
    await doors?.[Symbol.asyncDispose]();
  }
  return typeof end === "number" ? end : endLike(end);
}

async function atCommand(command: readonly string[], door: Door | undefined, terminal: Terminal): Promise<ProcessEnd> {
  const { server, noise } = await started(command, terminal);
  const end = await new StdioProxy(server, door, terminal).run();
  // Last words are passed on, but waited for no longer than anything else.
  await Promise.race([noise, sleep(GRACE, undefined, { ref: false })]);
  return end;
}

/** Throws E_MISUSE, once who waits was told. */
async function started(command: readonly string[], terminal: Terminal): Promise<StartedServer> {
  try {
    return await startServer(command, terminal);
  } catch (error) {
    await answerUnstarted(error, terminal);
    throw error;
  }
}

async function listen(
  terms: ListenTerms,
  command: readonly string[],
  url: URL | undefined,
  headers: readonly Header[],
): Promise<number> {
  const { listenAtCommand, listenAtUrl } = await import("./listen.js");
  return url === undefined ? listenAtCommand(command, terms) : listenAtUrl({ url, headers }, terms);
}

async function remote(terms: RemoteTerms): Promise<number> {
  const { runRemote } = await import("./remote.js");
  return runRemote(terms);
}

/** Throws UsageError where there is no server, or there are two. */
function urlSaid(invocation: Invocation): URL | undefined {
  const said = invocation.value("url");
  const hasCommand = invocation.operands.length > 0;
  if (said === undefined) {
    if (!hasCommand) {
      throw new UsageError("proxy needs a server: sluice proxy -- COMMAND ARGS…, or --url URL", "proxy");
    }
    if (invocation.values("header").length === 0) return undefined;
    throw new UsageError("--header goes with --url: a command has no headers", "proxy");
  }
  if (hasCommand) throw new UsageError("proxy stands in front of one server: a command, or --url", "proxy");
  if (!URL.canParse(said) || !/^https?:$/.test(new URL(said).protocol)) {
    throw new UsageError("--url wants an address that begins with http:// or https://", "proxy");
  }
  return new URL(said);
}
