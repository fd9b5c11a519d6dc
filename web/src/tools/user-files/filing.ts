/**
 * Users' files around a call of a source with `user_files: true`: between the planner's arguments and the source, and between
 * the gate and what a model sees.
 * @module
 */
import type { ArtifactStore } from "../../artifacts/store.js";
import { Answer } from "../../core/answer.js";
import type { AnswerRef, Dialect, Sluice, Transformed } from "../../core/sluice.js";
import type { SluiceError } from "../../errors/error.js";
import { storageError, type StorageAct } from "../../errors/storage.js";
import type { ToolContext } from "../context.js";
import { through } from "../sources/body.js";
import { cutOf, ToolAnswer } from "../tool-answer.js";
import type { ErrorResult, FileCall, FiledArguments, FiledResult, UserFileHandling } from "./handling.js";

export { contractConfig } from "./contract-config.js";

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
   * What a result that follows the contract is told as; undefined for any other.
   *
   * @param reduced the result in the mcp dialect.
   * @param fresh ids of its artifacts that the scope did not have before.
   */
  async result(
    reduced: Transformed,
    isError: boolean,
    fresh: ReadonlySet<string>,
    call: FileCall,
  ): Promise<ToolAnswer | undefined> {
    const { handling, store, onProblem } = this.#terms;
    const filed = await coded("write", call, () => handling.receive(reduced, call, store));
    if (filed === undefined) return undefined;
    if ("problem" in filed) {
      onProblem(call.tool, filed.problem);
      return undefined;
    }
    await this.#forget(filed.spent ?? [], fresh, call);
    return this.#told(filed, isError || filed.isError === true, reduced, call);
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
