/**
 * Where a proxy listens, and who may speak to it.
 * @module
 */
import { createHash, timingSafeEqual } from "node:crypto";
import { hostname } from "node:os";
import { UsageError } from "../exit.js";
import { readSecret } from "../configuration.js";

/** What `--listen HOST:PORT` says. */
export interface ListenAddress {
  /** Without the brackets of an IPv6 address. */
  readonly host: string;
  /** 0: any that is free. */
  readonly port: number;
}

/** The variable that says which bearer token clients must have. */
const TOKEN_VARIABLE = "SLUICE_PROXY_TOKEN";

const SHORTEST_TOKEN = 16;

/** Reads the option of a command. Throws UsageError. */
export function listenAddress(said: string, command: string = "proxy"): ListenAddress {
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(said) ?? [];
  const host = bracketed ?? plain;
  if (host === undefined || Number(port) > 65_535) {
    throw new UsageError("--listen wants HOST:PORT, as in --listen 127.0.0.1:8080; port 0 is any free one", command);
  }
  return { host, port: Number(port) };
}

/** The token that clients must have, if any. Throws UsageError for an address that others reach without one. */
export function listenToken(env: NodeJS.ProcessEnv, { host }: ListenAddress): string | undefined {
  const token = readSecret(env, TOKEN_VARIABLE, SHORTEST_TOKEN, "proxy");
  if (token === undefined && !isLoopback(host)) {
    throw new UsageError(
      `--listen at an address that other machines reach wants a bearer token in the variable ${TOKEN_VARIABLE}, or in the file that ${TOKEN_VARIABLE}_FILE names`,
      "proxy",
    );
  }
  return token;
}

/** Decides whether a request may come in at all. */
export class ListenGuard {
  readonly #host: string;
  readonly #token: string | undefined;

  constructor({ host }: ListenAddress, token: string | undefined) {
    this.#host = host.toLowerCase();
    this.#token = token;
  }

  /** Whether clients have to have a token, which then is ours and not the server's. */
  get wantsToken(): boolean {
    return this.#token !== undefined;
  }

  /** The refusal of a request; undefined for one that may come in. */
  refusal(headers: Headers): Response | undefined {
    const origin = headers.get("origin");
    const isOurs = this.#isOurs(hostIn(`http://${headers.get("host") ?? ""}`));
    // A page elsewhere can name this machine by a name of its own, but not hide which page it is.
    if (!isOurs || (origin !== null && !this.#isOurs(hostIn(origin)))) {
      return refused(403, "Only requests to this machine by its own name, and from pages on it, are answered.");
    }
    if (this.#token === undefined) return undefined;
    const [, token = ""] = /^Bearer +(.+)$/i.exec(headers.get("authorization") ?? "") ?? [];
    // Digests take as long to compare for all tokens.
    if (timingSafeEqual(digest(token), digest(this.#token))) return undefined;
    return refused(401, "This proxy wants its own bearer token in the header Authorization.", {
      "www-authenticate": "Bearer",
    });
  }

  #isOurs(host: string | undefined): boolean {
    if (host === undefined) return false;
    if (isLoopback(host) || host === this.#host) return true;
    // Listening everywhere, it has every address and the machine's name; another name could be anybody's.
    return isEverywhere(this.#host) && (isAddress(host) || host === hostname().toLowerCase());
  }
}

/** The address as a URL shows it. */
export function shown(host: string, port: number, path: string): string {
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}${path}`;
}

function refused(status: number, sentence: string, headers: Record<string, string> = {}): Response {
  const body = JSON.stringify({ jsonrpc: "2.0", id: null, error: { code: -32_600, message: sentence } });
  return new Response(body, { status, headers: { "content-type": "application/json", ...headers } });
}

function hostIn(url: string): string | undefined {
  try {
    return new URL(url).hostname.replace(/^\[|\]$/g, "").toLowerCase();
  } catch {
    return undefined;
  }
}

/** Whether a host is this machine and nothing else. */
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
