/**
 * Serves artifacts over HTTP, in a service worker or a server, with `Request` and `Response`.
 * @module
 */
import { asStore } from "../../artifacts/host-store.js";
import { isPlainId } from "../../artifacts/reference.js";
import { scopeKey } from "../../artifacts/scope.js";
import { ScopedArtifacts } from "../../artifacts/scoped.js";
import type { ArtifactScope, ArtifactStore, StoredArtifact } from "../../artifacts/store.js";
import { alternatives, checkOptionNames, wrong } from "../../errors/arguments.js";
import { SluiceError } from "../../errors/error.js";
import { ignoreErrors } from "../../mcp/interceptor-event.js";
import { failure, refuseGone, jsonAnswer, notFound, refusal } from "../http/answers.js";
import { serveBytes } from "./bytes.js";

/** The scope of the served artifacts: a fixed one, or one for each request. Null serves none. */
type RequestScope = ArtifactScope | ((request: Request) => ArtifactScope | null | Promise<ArtifactScope | null>);

/** Options of {@link artifactHandler}. */
export interface ArtifactHandlerOptions {
  /** The store. */
  readonly store: ArtifactStore;
  /** Only artifacts of this scope are served. Others look as if they did not exist. */
  readonly scope: RequestScope;
  /** The path above `artifacts/`. Begins and ends with `/`. */
  readonly base: string;
  /**
   * Remembers artifacts that existed, for answering 410 in place of 404. Defaults to the last 1,024 that this handler
   * found.
   */
  readonly seen?: SeenArtifacts;
  /** When an artifact expires, in milliseconds since 1970, if known. Shown in `…/meta`. */
  readonly expiresAt?: (artifact: StoredArtifact) => number | null;
  /** Replaces `artifacts/` in addresses. Ends with `/`. */
  readonly folder?: string;
  /** Receives failures of the store, which clients do not see. What it throws is ignored. */
  readonly onError?: (error: unknown) => void;
}

/** Answers a request, or returns null for other addresses. Never throws. */
type ArtifactHandler = (request: Request) => Promise<Response | null>;

const METHODS = "GET, HEAD";

/**
 * Serves `GET` and `HEAD` of
 *
 * - `{base}artifacts/{id}`: the bytes, as a stream, with `Range` and conditions by their SHA-256 (RFC 9110); with
 *   `?download` they are saved instead of shown;
 * - `{base}artifacts/{id}/meta`: what is said of them, as JSON, without the scope.
 *
 * 404 is what is unknown in the scope, 410 what was there and is no longer, 503 what the store failed at; each with
 * `{"error": {"code", "message"}}`. Whatever the bytes are, they run no script and reach no network.
 *
 * @example
 * const handle = artifactHandler({ store, scope: { user_id: "ada" }, base: "/" });
 * const response = (await handle(request)) ?? new Response(null, { status: 404 });
 * @throws SluiceError E_INVALID_ARGUMENT when the store is none, or the base no such path.
 */
