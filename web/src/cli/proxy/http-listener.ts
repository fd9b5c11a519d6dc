/**
 * Listens for HTTP requests of allowed clients and answers them with web responses.
 * @module
 */
import { createHash, timingSafeEqual } from "node:crypto";
import { hostname } from "node:os";
import { RpcCode } from "../../jsonrpc/rpc.js";
import { refuseRequest } from "../../mcp/http/refusal.js";
import type { HttpRequest } from "../../mcp/http/sessions.js";
import { openListener, type ClosableServer } from "../../server/http/listen.js";
import { BodyRefused, readMessage } from "../../server/http/request.js";
import { METRICS_PATH, metricsResponse, type MetricsOptions } from "../../telemetry/metrics-endpoint.js";
import { readSecret } from "../configuration.js";
import { cannotListen, Exit, awaitSignal, UsageError } from "../exit.js";
import { tell, type Terminal } from "../terminal/terminal.js";
import type { Admission, ListenAccess } from "./listen-access.js";

interface ServiceDeps {
  readonly address: ListenAddress;
  /** Lets clients in by access tokens, if configured. */
  readonly access?: ListenAccess | undefined;
  readonly terminal: Terminal;
  /** Offers the metrics at this address, too. */
  readonly metrics?: MetricsOptions | undefined;
}

/** Serves, prints its URL, and returns the exit code after a signal. Throws CommandError if it cannot listen. */
export async function serveUntilSignal(
  { address, access, terminal, metrics }: ServiceDeps,
  guard: ListenGuard,
  path: string,
  handler: HttpHandler,
): Promise<number> {
  const ended = awaitSignal();
  await using service = await serveHttp(address, { guard, access, handler, metrics });
  const url = formatUrl(address.host, service.port, path);
  access?.listeningAt(url);
  tell(terminal, `listening on ${url}`);
  const code = await ended;
  const left = await service.close({
    onWaiting: (open) => tell(terminal, `stopping: waiting for ${open}; a second signal stops at once`),
  });
  if (left !== "") tell(terminal, `stopped: after ${GRACE_SECONDS} s there were still ${left}, which were ended`);
  return code;
}

/** Seconds for running requests at the end. */
const GRACE_SECONDS = 10;

/** Answers requests. An exception becomes a response without details. */
type HttpHandler = (request: HttpRequest) => Promise<Response>;

const MAX_CONNECTIONS = 1024;

/** What a request passes before it is answered. */
interface Answering {
  readonly guard: ListenGuard;
  readonly access?: ListenAccess | undefined;
  readonly handler: HttpHandler;
  /** The metrics at their path, by a token of their own. */
  readonly metrics?: MetricsOptions | undefined;
}

/** Listens until it is disposed of. Throws CommandError if it cannot. */
export async function serveHttp(address: ListenAddress, answering: Answering): Promise<ClosableServer> {
  const { host, port } = address;
  const { metrics } = answering;
  const metricsGuard = new ListenGuard(address, undefined);
  const fetch = async (request: Request): Promise<Response> => {
    if (metrics === undefined || new URL(request.url).pathname !== METRICS_PATH)
      return answerRequest(request, answering);
    return metricsGuard.refusal(request.headers) ?? metricsResponse(request, metrics);
  };
  const options = { host, port, maxConnections: MAX_CONNECTIONS, graceSeconds: GRACE_SECONDS };
  try {
    return await openListener({ fetch }, options);
  } catch (error) {
    const cause = (error as Error).cause ?? error;
    throw cannotListen(Exit.failure, formatUrl(host, port, ""), "--listen HOST:PORT", cause);
  }
}

/** Answers a request that is admitted. Never throws. */
async function answerRequest(request: Request, { guard, access, handler }: Answering): Promise<Response> {
  const { method, headers, signal } = request;
  const { pathname, search } = new URL(request.url);
  const path = pathname + search;
  const refused = guard.refusal(headers);
  if (refused !== undefined) return refused;
  try {
    const admitted: Admission | Response = (await access?.admit({ method, path, headers })) ?? {};
    if (admitted instanceof Response) return admitted;
    const response = await handler({ ...admitted, method, path, headers, body: await readMessage(request), signal });
    return admitted.until === undefined ? response : await whileValid(request, response, admitted.until);
  } catch (error) {
    if (error instanceof BodyRefused)
      return refuseRequest(undefined, error.status, RpcCode.invalidRequest, error.message);
    return refuseRequest(undefined, 500, RpcCode.internal, "The request could not be answered.");
  }
}

