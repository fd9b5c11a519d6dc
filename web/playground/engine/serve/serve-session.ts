/**
 * The session at the page's server. Loaded only on a page that comes from one.
 * @module
 */
import { SluiceError } from "mcp-sluice";
import { safeFilename } from "mcp-sluice/browser";
import type { ShownArtifact } from "mcp-sluice/ui";
import type { EngineEvent, ServedArtifact, ServedSource, ServeOffer } from "../messages.js";
import type { Pauses } from "../pauses.js";
import { toServedPath, type ServedShelf } from "../shelves.js";
import { ServedArtifacts } from "./artifacts.js";
import { ServedChat } from "./chat.js";
import { toServedArtifact } from "./chat-events.js";
import { SESSIONS, errorIn, ServerClient } from "./client.js";
import { followEvents } from "./events.js";

/** Milliseconds to wait for the end of the session. */
const TIMEOUT_MS = 10_000;

interface Begun {
  readonly expires_at: number;
}

interface Sources {
  readonly sources: readonly ServedSource[];
  readonly chat: boolean;
}

/** The session that the browser's cookie stands for. */
export class ServeSession {
  readonly chat: ServedChat;
  readonly #artifacts: ServedArtifacts;
  readonly #client: ServerClient;
  readonly #pauses: Pauses;
  #isIn = false;

