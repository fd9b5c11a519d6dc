/**
 * Users' files around a call of a source with `user_files: true`: in the arguments before it, and in the result after
 * it.
 * @module
 */
import { NoOpArtifactStore } from "../artifacts/no-op.js";
import type { ArtifactScope, ArtifactStore } from "../artifacts/store.js";
import type { SluiceConfig } from "../config/types.js";
import type { Dialect, GatedResult, Sluice, Transformed, AnswerRef } from "../core/types.js";
import { Answer } from "../core/transform.js";
import { isStoreFailure, type StorageAct, storageError } from "../errors/storage.js";
import type { ToolContext } from "./context.js";
import { type Clock, systemClock } from "./resilience/attempt.js";
import type { SourceResult } from "./source.js";
import { dropStaged, stageResult, stagingScope, through } from "./sources/gated.js";
import { callToolResult, MAX_RAW, ToolAnswer } from "./result.js";
import type { FileCall, FiledArguments, FiledResult, UserFileHandling } from "./user-files.js";

interface CallFilesDeps {
  readonly handling: UserFileHandling;
  readonly sluice: Sluice;
  readonly store: ArtifactStore;
}

type Args = Readonly<Record<string, unknown>>;

/** Handles users' files around the calls of one source. */
export class CallFiles {
  readonly #deps: CallFilesDeps;

  constructor(deps: CallFilesDeps) {
    this.#deps = deps;
  }

  /** The owner of a connection that users do not share. */
  ownerKey({ scope = {} }: Pick<ToolContext, "scope">): string {
    return this.#deps.handling.ownerKey(scope);
  }

  /** Returns the arguments for the call, or an answer in its place. */
  prepare(args: Args, call: FileCall): Promise<FiledArguments> {
    return convertErrors("read", call, () => this.#deps.handling.prepare(args, call));
  }

  /**
   * Makes a result in a temporary scope until its owner takes it. If the work throws, or the result is not taken,
   * everything stored for it is deleted.
   */
  whole(work: (scope: ArtifactScope) => Promise<SourceResult>, own: ArtifactScope): Promise<SourceResult> {
    return whole(work, own, this.#deps.store, systemClock);
  }

  /** Writes a result that follows the tool output contract in a dialect. Undefined for any other. */
  async result(
    gated: GatedResult,
    isError: boolean,
    call: FileCall,
    dialect: Dialect,
  ): Promise<ToolAnswer | undefined> {
    const { handling, store } = this.#deps;
    const { scope, signal } = call;
    const fresh = new Set<string>();
    try {
      // The same content has the same id in the user's own scope.
      for (const { id } of (await gated.answer()).artifacts) if (!(await store.exists(id, scope))) fresh.add(id);
    } catch (error) {
      // The rest may belong to an earlier result.
      if (!isStoreFailure(error)) throw error;
    }
    const reduced = await gated.answer({ dialect: "mcp", scope, signal });
    const filed = await convertErrors("write", call, () => handling.receive(reduced, call, store));
    if (filed === undefined) return undefined;
    await this.#forget(filed.spent ?? [], fresh, call);
    return this.#tell(filed, { isError: isError || filed.isError === true, reduced, dialect }, call);
  }

  /**
   * A result that does not follow the contract, with names in place of paths. It passes the gate again, as any other
   * result does, since the first time the gate was configured for a contract. If it is too long to keep, the first
   * reduction is used.
   */
  async again(gated: GatedResult, call: FileCall): Promise<GatedResult> {
    const { sluice, handling } = this.#deps;
    const { tool, namespace, scope, signal } = call;
    const options = { tool, namespace, scope, signal, dialect: "mcp" as const, keepOriginal: MAX_RAW, rewritten: true };
    const { original } = gated;
    if (original !== undefined) {
      const text = decodeUtf8(original);
      return through(sluice, options, text === undefined ? original : [await handling.cleaned(text, call)]);
    }
    const { text } = await gated.answer({ dialect: "observation", scope, signal });
    return through(sluice, { ...options, transformed: true }, [await handling.cleaned(text, call)]);
  }

  /** Replaces paths in the user's folder with names. */
  cleaned(text: string, call: FileCall): Promise<string> {
    return this.#deps.handling.cleaned(text, call);
  }

  /** Deletes artifacts of the call that are files now, unless an earlier result in the scope uses them. */
  async #forget(spent: readonly string[], fresh: ReadonlySet<string>, { scope }: FileCall): Promise<void> {
    const { store } = this.#deps;
    try {
      for (const id of spent.filter((each) => fresh.has(each))) {
        const seen = await store.stat(id, scope);
        // Someone else may use it by now, so `evict` checks.
        if (seen !== null) await store.evict(seen);
      }
    } catch {
      // A copy that stays only costs space.
    }
  }

  /** Passes the written result through the ordinary layers, since it may be long too. */
  async #tell(
    { text, artifacts, failures, display }: FiledResult,
    {
      isError,
      reduced,
      dialect,
    }: { readonly isError: boolean; readonly reduced: Transformed; readonly dialect: Dialect },
    { tool, namespace, scope, signal }: FileCall,
  ): Promise<ToolAnswer> {
    const { sluice } = this.#deps;
    const options = { tool, namespace, scope, signal, dialect, transformed: dialect !== "mcp", rewritten: true };
    // Hosts that use the mcp dialect cannot restore what the tool said of files: those belong to the user now.
    await using gated = await through(sluice, options, [dialect === "mcp" ? callToolResult(text, isError) : text]);
    const written = await gated.answer();
    const answer = new Answer({
      text: written.text,
      artifacts: eachOnce([...artifacts, ...written.artifacts]),
      failures: [...reduced.failures, ...failures, ...written.failures],
      changed: true,
      cut: written.cut,
      bytesIn: reduced.bytesIn,
      bytesOut: written.bytesOut,
      refs: written.refs,
    });
    return new ToolAnswer(answer, isError, display);
  }
}

