/**
 * A document of each way in which documents are read: by a module, without one, and as a picture; and a question of a table.
 * @module
 */
import { createSluice, MemoryArtifactStore } from "mcp-sluice";

/** One page that says "Hello page". Its table of offsets is left out: readers make it again. */
const PDF = `%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 100]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>endobj
4 0 obj<</Length 42>>stream
BT /F1 18 Tf 10 50 Td (Hello page) Tj ET

endstream endobj
5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj
trailer<</Root 1 0 R>>
%%EOF`;

/** Answers with what a model is told. `options` are those of whoever loads the core: `wasm`. */
export async function readDocuments(options = {}) {
  const store = new MemoryArtifactStore();
  const sluice = await createSluice({ store, ...options });
  const [{ call }] = sluice.tools({ clientShowsImages: true });
  const read = async (bytes, mime_type, args) => {
    const { id } = await store.putBytes(new TextEncoder().encode(bytes), { mime_type });
    const { content } = await call({ uri: `artifact://${id}`, ...args });
    return content;
  };
  const page = await read(PDF, "application/pdf", { pages: "1" });
  const picture = await read(PDF, "application/pdf", { pages: "1", as: "image" });
  const html = await read("<h1>One</h1><p>two", "text/html", { as: "text" });
  const sum = await read("city,total\nBern,1\nOslo,2\n", "text/csv", { query: "SELECT SUM(total) AS sum FROM rows" });
  return {
    page: page[0].text.includes("Hello page"),
    picture: picture.some(({ type, data }) => type === "image" && atob(data).startsWith("\u0089PNG")),
    html: html[0].text.includes("# One"),
    table: /^sum\n3$/m.test(sum[0].text),
  };
}
