/**
 * `sluice proxy --listen`: a server offered over Streamable HTTP.
 * @module
 */
import type { Door } from "../../mcp/door.js";
import { Exit } from "../exit.js";
import type { Terminal } from "../terminal.js";
import { CommandSessions } from "./command-sessions.js";
import { Doors } from "./doors.js";
import type { Header } from "./headers.js";
import { ListenGuard, shown, type ListenAddress } from "./listen-address.js";
import { serveHttp, type HttpHandler } from "./listen-http.js";
import { ListenUrl } from "./listen-url.js";
import { Upstream } from "./upstream.js";

/** Where a proxy listens, and what for. */
export interface ListenTerms {
  readonly address: ListenAddress;
  /** What clients have to have. */
  readonly token: string | undefined;
  /** Makes a door for one more client; left out, everything passes as it is. */
  readonly open: ((user?: string) => Door) | undefined;
  readonly terminal: Terminal;
}

/** Signals that end the service, and its exit codes. */
const ENDS: ReadonlyMap<NodeJS.Signals, number> = new Map([
  ["SIGINT", Exit.interrupted],
  ["SIGTERM", Exit.terminated],
  ["SIGHUP", 129],
]);

/** Where a command is offered. */
const PATH = "/mcp";

/** Serves until a signal comes; gives the exit code. Throws CommandError when it cannot listen. */
export async function listenAtUrl(
  { url, headers }: { readonly url: URL; readonly headers: readonly Header[] },
  terms: ListenTerms,
): Promise<number> {
  using upstream = new Upstream();
  const guard = new ListenGuard(terms.address, terms.token);
  const proxy = new ListenUrl({
    url,
    headers,
    passesAuthorization: !guard.wantsToken,
    fetch: upstream.fetch,
    ...(terms.open !== undefined && { doors: new Doors(terms.open) }),
    onUnauthorized: () => tell(terms.terminal, UNAUTHORIZED),
  });
  return await served(terms, guard, url.pathname, (request) => proxy.handle(request));
}

/** The same for a server that is a command: each session has a process of its own. */
export async function listenAtCommand(command: readonly string[], terms: ListenTerms): Promise<number> {
  const guard = new ListenGuard(terms.address, terms.token);
  await using sessions = new CommandSessions({ command, open: terms.open, terminal: terms.terminal, path: PATH });
  return await served(terms, guard, PATH, (request) => sessions.handle(request));
}

const UNAUTHORIZED =
  'the server wants authorization: what it says is handed through, but many clients sign in only where they connect to; then pass --header "Authorization: Bearer …"';

async function served(
  { address, terminal }: ListenTerms,
  guard: ListenGuard,
  path: string,
  handler: HttpHandler,
): Promise<number> {
  const ended = signalled();
  await using service = await serveHttp(address, guard, handler);
  tell(terminal, `listening on ${shown(address.host, service.port, path)}`);
  return await ended;
}

/** The exit code of the first signal that comes; a second one ends the process at once. */
function signalled(): Promise<number> {
  return new Promise((resolve) => {
    for (const [signal, code] of ENDS) process.once(signal, () => resolve(code));
  });
}

function tell({ errors }: Terminal, sentence: string): void {
  errors.write(`sluice: ${sentence}\n`).catch(() => undefined);
}
