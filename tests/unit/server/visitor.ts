/**
 * Somebody in a session of a server.
 * @module
 */
import type { RequestHandler } from "../../../web/src/server/http/listen.js";

/** A reference as it is told outside. */
export interface ShownArtifact {
  readonly id: string;
  readonly mime_type: string | null;
  readonly size_bytes: number;
  readonly filename: string | null;
  readonly sha256: string;
  readonly trace?: string;
  readonly expires_at?: number;
}

/** A page of a listing. */
export interface ShownPage {
  readonly artifacts: readonly ShownArtifact[];
  readonly next?: string;
}

/** Who asks, for servers that `byHeaders` answers for. */
export interface Person {
  readonly user?: string;
  readonly tenant?: string;
}

/** Authenticates by headers, as behind a proxy that signs people in. */
export function byHeaders(request: Request): { user_id: string; tenant_id: string | null } | null {
  const user_id = request.headers.get("x-user");
  return user_id === null ? null : { user_id, tenant_id: request.headers.get("x-tenant") };
}

/** Sends requests with the token of a session. */
export class Visitor {
  readonly id: string;
  readonly token: string;
  readonly #answering: RequestHandler;
  readonly #origin: string;

  private constructor(answering: RequestHandler, origin: string, { id, token }: { id: string; token: string }) {
    this.#answering = answering;
    this.#origin = origin;
    this.id = id;
    this.token = token;
  }

  /** Begins a session. */
  static async of(
    answering: RequestHandler,
    { user, tenant }: Person = {},
    origin: string = "http://127.0.0.1:8080",
  ): Promise<Visitor> {
    const headers = new Headers({ "content-type": "application/json" });
    if (user !== undefined) headers.set("x-user", user);
    if (tenant !== undefined) headers.set("x-tenant", tenant);
    const response = await answering.fetch(
      new Request(`${origin}/sessions`, { method: "POST", body: '{"token":true}', headers }),
    );
    if (response.status !== 201) throw new Error(`no session: ${response.status} ${await response.text()}`);
    return new Visitor(answering, origin, (await response.json()) as { id: string; token: string });
  }

  /** Over a real connection. */
  static at(port: number, person: Person = {}): Promise<Visitor> {
    return Visitor.of({ fetch: (request) => fetch(request) }, person, `http://127.0.0.1:${port}`);
  }

  /** Asks for a path, which begins with `/`. */
  async ask(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    headers.set("authorization", `Bearer ${this.token}`);
    return this.#answering.fetch(
      new Request(`${this.#origin}${path}`, { ...init, headers, duplex: "half" } as RequestInit),
    );
  }

  /** The same as the page of the server, whose browser sends a cookie. */
  async askAsPage(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    const { port } = new URL(this.#origin);
    headers.set("cookie", `sluice_session${port === "" ? "" : `_${port}`}=${this.token}`);
    return this.#answering.fetch(
      new Request(`${this.#origin}${path}`, { ...init, headers, duplex: "half" } as RequestInit),
    );
  }

  /** The JSON that a path answers with. */
  async json<T>(path: string, init: RequestInit = {}): Promise<T> {
    const response = await this.ask(path, init);
    const text = await response.text();
    if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
    return JSON.parse(text) as T;
  }

  /** Uploads bytes. */
  async upload(body: BodyInit, query = "", type?: string): Promise<ShownArtifact> {
    const headers: Record<string, string> = type === undefined ? {} : { "content-type": type };
    return (await this.json<{ artifact: ShownArtifact }>(`/artifacts${query}`, { method: "POST", body, headers }))
      .artifact;
  }

  /** A page of the listing. */
  list(query = ""): Promise<ShownPage> {
    return this.json(`/artifacts${query}`);
  }

  /** Ends the session; gives how many artifacts went. */
  async end(): Promise<number> {
    return (await this.json<{ deleted_artifacts: number }>("/sessions/current", { method: "DELETE" }))
      .deleted_artifacts;
  }
}

/** Status and code of a refusal. */
export async function refused(response: Response): Promise<readonly [number, string]> {
  const { error } = (await response.json()) as { error: { code: string } };
  return [response.status, error.code];
}
