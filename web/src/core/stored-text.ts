/**
 * A stored text as it stood in the result: runs that were taken out of it are written again where it refers to them.
 * @module
 */
import type { Engine } from "./engine.js";
import type { AnswerRef } from "./sluice.js";
import type { StoreAccess } from "./store-access.js";

/** What was noted of a reference when the text was stored: `inner_ref` in `wasm/include/sluice/restore.h`. */
interface Reference {
  readonly offset: number;
  readonly uri: string;
  /** Of what is no run of bytes. */
  readonly kind?: string;
}

/**
 * The text piece by piece, in constant memory; null in place of a run that the store does not give back. Null where it
 * does not give the text.
 */
export async function textOf(
  ref: AnswerRef,
  engine: Engine,
  access: StoreAccess,
): Promise<AsyncGenerator<Uint8Array | null> | null> {
  const chunks = await access.openChunks(ref.id, ref.scope);
  return chunks && pieces(chunks, ref, engine, access);
}

async function* pieces(
  chunks: AsyncIterable<Uint8Array>,
  { source, scope }: AnswerRef,
  engine: Engine,
  access: StoreAccess,
): AsyncGenerator<Uint8Array | null> {
  const noted = source["references"];
  const references = Array.isArray(noted) ? [...(noted as readonly Reference[])] : [];
  let at = 0;
  /** Where text goes on behind the last reference. */
  let resume = 0;
  for await (const chunk of chunks) {
    const end = at + chunk.length;
    let next = references[0];
    for (; next !== undefined && next.offset < end; next = references[0]) {
      if (next.offset > resume) yield chunk.subarray(Math.max(resume, at) - at, next.offset - at);
      yield* written(next, scope, engine, access);
      resume = next.offset + next.uri.length;
      references.shift();
    }
    if (resume < end) yield chunk.subarray(Math.max(resume, at) - at);
    at = end;
  }
}

/** A run in the form that it had. Texts inside a text are no runs of its own. */
async function* written(
  { uri, kind }: Reference,
  scope: AnswerRef["scope"],
  engine: Engine,
  access: StoreAccess,
): AsyncGenerator<Uint8Array | null> {
  const [address = "", query] = uri.slice("artifact://".length).split("?");
  const chunks = kind === undefined ? await access.openChunks(decodeURIComponent(address), scope) : null;
  if (chunks === null) {
    yield null;
    return;
  }
  engine.tell(withoutPrefix(new URLSearchParams(query).get("form") ?? ""), (core) => core.openForm(true));
  for await (const chunk of chunks) {
    yield engine.call((core) => {
      core.input(chunk.length).set(chunk);
      core.writeForm();
      return core.output().slice();
    });
  }
  yield engine.call((core) => {
    core.closeForm();
    return core.output().slice();
  });
}

/** The form of a run of a `data:` URI without the URI's beginning. */
function withoutPrefix(form: string): string {
  const bare = form.replace("-data", "");
  return bare === "base64" ? "" : bare;
}
