/**
 * `sluice proxy --listen`: a server offered over Streamable HTTP.
 * @module
 */
import type { Door } from "../../mcp/door.js";
import type { Terminal } from "../terminal.js";
import { CommandSessions } from "./command-sessions.js";
import { Doors } from "./doors.js";
import type { Header } from "./headers.js";
import { ListenGuard, type ListenAddress } from "./listen-address.js";
import { ListenUrl } from "./listen-url.js";
import { serveUntilSignal, tell } from "./service.js";
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
  return await serveUntilSignal(terms, guard, url.pathname, (request) => proxy.handle(request));
}

/** The same for a server that is a command: each session has a process of its own. */
export async function listenAtCommand(command: readonly string[], terms: ListenTerms): Promise<number> {
  const guard = new ListenGuard(terms.address, terms.token);
  await using sessions = new CommandSessions({ command, open: terms.open, terminal: terms.terminal, path: PATH });
  return await serveUntilSignal(terms, guard, PATH, (request) => sessions.handle(request));
}

const UNAUTHORIZED =
  'the server wants authorization: what it says is handed through, but many clients sign in only where they connect to; then pass --header "Authorization: Bearer …"';
