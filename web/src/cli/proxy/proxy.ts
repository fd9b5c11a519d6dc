/**
 * The command `sluice proxy`: a server, with large content kept out of the model's context.
 *
 * The operands and options are in `../commands/results.ts`.
 * @module
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { ProcessEnd } from "../../mcp/stdio/server-process.js";
import type { Invocation } from "../command.js";
import { UsageError } from "../exit.js";
import type { Terminal } from "../terminal/terminal.js";
import { readSecret } from "../configuration.js";
import type { Header } from "./upstream.js";
import type { SluiceError } from "../../errors/error.js";
import type { ListenDeps } from "./listen.js";
import type { ListenOidc } from "./listen-access.js";
import type { OpenInterceptors } from "./interceptors.js";
import { answerUnstarted, endLike, startServer, StdioProxy, type StartedServer } from "./stdio.js";
import type { RemoteDeps } from "./remote.js";

/** Milliseconds to wait for the server's last output on standard error. */
const GRACE = 2000;

/** Returns the exit code of a server that is a command, or ends by the signal that ended it. */
export async function run(invocation: Invocation, terminal: Terminal): Promise<number> {
  const { operands } = invocation;
  const url = serverUrl(invocation, terminal.env);
  // A third of a start is Node's `fetch`, which `node:http` brings: a host waits for a command, which needs neither.
  const headers = url === undefined ? [] : await headersFor(invocation, terminal.env);
  const said = invocation.value("listen");
  const listened = await listenerAt(said, invocation, terminal.env);
  if (listened === undefined && invocation.has("metrics")) {
    throw new UsageError(
      "--metrics goes with --listen: a proxy on standard input and output ends with its client",
      "proxy",
    );
  }
  checkNamespace(invocation.value("namespace"));
  const opening = await openingFor(invocation, terminal, url);
  let end: ProcessEnd | number;
  if (listened === undefined && url === undefined) {
    end = await atCommand(operands, opening, terminal);
  } else {
    await using interceptors = await opening?.();
    const open = interceptors?.open;
    if (listened !== undefined) end = await listen({ ...listened, open, terminal }, operands, url, headers);
    else end = await remote({ url: url as URL, headers, interceptor: open?.(), terminal });
  }
  return typeof end === "number" ? end : endLike(end);
}

/** Opens the store, and what stands in front of the server. */
type Opening = () => Promise<OpenInterceptors>;

/**
 * Checks the configuration, and returns what opens the rest. Undefined if everything is to pass as it is. Only a configuration needs the
 * core to be checked: without one, the core is loaded while the server starts.
 */
async function openingFor(
  invocation: Invocation,
  terminal: Terminal,
  url: URL | undefined,
): Promise<Opening | undefined> {
  if (invocation.has("bypass")) return undefined;
  const check = async (): Promise<Opening> => {
    const { checkInterceptors } = await import("./interceptors.js");
    return checkInterceptors(invocation, terminal, url);
  };
  if (invocation.value("config") !== undefined) return check();
  return async () => (await check())();
}

/** Throws UsageError for what cannot be a namespace. It becomes part of a tool's name, so it is shorter than an id's. */
function checkNamespace(namespace: string | undefined): void {
  if (namespace === undefined || /^[A-Za-z0-9_-]{1,40}$/.test(namespace)) return;
  throw new UsageError("--namespace takes 1 to 40 letters, digits, - or _", "proxy");
}

/**
 * Starts the command, and opens the rest while that begins: both take a while, and a host waits for them. The server gets nothing before
 * all is open, and is ended if that fails.
 */
async function atCommand(
  command: readonly string[],
  opening: Opening | undefined,
  terminal: Terminal,
): Promise<ProcessEnd> {
  const starting = startOrAnswer(command, terminal);
  // It fails where it is waited for.
  starting.catch(() => undefined);
  // Not before: what opens the rest is a large file, and compiling it would hold the start up.
  const opened = opening && starting.then(() => opening());
  const interceptor = opened?.then(({ open }) => open());
  interceptor?.catch(() => undefined);
  try {
    const { server, noise } = await starting;
    const end = await new StdioProxy(server, interceptor, terminal).run();
    // The last output on standard error is passed on, but only waited for briefly.
    await Promise.race([noise, sleep(GRACE, undefined, { ref: false })]);
    return end;
  } finally {
    await (await opened?.catch(() => undefined))?.[Symbol.asyncDispose]();
  }
}

/** Starts the server. Answers the waiting client before it throws E_MISUSE. */
async function startOrAnswer(command: readonly string[], terminal: Terminal): Promise<StartedServer> {
  try {
    return await startServer(command, terminal);
  } catch (error) {
    await answerUnstarted(error, terminal);
    throw error;
  }
}

async function listen(
  deps: ListenDeps,
  command: readonly string[],
  url: URL | undefined,
  headers: readonly Header[],
): Promise<number> {
  const { listenAtCommand, listenAtUrl } = await import("./listen.js");
  return url === undefined ? listenAtCommand(command, deps) : listenAtUrl({ url, headers }, deps);
}

async function remote(deps: RemoteDeps): Promise<number> {
  const { runRemote } = await import("./remote.js");
  return runRemote(deps);
}

/**
 * The variables that stand for `--url` and `--header`. Other users of a machine can read a process's arguments, but not its
 * environment, and an address may be as secret as a header. Each may also name a file, with `_FILE` behind its name.
 */
const URL_VARIABLE = "SLUICE_PROXY_URL";
const HEADERS_VARIABLE = "SLUICE_PROXY_HEADERS";

