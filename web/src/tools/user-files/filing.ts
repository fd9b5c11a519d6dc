/**
 * Users' files around a call of a source with `user_files: true`: between the planner's arguments and the source, and between
 * the gate and what a model sees.
 * @module
 */
import { NoOpArtifactStore } from "../../artifacts/no-op.js";
import type { ArtifactScope, ArtifactStore } from "../../artifacts/store.js";
import { Answer } from "../../core/transformed.js";
import type { SluiceConfig } from "../../core/config.js";
import type { AnswerRef, Dialect, GatedResult, Sluice, Transformed } from "../../core/sluice.js";
import type { SluiceError } from "../../errors/error.js";
import { type StorageAct, storageError } from "../../errors/storage.js";
import type { ToolContext } from "../context.js";
import { type Clock, systemClock } from "../resilience/clock.js";
import type { SourceResult } from "../source.js";
import { through } from "../sources/body.js";
import { dropStaged, staged, stagingScope } from "../sources/mcp/staging.js";
import { cutOf, ToolAnswer } from "../tool-answer.js";
import { MAX_RAW } from "../transformer.js";
import type { ErrorResult, FileCall, FiledArguments, FiledResult, UserFileHandling } from "./handling.js";

/** What filing needs. */
export interface FilingTerms {
  readonly handling: UserFileHandling;
  readonly sluice: Sluice;
  readonly store: ArtifactStore;
  readonly dialect: Dialect;
  /** Told why a result that nearly follows the contract was left to the ordinary layers. */
  readonly onProblem: (tool: string, error: SluiceError) => void;
}

type Args = Readonly<Record<string, unknown>>;

/** Of one source. */
export class Filing {
  readonly #terms: FilingTerms;

  constructor(terms: FilingTerms) {
    this.#terms = terms;
  }

  /** Whose a connection is that is not shared. */
  ownerKey({ scope = {} }: Pick<ToolContext, "scope">): string {
    return this.#terms.handling.ownerKey(scope);
  }

