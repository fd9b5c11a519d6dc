/**
 * Something offered over HTTP until a signal comes.
 * @module
 */
import { Exit } from "../exit.js";
import type { Terminal } from "../terminal.js";
import { shown, type ListenAddress } from "./listen-address.js";
import { serveHttp, type HttpGuard, type HttpHandler } from "./listen-http.js";

/** Where it is offered, and who is told. */
export interface ServiceTerms {
  readonly address: ListenAddress;
  readonly terminal: Terminal;
}

/** Signals that end the service, and its exit codes. */
const ENDS: ReadonlyMap<NodeJS.Signals, number> = new Map([
  ["SIGINT", Exit.interrupted],
  ["SIGTERM", Exit.terminated],
  ["SIGHUP", 129],
]);

/** Serves, tells its URL, and gives the exit code once a signal came. Throws CommandError when it cannot listen. */
export async function serveUntilSignal(
  { address, terminal }: ServiceTerms,
  guard: HttpGuard,
  path: string,
  handler: HttpHandler,
): Promise<number> {
  const ended = signalled();
  await using service = await serveHttp(address, guard, handler);
  tell(terminal, `listening on ${shown(address.host, service.port, path)}`);
  return await ended;
}

/** Writes a line on standard error; it does not wait for whoever reads it. */
export function tell({ errors }: Terminal, sentence: string): void {
  errors.write(`sluice: ${sentence}\n`).catch(() => undefined);
}

/** The exit code of the first signal that comes; a second one ends the process at once. */
export function signalled(): Promise<number> {
  return new Promise((resolve) => {
    for (const [signal, code] of ENDS) process.once(signal, () => resolve(code));
  });
}