  /** `base` is the URL of the server and ends with `/`. */
  constructor(base: string, pauses: Pauses, tell: (event: EngineEvent) => void) {
    this.#client = new ServerClient(base, () => {
      if (!this.#isIn) return;
      this.#isIn = false;
      this.#artifacts.close();
      tell({ kind: "session_over" });
    });
    this.#pauses = pauses;
    this.chat = new ServedChat(this.#client, pauses);
    this.#artifacts = new ServedArtifacts(
      this.#client,
      (listing) => tell({ kind: "served", ...listing }),
      (provider, isGiven) => this.chat.consented(provider, isGiven),
    );
  }

  /** Resumes the session of an earlier visit or starts one. Throws as the client does. */
  async begin(isKnown: boolean): Promise<ServeOffer> {
    const { expires_at } = (isKnown ? await this.#current() : undefined) ?? (await this.#begin());
    this.#isIn = true;
    const { sources, chat } = await this.#client.json<Sources>("sources");
    this.#artifacts.watch(true);
    return { expires_at, chat, sources };
  }

  /** Starts a session. A server with sign-in refuses that and has already started one. */
  async #begin(): Promise<Begun> {
    try {
      return await this.#client.json<Begun>(SESSIONS, { method: "POST", body: {} });
    } catch (error) {
      const known = isOver(error) ? await this.#current() : undefined;
      if (known === undefined) throw error;
      return known;
    }
  }

  async #current(): Promise<Begun | undefined> {
    try {
      return await this.#client.json<Begun>("sessions/current");
    } catch (error) {
      if (isOver(error)) return undefined;
      throw error;
    }
  }

  /** Signs the user in to a source. Throws as the client does. */
  async signIn(source: string): Promise<void> {
    await signIn(source, this.#client, this.#pauses);
  }

  /** Says whether the page is visible. */
  watch(isSeen: boolean): void {
    if (this.#isIn) this.#artifacts.watch(isSeen);
  }

  /** Checks whether the session has ended, which a refused call does not tell. */
  async check(): Promise<void> {
    await this.#current().catch(() => undefined);
  }

  /** Opens the bytes of an artifact; null if they are gone. */
  async bytes(
    shelf: ServedShelf,
    id: string,
    range?: { readonly start: number; readonly end?: number },
  ): Promise<ReadableStream<Uint8Array> | null> {
    // HTTP ranges include their last byte; `end` is exclusive.
    const last = range?.end === undefined ? "" : range.end - 1;
    const headers = range === undefined ? {} : { Range: `bytes=${range.start}-${last}` };
    try {
      return (await this.#client.ask(toServedPath(shelf, id), { headers })).body;
    } catch (error) {
      const code = error instanceof SluiceError ? error.code : undefined;
      if (code === "E_NOT_FOUND" || code === "E_EXPIRED") return null;
      // An empty artifact has no range.
      if (code === "E_INVALID_ARGUMENT" && range !== undefined) return new Blob([]).stream();
      throw error;
    }
  }

  /** What is known of an artifact; undefined if it is gone. Throws as the client does. */
  async find(shelf: ServedShelf, id: string): Promise<ServedArtifact | undefined> {
    try {
      return toServedArtifact(await this.#client.json<ShownArtifact>(`${toServedPath(shelf, id)}/meta`));
    } catch (error) {
      if (error instanceof SluiceError && (error.code === "E_NOT_FOUND" || error.code === "E_EXPIRED"))
        return undefined;
      throw error;
    }
  }

  /** The whole artifact as a file. Throws E_NOT_FOUND and E_EXPIRED. */
  async file(shelf: ServedShelf, id: string): Promise<File> {
    const path = toServedPath(shelf, id);
    const said = await this.#client.json<ShownArtifact>(`${path}/meta`);
    const blob = await (await this.#client.ask(path)).blob();
    const { filename = null, mime_type = null } = said;
    return new File([blob], safeFilename({ id, filename, mime_type }), { type: mime_type ?? "" });
  }

  /** Deletes an artifact; false if it was already gone. */
  async remove(shelf: ServedShelf, id: string): Promise<boolean> {
    try {
      await this.#client.ask(toServedPath(shelf, id), { method: "DELETE" });
    } catch (error) {
      if (error instanceof SluiceError && (error.code === "E_NOT_FOUND" || error.code === "E_EXPIRED")) return false;
      throw error;
    }
    await this.#artifacts.list();
    return true;
  }

  /** Lets go of a session that another tab ended. */
  leave(): void {
    this.#isIn = false;
    this.#artifacts.close();
    this.chat.stopAll();
  }

  /** Ends the session; the server deletes its data. Throws as the client does, unless it had already ended. */
  async end(): Promise<void> {
    this.leave();
    try {
      await this.#client.ask("sessions/current", { method: "DELETE", signal: AbortSignal.timeout(TIMEOUT_MS) });
    } catch (error) {
      if (!isOver(error)) throw error;
    }
  }
}

function isOver(error: unknown): boolean {
  return error instanceof SluiceError && error.code === "E_SESSION";
}

const LAST: ReadonlySet<string> = new Set(["connected", "failed"]);

/** The server's event for a pause during the sign-in. */
interface Paused {
  readonly pause: string;
  readonly reason: Parameters<ReturnType<Pauses["for"]>>[0];
  readonly payload: Readonly<Record<string, unknown>>;
}

/** Has the server connect a source, with the user's answers. Throws the server's error and Unreachable. */
export async function signIn(source: string, client: ServerClient, pauses: Pauses): Promise<void> {
  const over = new AbortController();
  const { signal } = over;
  const open = (): Promise<Response> =>
    client.ask(`sources/${encodeURIComponent(source)}/connection`, { method: "POST", body: {}, signal });
  try {
    for await (const event of followEvents({ open, signal, cursor: {}, last: LAST, tries: 1 })) {
      if (event.kind === "paused") void ask(event as unknown as Paused);
      if (event.kind !== "failed") continue;
      const { code = "E_TOOL_AUTH", message = "It was not connected: try again." } = errorIn(event);
      throw new SluiceError(code, message);
    }
  } finally {
    // Close a pause that the provider has answered.
    over.abort(new DOMException("It is over.", "AbortError"));
  }

  async function ask({ pause, reason, payload }: Paused): Promise<void> {
    try {
      const answer = await pauses.for(source, signal)(reason, payload);
      const body = { answer: answer === undefined ? true : answer };
      await client.ask(`pauses/${encodeURIComponent(pause)}`, { method: "POST", body });
    } catch {
      // The sign-in has ended, or its stream reports the error.
    }
  }
}
