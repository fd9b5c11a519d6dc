/**
 * `sluice bridge`: a server that is a command, offered to a page.
 * @module
 */
import { randomBytes } from "node:crypto";
import type { Invocation } from "../commands.js";
import { UsageError } from "../exit.js";
import { CommandSessions } from "../proxy/command-sessions.js";
import { serveUntilSignal, tell } from "../proxy/service.js";
import type { Terminal } from "../terminal.js";
import { forPages } from "./cross-origin.js";
import { isPageOrigin, PageGuard } from "./page-guard.js";

/** There is no way to listen wider: who reaches it can start programs. */
const HOST = "127.0.0.1";

/** Bytes of a token. */
const TOKEN_BYTES = 24;

/** Serves until a signal comes; gives the exit code. Throws UsageError, and CommandError when it cannot listen. */
export async function run(invocation: Invocation, terminal: Terminal): Promise<number> {
  const { operands: command } = invocation;
  if (command.length === 0) throw new UsageError("bridge needs a server: sluice bridge -- COMMAND ARGS…", "bridge");
  const address = { host: HOST, port: portSaid(invocation.value("port")) };
  const token = randomBytes(TOKEN_BYTES).toString("base64url");
  const path = `/${token}/mcp`;
  const guard = new PageGuard({
    token,
    origins: invocation.values("origin").map(originSaid),
    onBound: (origin) => tell(terminal, `used by ${origin}, and from now on by no other page`),
    onRefused: (origin) => tell(terminal, `refused ${origin}: another page uses this bridge; start one more for it`),
  });
  await using sessions = new CommandSessions({ command, open: undefined, terminal, path });
  const handler = forPages((request) => sessions.handle(request));
  return await serveUntilSignal({ address, terminal }, guard, path, handler);
}

function portSaid(said = "0"): number {
  if (/^\d{1,5}$/.test(said) && Number(said) <= 65_535) return Number(said);
  throw new UsageError("--port wants a number up to 65535, as in --port 8931; 0 is any free one", "bridge");
}

function originSaid(said: string): string {
  const origin = said.replace(/\/$/, "");
  if (isPageOrigin(origin)) return origin;
  throw new UsageError(
    "--origin wants where a page comes from, without a path, as in --origin https://app.example",
    "bridge",
  );
}
