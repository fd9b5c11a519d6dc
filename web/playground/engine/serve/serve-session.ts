/**
 * The session at the server that the page comes from. Loaded where there is one.
 * @module
 */
import { SluiceError } from "mcp-sluice";
import { safeFilename } from "mcp-sluice/browser";
import type { ShownArtifact } from "mcp-sluice/ui";
import type { EngineEvent } from "../contract.js";
import type { Pauses } from "../pauses.js";
import { servedPath, type ServedShelf } from "./address.js";
import { ServedArtifacts } from "./artifacts.js";
import { ServedChat } from "./chat.js";
import type { ServedSource, ServeOffer } from "./contract.js";
import { BEGINNING, Exchange } from "./exchange.js";
import { signIn } from "./sign-in.js";

/** Milliseconds that its end is waited for. */
const PATIENCE = 10_000;

interface Begun {
  readonly expires_at: number;
}

interface Sources {
  readonly sources: readonly ServedSource[];
  readonly chat: boolean;
}

/** One server, and the session that this browser has there by its cookie. */
export class ServeSession {
  readonly chat: ServedChat;
  readonly #artifacts: ServedArtifacts;
  readonly #exchange: Exchange;
  readonly #pauses: Pauses;
  #isIn = false;

  /** `base` is where the server is, and ends with `/`. */
  constructor(base: string, pauses: Pauses, tell: (event: EngineEvent) => void) {
    this.#exchange = new Exchange(base, () => {
      if (!this.#isIn) return;
      this.#isIn = false;
      this.#artifacts.close();
      tell({ kind: "session_over" });
    });
    this.#pauses = pauses;
    this.chat = new ServedChat(this.#exchange, pauses);
    this.#artifacts = new ServedArtifacts(
      this.#exchange,
      (listing) => tell({ kind: "served", ...listing }),
      (provider, isGiven) => this.chat.consented(provider, isGiven),
    );
  }

  /** Goes on with the session of an earlier visit, where there was one; else begins one. Throws as the exchange does. */
  async begin(isKnown: boolean): Promise<ServeOffer> {
    const { expires_at } = (isKnown ? await this.#current() : undefined) ?? (await this.#begun());
    this.#isIn = true;
    const { sources, chat } = await this.#exchange.json<Sources>("sources");
    this.#artifacts.watch(true);
    return { expires_at, chat, sources };
  }

  /** A server that knows people may have begun one already when they signed in, and lets nobody else. */
  async #begun(): Promise<Begun> {
    try {
      return await this.#exchange.json<Begun>(BEGINNING, { method: "POST", body: {} });
    } catch (error) {
      const known = isOver(error) ? await this.#current() : undefined;
      if (known === undefined) throw error;
      return known;
    }
  }

  async #current(): Promise<Begun | undefined> {
    try {
      return await this.#exchange.json<Begun>("sessions/current");
    } catch (error) {
      if (isOver(error)) return undefined;
      throw error;
    }
  }

  /** Has the server connect a source to which a person gives access. Throws as the exchange does. */
  async signIn(source: string): Promise<void> {
    await signIn(source, this.#exchange, this.#pauses);
  }

  /** Whether somebody looks. */
  watch(isSeen: boolean): void {
    if (this.#isIn) this.#artifacts.watch(isSeen);
  }

  /** Finds out whether it is over: who asked a source was only told that they may not. */
  async check(): Promise<void> {
    await this.#current().catch(() => undefined);
  }

  /** Opens bytes; null when they are gone. */
  async bytes(
    shelf: ServedShelf,
    id: string,
    range?: { readonly start: number; readonly end?: number },
  ): Promise<ReadableStream<Uint8Array> | null> {
    // The end of a range is its last byte on the wire, and the one behind it here.
    const last = range?.end === undefined ? "" : range.end - 1;
    const headers = range === undefined ? {} : { Range: `bytes=${range.start}-${last}` };
    try {
      return (await this.#exchange.ask(servedPath(shelf, id), { headers })).body;
    } catch (error) {
      const code = error instanceof SluiceError ? error.code : undefined;
      if (code === "E_NOT_FOUND" || code === "E_EXPIRED") return null;
      // No byte is there: of an empty one none can be.
      if (code === "E_INVALID_ARGUMENT" && range !== undefined) return new Blob([]).stream();
      throw error;
    }
  }

  /** All of it, under its name. Throws E_NOT_FOUND, E_EXPIRED. */
  async file(shelf: ServedShelf, id: string): Promise<File> {
    const path = servedPath(shelf, id);
    const said = await this.#exchange.json<ShownArtifact>(`${path}/meta`);
    const blob = await (await this.#exchange.ask(path)).blob();
    const { filename = null, mime_type = null } = said;
    return new File([blob], safeFilename({ id, filename, mime_type }), { type: mime_type ?? "" });
  }

  /** Deletes an artifact; false when it was gone already. */
  async remove(shelf: ServedShelf, id: string): Promise<boolean> {
    try {
      await this.#exchange.ask(servedPath(shelf, id), { method: "DELETE" });
    } catch (error) {
      if (error instanceof SluiceError && (error.code === "E_NOT_FOUND" || error.code === "E_EXPIRED")) return false;
      throw error;
    }
    await this.#artifacts.list();
    return true;
  }

  /** Ends it: the server deletes all that it stored. Throws as the exchange does, but for one that is over. */
  async end(): Promise<void> {
    this.#isIn = false;
    this.#artifacts.close();
    this.chat.stopAll();
    try {
      await this.#exchange.ask("sessions/current", { method: "DELETE", signal: AbortSignal.timeout(PATIENCE) });
    } catch (error) {
      if (!isOver(error)) throw error;
    }
  }
}

function isOver(error: unknown): boolean {
  return error instanceof SluiceError && error.code === "E_SESSION";
}