async function whileValid(request: Request, response: Response, until: number): Promise<Response> {
  const { whileValid: limited } = await import("../../server/access/protected-resource.js");
  return limited(request, response, until);
}

/** The address of `--listen HOST:PORT`. */
export interface ListenAddress {
  /** Without the brackets of an IPv6 address. */
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
}

/** The environment variable that holds the bearer token. */
const TOKEN_VARIABLE = "SLUICE_PROXY_TOKEN";

const SHORTEST_TOKEN = 16;

/** Parses the option of a command. Throws UsageError. */
export function listenAddress(said: string, command: string = "proxy", option: string = "listen"): ListenAddress {
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(said) ?? [];
  const host = bracketed ?? plain;
  if (host === undefined || Number(port) > 65_535) {
    const sentence = `--${option} needs HOST:PORT, as in --${option} 127.0.0.1:8080; port 0 picks a free one`;
    throw new UsageError(sentence, command);
  }
  return { host, port: Number(port) };
}

/** The token that clients must have, if any. Throws UsageError for a public address without one. */
export function listenToken(env: NodeJS.ProcessEnv, { host }: ListenAddress): string | undefined {
  const token = readSecret(env, TOKEN_VARIABLE, SHORTEST_TOKEN, "proxy");
  if (token === undefined && !isLoopback(host)) {
    throw new UsageError(
      `--listen on an address that other machines can reach needs a bearer token in ${TOKEN_VARIABLE}, or in the file named in ${TOKEN_VARIABLE}_FILE`,
      "proxy",
    );
  }
  return token;
}

const WANTS_TOKEN = "This proxy needs its own bearer token in the Authorization header.";

/** Decides whether a request is admitted. */
export class ListenGuard {
  readonly #host: string;
  readonly #token: string | undefined;
  readonly #publicHost: string | undefined;

  /** @param publicUrl the URL that clients use, if a proxy is in front. */
  constructor({ host }: ListenAddress, token: string | undefined, publicUrl?: URL) {
    this.#host = host.toLowerCase();
    this.#token = token;
    this.#publicHost = publicUrl && hostIn(publicUrl.href);
  }

  /** The refusal of a request; undefined if it is admitted. */
  refusal(headers: Headers): Response | undefined {
    const origin = headers.get("origin");
    const isOurs = this.#isOurs(hostIn(`http://${headers.get("host") ?? ""}`));
    // A page from elsewhere can reach us by a host name of its own, but cannot hide its origin.
    if (!isOurs || (origin !== null && !this.#isOurs(hostIn(origin)))) {
      return refuseRequest(
        undefined,
        403,
        RpcCode.invalidRequest,
        "Only requests that use this machine's own name and come from its own pages are answered.",
      );
    }
    if (this.#token === undefined) return undefined;
    const [, token = ""] = /^Bearer +(.+)$/i.exec(headers.get("authorization") ?? "") ?? [];
    // Digests compare in constant time for all tokens.
    if (timingSafeEqual(digest(token), digest(this.#token))) return undefined;
    const wanted = refuseRequest(undefined, 401, RpcCode.invalidRequest, WANTS_TOKEN);
    wanted.headers.set("www-authenticate", "Bearer");
    return wanted;
  }

  #isOurs(host: string | undefined): boolean {
    if (host === undefined) return false;
    if (isLoopback(host) || host === this.#host || host === this.#publicHost) return true;
    // A wildcard address accepts every address and the machine's name. Another name could belong to anybody.
    return isEverywhere(this.#host) && (isAddress(host) || host === hostname().toLowerCase());
  }
}

/** The address as a URL. */
export function formatUrl(host: string, port: number, path: string): string {
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}${path}`;
}

function hostIn(url: string): string | undefined {
  try {
    return new URL(url).hostname.replace(/^\[|\]$/g, "").toLowerCase();
  } catch {
    return undefined;
  }
}

/** Whether a host is this machine only. */
export function isLoopback(host: string): boolean {
  return host.toLowerCase() === "localhost" || host === "::1" || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host);
}

/** Whether a host stands for all addresses of this machine. */
export function isEverywhere(host: string): boolean {
  return host === "0.0.0.0" || host === "::";
}

function isAddress(host: string): boolean {
  return host.includes(":") || /^\d{1,3}(?:\.\d{1,3}){3}$/.test(host);
}

function digest(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}