  /** What the call is made with, or answered by. */
  prepare(args: Args, call: FileCall): Promise<FiledArguments> {
    return coded("read", call, () => this.#terms.handling.prepare(args, call));
  }

  /**
   * Has a result made in a scope of nobody's, until it is asked for in its user's. Of work that throws, and of a result that
   * nobody takes, nothing stays (user storage §11.3).
   */
  whole(work: (scope: ArtifactScope) => Promise<SourceResult>, own: ArtifactScope): Promise<SourceResult> {
    return whole(work, own, this.#terms.store, systemClock);
  }

  /** What a result that follows the contract is told as; undefined for any other. */
  async result(gated: GatedResult, isError: boolean, call: FileCall): Promise<ToolAnswer | undefined> {
    const { handling, store, onProblem } = this.#terms;
    const { scope, signal } = call;
    const fresh = new Set<string>();
    // The same content has the same id in its user's scope.
    for (const { id } of (await gated.answer()).artifacts) {
      if (!(await store.exists(id, scope).catch(() => true))) fresh.add(id);
    }
    const reduced = await gated.answer({ dialect: "mcp", scope, signal });
    const filed = await coded("write", call, () => handling.receive(reduced, call, store));
    if (filed === undefined) return undefined;
    if ("problem" in filed) {
      onProblem(call.tool, filed.problem);
      return undefined;
    }
    await this.#forget(filed.spent ?? [], fresh, call);
    return this.#told(filed, isError || filed.isError === true, reduced, call);
  }

  /**
   * A result that does not follow the contract, which the gate was told to look for: it goes through as any other does. Of one
   * that is too long to be held, what that gate made of it does.
   */
  async again(gated: GatedResult, { tool, namespace, scope, signal }: FileCall): Promise<GatedResult> {
    const { sluice } = this.#terms;
    const options = { tool, namespace, scope, signal, dialect: "mcp" as const, keepOriginal: MAX_RAW };
    if (gated.original !== undefined) return through(sluice, options, gated.original);
    const { text } = await gated.answer({ dialect: "observation", scope, signal });
    return through(sluice, { ...options, transformed: true }, [text]);
  }

  /** What is said in place of a result, which is short. */
  error(value: ErrorResult): ToolAnswer {
    const { sluice, dialect } = this.#terms;
    const told = JSON.stringify(value);
    const clamp = dialect === "mcp" ? undefined : sluice.clampText(told);
    const text = clamp?.text ?? callToolResult(told, true);
    const bytes = new TextEncoder().encode(text).length;
    const nothing = { artifacts: [], failures: [], changed: true, refs: undefined };
    const cut = clamp && cutOf(clamp);
    return new ToolAnswer(new Answer({ ...nothing, text, cut, bytesIn: bytes, bytesOut: bytes }), true);
  }

  /** What is a file now need not stay an artifact of the call, unless an earlier result of its scope has it. */
  async #forget(spent: readonly string[], fresh: ReadonlySet<string>, { scope }: FileCall): Promise<void> {
    const { store } = this.#terms;
    for (const id of spent.filter((each) => fresh.has(each))) {
      const seen = await store.stat(id, scope).catch(() => null);
      // Whoever used it meanwhile keeps it; a copy that stays costs room, and nothing else.
      if (seen !== null) await store.evict(seen).catch(() => false);
    }
  }

  /** The ordinary layers have their turn at what is told: results may be long too. */
  async #told(
    { text, artifacts, failures, display }: FiledResult,
    isError: boolean,
    reduced: Transformed,
    { tool, namespace, scope, signal }: FileCall,
  ): Promise<ToolAnswer> {
    const { sluice, dialect } = this.#terms;
    const options = { tool, namespace, scope, signal, dialect, transformed: dialect !== "mcp" };
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

/** What stores and folders of a host's own throw may say where they are: that is nobody's business. */
async function coded<T>(act: StorageAct, { signal }: FileCall, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw signal.aborted ? error : storageError(error, act);
  }
}

function eachOnce(artifacts: readonly AnswerRef[]): readonly AnswerRef[] {
  return [...new Map(artifacts.map((ref) => [ref.id, ref])).values()];
}

/** The same for hosts that go on with results: what the tool said of files is not restored, since they are the user's now. */
function callToolResult(json: string, isError: boolean): string {
  const content = JSON.stringify([{ type: "text", text: json }]);
  return `{"content":${content},"structuredContent":${json}${isError ? ',"isError":true' : ""}}`;
}

/** Characters of a contract's members: 256 files with names, paths and descriptions as long as they may be are twice as much. */
const MAX_MEMBER = 1_000_000;

/**
 * The configuration with which results of a source with `user_files: true` are reduced first. Every run of bytes is stored, so that
 * none of them is held with the contract; what text there is to be stored is found when the contract is read.
 */
export function contractConfig(config: SluiceConfig | undefined): SluiceConfig {
  const binary_detection = { ...config?.binary_detection, enabled: true, require_magic_bytes: false };
  const guardrail = { ...config?.guardrail, max_observation_chars: MAX_MEMBER };
  return { ...config, max_inline_size: MAX_MEMBER, binary_detection, guardrail };
}

/** How long, in milliseconds, a store may take with what a call that ended was about to store. */
const GRACE = 2000;

/** As `Filing.whole`. */
export async function whole(
  work: (scope: ArtifactScope) => Promise<SourceResult>,
  own: ArtifactScope,
  store: ArtifactStore,
  clock: Clock,
): Promise<SourceResult> {
  if (store instanceof NoOpArtifactStore) return work(own);
  // It is still known whose call it is, for whoever has to ask.
  const { tenant_id = null, user_id = null } = own;
  const scope = { ...stagingScope(), tenant_id, user_id };
  try {
    const { gated, isError } = await work(scope);
    return { gated: staged(gated, store, scope), isError };
  } catch (error) {
    void dropStaged(store, scope);
    // What was under way to the store may arrive behind the first look.
    clock.after(GRACE, () => void dropStaged(store, scope));
    throw error;
  }
}
