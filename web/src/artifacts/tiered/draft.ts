/**
 * What came of a stream before it turned out to be large, as an artifact of the near store that nobody is shown.
 * @module
 */
import { SluiceError } from "../../errors/error.js";
import type { ArtifactRef, ArtifactStore, ArtifactWriter } from "../store.js";

/** Says in its `source` that an artifact is a draft. */
const MARK = "sluice/draft";

/** Random bytes at the end: no other content is the same, so nothing else goes with a draft. */
const TAIL = 16;

/** Whether an artifact is a draft, also one that a process left behind which died. */
export function isDraft({ source }: ArtifactRef): boolean {
  return source[MARK] === true;
}

/** Closes a writer as a draft. */
export async function closedAsDraft(writer: ArtifactWriter): Promise<ArtifactRef> {
  await writer.write(crypto.getRandomValues(new Uint8Array(TAIL)));
  return writer.close({ filename: null, mime_type: null, source: { [MARK]: true } });
}

/** What was written before a writer was closed as a draft. Throws SluiceError E_STORE_READ when somebody took it away. */
export async function* bytesOfDraft(store: ArtifactStore, draft: ArtifactRef): AsyncGenerator<Uint8Array, void, void> {
  const { id, scope, size_bytes } = draft;
  const stream = await store.openReader(id, { scope, range: { start: 0, end: size_bytes - TAIL } });
  if (stream === null) {
    throw new SluiceError("E_STORE_READ", "What was written was taken away before it was all there: store it again.");
  }
  const reader = stream.getReader();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}
