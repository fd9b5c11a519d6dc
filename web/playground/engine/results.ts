/**
 * Results that can be gated anew, and by which configuration.
 * @module
 */
import { createSluice, SluiceError, type SluiceConfig } from "mcp-sluice";
import type { ShownResult } from "./contract.js";
import { original, shown, through, type Gating, type KeptResult } from "./gating.js";
import type { Session } from "./session.js";

/** How many there are; those before are forgotten. */
const MAX_RESULTS = 100;
/** Where what a person drops comes from. */
const DROPPED = "dropped";

/** The results of a session. */
export class Results {
  readonly #session: Session;
  readonly #kept = new Map<string, KeptResult>();
  #gating: Gating | undefined;
  #config: SluiceConfig = {};

  constructor(session: Session) {
    this.#session = session;
  }

  /** What a model sees is decided by this from now on. Throws SluiceError for what the core refuses. */
  async configure(config: SluiceConfig): Promise<void> {
    // Retention is the playground's own: what is stored already was stored under it.
    if (config.retention !== undefined) {
      throw new SluiceError("E_CONFIG_KEY", "retention is not chosen here: it holds for everything that is stored.", {
        path: "retention",
      });
    }
    const { store, scope } = this.#session;
    const sluice = await createSluice({ store, config });
    this.#gating = { sluice, scope, isDefault: Object.keys(config).length === 0 };
    this.#config = config;
  }

  /** What decides by now. */
  get config(): SluiceConfig {
    return this.#config;
  }

  /** Keeps a result, and gives both of its sides. */
  async add(kept: KeptResult): Promise<ShownResult> {
    this.#kept.set(kept.id, kept);
    for (const id of this.#kept.keys()) {
      if (this.#kept.size <= MAX_RESULTS) break;
      this.#kept.delete(id);
    }
    return shown(kept, this.#gate());
  }

  /** Gates a file: a JSON text as what it says, anything else as a server would send it. */
  async take(file: File, as: "auto" | "file"): Promise<ShownResult> {
    const { sluice, scope } = this.#gate();
    const { asResult, isJson, textOf } = await import("./dropped.js");
    const pieces = as === "auto" && (await isJson(file)) ? textOf(file) : asResult(file);
    const options = { tool: DROPPED, namespace: DROPPED, scope, dialect: "mcp" } as const;
    const reduced = await through(sluice, options, pieces);
    const id = crypto.randomUUID();
    return this.add({ id, title: file.name, server: DROPPED, tool: DROPPED, isError: false, reduced });
  }

  /** Both sides of a result, by the configuration of now. Throws E_EXPIRED. */
  async again(id: string): Promise<ShownResult> {
    return shown(this.#find(id), this.#gate());
  }

  /** What the server sent, as JSON text. Throws E_EXPIRED. */
  original(id: string): ReadableStream<Uint8Array> {
    return original(this.#find(id), this.#gate());
  }

  /** Forgets all of them. */
  clear(): void {
    this.#kept.clear();
  }

  #gate(): Gating {
    if (this.#gating === undefined) throw new SluiceError("E_MISUSE", "The engine has not started yet.");
    return this.#gating;
  }

  #find(id: string): KeptResult {
    const result = this.#kept.get(id);
    if (result === undefined) throw new SluiceError("E_EXPIRED", "The result is no longer kept: call the tool again.");
    return result;
  }
}
