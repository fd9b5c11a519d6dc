/**
 * The text of a document as the model's own tool reads it. Loaded with the first document that is previewed.
 * @module
 */
import { type ArtifactScope, type ArtifactStore, createSluice } from "mcp-sluice";

/** Where the file's own words end in an answer; what follows says which artifact holds the text. */
const END = /\n--- end \w+ ---\n([^]*)$/;
const URI = /artifact:\/\/([\w-]+)/;

/** The text; null if the artifact is gone or no document. */
export async function readDocument(
  store: ArtifactStore,
  scope: ArtifactScope,
  id: string,
): Promise<ReadableStream<Uint8Array> | null> {
  const sluice = await createSluice({ store });
  const read = sluice.tools({ scope }).find(({ name }) => name === "artifact_read");
  const answer = await read?.call({ uri: `artifact://${id}` });
  const made = URI.exec(END.exec(answer?.content[0].text ?? "")?.[1] ?? "")?.[1];
  return made === undefined ? null : store.openReader(made, { scope });
}
