/**
 * Puts artifacts into the arguments of one server's tools, a limited number of calls at a time.
 * @module
 */
import type { ArtifactScope, ArtifactStore, StoredArtifact } from "../../artifacts/store.js";
import type { ShareRule } from "../../config/types.js";
import type { ArgumentsContext } from "./arguments.js";
import { ArtifactSource } from "../artifact-reader/source.js";
import { listSharedNamespaces } from "../interceptor-config.js";
import type { ArgumentTool, ArtifactForms } from "./form.js";
import { Semaphore } from "../../core/semaphore.js";

/** Dependencies for putting artifacts into the arguments of one server's tools. */
export interface ArgumentDeps {
  readonly store: ArtifactStore;
  /** The server's namespace: prefix of the ids of artifacts that its tools may receive. */
  readonly namespace: string;
  /** The form of artifacts in arguments, by tool and place. */
  readonly forms: Readonly<Record<string, ArtifactForms>>;
  /** Rules that let artifacts of other servers into arguments. */
  readonly share: readonly ShareRule[];
  /** Writes a read-only copy for a tool that expects a path and returns its path. Omitted where there are no files. */
  readonly writeCopy?: ((ref: StoredArtifact, signal?: AbortSignal) => Promise<string>) | undefined;
}

/** A called tool, as its server lists it. */
export type CalledTool = Omit<ArgumentTool, "forms" | "preset">;

interface Caller {
  /** The owner of the artifacts. */
  readonly scope: ArtifactScope;
  /** Aborts waiting and reading. */
  readonly signal: AbortSignal;
}

/** Most calls expanded at a time by one expander: each holds its artifacts in memory. */
const MAX_EXPANDED = 4;

/** Expands arguments for one server's tools. Limits how many calls hold artifacts in memory. */
export class Expander {
  readonly #deps: ArgumentDeps;
  readonly #semaphore = new Semaphore(MAX_EXPANDED);

  constructor(deps: ArgumentDeps) {
    this.#deps = deps;
  }

  /**
   * Expands one call's arguments when it is its turn.
   *
   * @param tool returns the called tool. It is called when the turn has come, since lists may change until then.
   * @throws what the work throws; the signal's reason.
   */
  async expand<T>(tool: () => CalledTool, caller: Caller, work: (context: ArgumentsContext) => Promise<T>): Promise<T> {
    return this.#semaphore.run(() => work(this.#context(tool(), caller)), caller.signal);
  }

  #context({ name, inputSchema, meta }: CalledTool, { scope, signal }: Caller): ArgumentsContext {
    const { store, namespace, forms, share, writeCopy } = this.#deps;
    return {
      tool: { name, inputSchema, meta, forms: (Object.hasOwn(forms, name) ? forms[name] : undefined) ?? {} },
      source: new ArtifactSource(store, scope, ...listSharedNamespaces(share, namespace, name)),
      ...(writeCopy !== undefined && { writeCopy }),
      signal,
    };
  }
}
