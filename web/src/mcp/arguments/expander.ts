/**
 * Artifacts into the arguments of one server's tools: what that needs, and how many calls may at a time.
 * @module
 */
import type { ArtifactScope, ArtifactStore, StoredArtifact } from "../../artifacts/store.js";
import type { ShareRule } from "../../core/config.js";
import type { ArgumentsContext } from "../arguments.js";
import { ArtifactSource } from "../reading/source.js";
import { sharedWith } from "../door-config.js";
import type { ArgumentTool, ArtifactForms } from "./form.js";
import { Turns } from "./turns.js";

/** What putting artifacts into the arguments of one server's tools needs. */
export interface ArgumentTerms {
  readonly store: ArtifactStore;
  /** Which server this is: the prefix of the ids of artifacts that its tools may be given. */
  readonly namespace: string;
  /** In which form artifacts go into arguments, by tool and place. */
  readonly forms: Readonly<Record<string, ArtifactForms>>;
  /** Which artifacts of other servers may go into them. */
  readonly share: readonly ShareRule[];
  /** Writes a read-only copy for a tool that wants a path, and gives that; left out where there are no files. */
  readonly writeCopy?: ((ref: StoredArtifact, signal?: AbortSignal) => Promise<string>) | undefined;
}

/** A tool that is called, as its server lists it. */
export type CalledTool = Omit<ArgumentTool, "forms" | "preset">;

interface Caller {
  /** Whose artifacts may be named. */
  readonly scope: ArtifactScope;
  /** Gives up waiting and reading. */
  readonly signal: AbortSignal;
}

/** Calls that artifacts are put into at a time, at one desk: each holds them in memory. */
const MAX_EXPANDED = 4;

/** Of one server. Only so many calls hold artifacts in memory at a time. */
export class Expander {
  readonly #terms: ArgumentTerms;
  readonly #turns = new Turns(MAX_EXPANDED);

  constructor(terms: ArgumentTerms) {
    this.#terms = terms;
  }

  /**
   * Expands one call's arguments when it is its turn.
   *
   * @param tool says what is called; asked when the turn has come, since lists may change until then.
   * @throws what the work throws; the signal's reason.
   */
  async expand<T>(tool: () => CalledTool, caller: Caller, work: (context: ArgumentsContext) => Promise<T>): Promise<T> {
    return this.#turns.do(() => work(this.#context(tool(), caller)), caller.signal);
  }

  #context({ name, inputSchema, meta }: CalledTool, { scope, signal }: Caller): ArgumentsContext {
    const { store, namespace, forms, share, writeCopy } = this.#terms;
    return {
      tool: { name, inputSchema, meta, forms: (Object.hasOwn(forms, name) ? forms[name] : undefined) ?? {} },
      source: new ArtifactSource(store, scope, ...sharedWith(share, namespace, name)),
      ...(writeCopy !== undefined && { writeCopy }),
      signal,
    };
  }
}