/** A file may be an artifact of the result already. */
function eachOnce(artifacts: readonly AnswerRef[]): readonly AnswerRef[] {
  return [...new Map(artifacts.map((ref) => [ref.id, ref])).values()];
}

/** Decodes UTF-8. Undefined for other bytes, which the gate reports. */
function decodeUtf8(chunks: readonly Uint8Array[]): string | undefined {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  try {
    return chunks.map((chunk) => decoder.decode(chunk, { stream: true })).join("") + decoder.decode();
  } catch {
    return undefined;
  }
}

/** Replaces errors of stores and folders with coded ones, since their messages may contain paths. */
async function convertErrors<T>(act: StorageAct, { signal }: FileCall, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw signal.aborted ? error : storageError(error, act);
  }
}

/**
 * Maximum characters of a member of the contract: about half of what 256 files with the longest names, paths and
 * descriptions take.
 */
const MAX_MEMBER = 1_000_000;

/**
 * The configuration for the first reduction of a result. All binary data is stored, so that none is held in memory
 * with the contract; long text is stored when the contract is read.
 */
export function contractConfig(config: SluiceConfig | undefined): SluiceConfig {
  const binary_detection = { ...config?.binary_detection, enabled: true, require_magic_bytes: false };
  const guardrail = { ...config?.guardrail, max_observation_chars: MAX_MEMBER };
  return { ...config, max_inline_size: MAX_MEMBER, binary_detection, guardrail };
}

/** Milliseconds after which a store is cleaned again, for writes that were still under way when a call ended. */
const GRACE = 2000;

/** See `CallFiles.whole`. */
export async function whole(
  work: (scope: ArtifactScope) => Promise<SourceResult>,
  own: ArtifactScope,
  store: ArtifactStore,
  clock: Clock,
): Promise<SourceResult> {
  if (store instanceof NoOpArtifactStore) return work(own);
  // Stores may still need to know the user.
  const { tenant_id = null, user_id = null } = own;
  const scope = { ...stagingScope(), tenant_id, user_id };
  try {
    const { gated, isError } = await work(scope);
    return { gated: stageResult(gated, store, scope), isError };
  } catch (error) {
    void dropStaged(store, scope);
    // Writes under way may finish after the first cleaning.
    clock.after(GRACE, () => void dropStaged(store, scope));
    throw error;
  }
}