export function artifactHandler(options: ArtifactHandlerOptions): ArtifactHandler {
  checkOptionNames(options, "artifactHandler", ["base", "expiresAt", "folder", "onError", "scope", "seen", "store"]);
  const { base, scope } = options;
  if (!/^\/(?:.*\/)?$/.test(base)) throw wrong("base", "a path that begins and ends with /");
  const store = asStore(options.store);
  const seen = options.seen ?? new SeenInMemory();
  const expiresAt = options.expiresAt ?? ((): null => null);
  const report = ignoreErrors(options.onError);

  return async (request) => {
    const asked = readAddress(new URL(request.url).pathname, base, options.folder);
    if (asked === null) return null;
    const response = await answerRequest(request, asked);
    return request.method === "HEAD" ? new Response(null, response) : response;
  };

  async function answerRequest(request: Request, asked: AskedArtifact | "unknown"): Promise<Response> {
    if (asked === "unknown") return notFound();
    if (request.method !== "GET" && request.method !== "HEAD") return notAllowed();
    try {
      const whose = typeof scope === "function" ? await scope(request) : scope;
      return whose === null ? notFound() : await findArtifact(request, asked, whose);
    } catch (error) {
      report(error);
      return failure(error);
    }
  }

  async function findArtifact(request: Request, { id, part }: AskedArtifact, whose: ArtifactScope): Promise<Response> {
    const artifacts = new ScopedArtifacts(store, whose);
    let wasThere = false;
    try {
      const artifact = await artifacts.stat(id);
      wasThere = true;
      await forgiven(() => seen.add(id, whose));
      return part === "bytes" ? await serveBytes(request, artifact, artifacts) : jsonAnswer(toMeta(artifact));
    } catch (error) {
      if (!(error instanceof SluiceError)) throw error;
      if (error.code === "E_EXPIRED") return refuseGone();
      if (error.code !== "E_NOT_FOUND") throw error;
      return wasThere || (await forgiven(() => seen.has(id, whose))) === true ? refuseGone() : notFound();
    }
  }

  function toMeta(artifact: StoredArtifact): object {
    const { scope: _, ...said } = artifact;
    const expires_at = expiresAt(artifact);
    return { ...said, ...(expires_at !== null && { expires_at }) };
  }
}

function notAllowed(): Response {
  return refusal(405, "E_INVALID_ARGUMENT", `Artifacts are only read here: use ${alternatives(METHODS.split(", "))}.`, {
    Allow: METHODS,
  });
}

/** A failing memory is no reason to refuse an artifact. */
async function forgiven<T>(remember: () => T | Promise<T>): Promise<T | undefined> {
  try {
    return await remember();
  } catch {
    return undefined;
  }
}

/** A requested artifact. */
interface AskedArtifact {
  /** An id by its form. The store knows whether it exists. */
  readonly id: string;
  /** The bytes, or the metadata. */
  readonly part: "bytes" | "meta";
}

/** The default folder. */
const ARTIFACTS = "artifacts/";
const META = "/meta";
/** Longer than any id with `/meta`. */
const MAX_REST = 256;

/**
 * Reads `{base}artifacts/{id}` and `{base}artifacts/{id}/meta`.
 *
 * Nothing is decoded: ids are made of characters that need no encoding, so what has a `%` in it is none.
 *
 * @param base a path that begins and ends with `/`
 * @param folder what stands in the place of `artifacts/`; ends with `/`
 * @returns null for what is not below `{base}artifacts/`, "unknown" for what is and cannot be an artifact.
 */
export function readAddress(
  pathname: string,
  base: string,
  folder: string = ARTIFACTS,
): AskedArtifact | "unknown" | null {
  if (!pathname.startsWith(base + folder)) return null;
  const rest = pathname.slice(base.length + folder.length);
  if (rest.length > MAX_REST) return "unknown";
  const isMeta = rest.endsWith(META);
  const id = isMeta ? rest.slice(0, -META.length) : rest;
  return isPlainId(id) ? { id, part: isMeta ? "meta" : "bytes" } : "unknown";
}

/** Remembers artifacts that were found. What it forgets is unknown instead of gone. */
export interface SeenArtifacts {
  /** Remembers that an artifact exists. */
  add(id: string, scope: ArtifactScope): void | Promise<void>;
  /** Whether it is remembered, for that scope. */
  has(id: string, scope: ArtifactScope): boolean | Promise<boolean>;
}

/** Most remembered artifacts. The oldest are forgotten first. */
export const MAX_SEEN = 1024;

/** Remembers in memory. */
export class SeenInMemory implements SeenArtifacts {
  readonly #names = new Set<string>();

  add(id: string, scope: ArtifactScope): void {
    const name = toName(id, scope);
    this.#names.delete(name);
    this.#names.add(name);
    if (this.#names.size <= MAX_SEEN) return;
    const [oldest = ""] = this.#names;
    this.#names.delete(oldest);
  }

  has(id: string, scope: ArtifactScope): boolean {
    return this.#names.has(toName(id, scope));
  }
}

function toName(id: string, scope: ArtifactScope): string {
  return `${id} ${scopeKey(scope)}`;
}