/**
 * The server's URL, if it is given as one: in `--url`, or else in the environment. A command takes precedence over the
 * environment. Throws UsageError unless there is exactly one server.
 */
function serverUrl(invocation: Invocation, env: NodeJS.ProcessEnv): URL | undefined {
  const option = invocation.value("url");
  const hasCommand = invocation.operands.length > 0;
  if (hasCommand && option !== undefined) {
    throw new UsageError("proxy takes one server: a command or --url, not both", "proxy");
  }
  const said = option ?? (hasCommand ? undefined : readSecret(env, URL_VARIABLE, 1, "proxy"));
  if (said === undefined) {
    if (!hasCommand) {
      throw new UsageError("proxy needs a server: sluice proxy -- COMMAND ARGS…, or --url URL", "proxy");
    }
    if (invocation.values("header").length === 0) return undefined;
    throw new UsageError("--header goes with --url: a command has no headers", "proxy");
  }
  if (!URL.canParse(said) || !/^https?:$/.test(new URL(said).protocol)) {
    const place = option === undefined ? URL_VARIABLE : "--url";
    throw new UsageError(`${place} must begin with http:// or https://`, "proxy");
  }
  return new URL(said);
}

/** Headers for a server at a URL: of the environment, one a line, and of `--header`. */
async function headersFor(invocation: Invocation, env: NodeJS.ProcessEnv): Promise<readonly Header[]> {
  const { parseHeaderLines, parseHeaders } = await import("./upstream.js");
  const lines = readSecret(env, HEADERS_VARIABLE, 0, "proxy") ?? "";
  return [...parseHeaderLines(lines, HEADERS_VARIABLE), ...parseHeaders(invocation.values("header"))];
}

/** Where `--listen` says to listen, and what clients must have: a token of its own, or one of a provider. */
async function listenerAt(
  said: string | undefined,
  invocation: Invocation,
  env: NodeJS.ProcessEnv,
): Promise<Pick<ListenDeps, "address" | "token" | "oidc" | "metrics"> | undefined> {
  const issuer = invocation.value("issuer");
  const alone = OF_ISSUER.find((name) => invocation.values(name).length > 0);
  if (issuer === undefined && alone !== undefined) throw new UsageError(`--${alone} goes with --issuer`, "proxy");
  if (said === undefined) {
    if (issuer === undefined) return undefined;
    throw new UsageError("--issuer goes with --listen: only there clients send tokens", "proxy");
  }
  const { listenAddress, listenToken, isLoopback } = await import("./http-listener.js");
  const address = listenAddress(said);
  const { metricsPlace } = await import("./metrics-listener.js");
  const token = issuer === undefined ? listenToken(env, address) : undefined;
  const isOpen = issuer === undefined && token === undefined;
  const metrics = metricsPlace(invocation.value("metrics"), env, "proxy", { host: address.host, isOpen });
  if (issuer === undefined) return { address, token, metrics };
  if (env["SLUICE_PROXY_TOKEN"] !== undefined || env["SLUICE_PROXY_TOKEN_FILE"] !== undefined) {
    throw new UsageError("SLUICE_PROXY_TOKEN and --issuer both say who may connect: use only one of them", "proxy");
  }
  const oidc = await oidcSaid(issuer, invocation);
  if (oidc.publicUrl === undefined && !isLoopback(address.host)) {
    throw new UsageError(
      "--issuer on an address that other machines can reach needs --public-url: the URL that clients connect to, which tokens are for",
      "proxy",
    );
  }
  return { address, token: undefined, oidc, metrics };
}

/** Options that say more about the provider. */
const OF_ISSUER = ["audience", "user-claim", "tenant-claim", "require-scope", "public-url"] as const;

async function oidcSaid(issuer: string, invocation: Invocation): Promise<ListenOidc> {
  const publicUrl = invocation.value("public-url");
  if (publicUrl !== undefined && (!URL.canParse(publicUrl) || !/^https?:\/\/[^@?#]+$/i.test(publicUrl))) {
    throw new UsageError("--public-url must be a URL such as https://tools.example/mcp", "proxy");
  }
  const [userClaim, tenantClaim] = [invocation.value("user-claim"), invocation.value("tenant-claim")];
  const oidc = {
    issuer,
    audience: invocation.values("audience"),
    scopes: invocation.values("require-scope"),
    ...(userClaim !== undefined && { userClaim }),
    ...(tenantClaim !== undefined && { tenantClaim }),
  };
  const { checkOidc } = await import("../../server/access/access-tokens.js");
  try {
    checkOidc(oidc);
  } catch (error) {
    const path = (error as SluiceError).path ?? "";
    const option = {
      "oidc.scopes": "require-scope",
      "oidc.userClaim": "user-claim",
      "oidc.tenantClaim": "tenant-claim",
    };
    const name = (option as Record<string, string>)[path] ?? path.replace(/^oidc\./, "");
    throw new UsageError(`--${name} ${EXPECTED[name] ?? "is wrong"}`, "proxy");
  }
  return { ...oidc, publicUrl: publicUrl === undefined ? undefined : new URL(publicUrl) };
}

const EXPECTED: Readonly<Record<string, string>> = {
  issuer: "must be an https: URL as the provider writes it, or http: on this machine",
  audience: "needs a text",
  "require-scope": "takes one scope, without spaces",
  "user-claim": "needs the name of a claim",
  "tenant-claim": "needs the name of a claim",
};
