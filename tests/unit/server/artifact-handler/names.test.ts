/** Under which name an artifact is shown or saved. */
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { MemoryArtifactStore } from "../../../../web/src/artifacts/memory.js";
import { anyText } from "../any-text.js";
import { ADA, serving, TEN } from "./serving.js";

test.each(["?download", "?download=1", "?x=1&download=true"])("%s saves", async (query) => {
  const { ref, ask } = await serving(TEN, { filename: 'a"\r\nb/Größe.pdf' });
  const { headers } = await ask(ref.id + query);
  expect(headers.get("content-disposition")).toBe(
    `attachment; filename="a_b_Gro_e.pdf"; filename*=UTF-8''a_b_Gr%C3%B6%C3%9Fe.pdf`,
  );
});

test.each(["?download=0", "?download=false", "?other"])("%s shows", async (query) => {
  const { ref, ask } = await serving();
  expect((await ask(ref.id + query)).headers.get("content-disposition")).toMatch(/^inline; filename="artifact_/);
});

test("any name and type yield headers that can be sent", async () => {
  const store = new MemoryArtifactStore({ retention: null });
  const text = fc.option(anyText());
  await fc.assert(
    fc.asyncProperty(text, text, async (filename, mime_type) => {
      const { ref, ask } = await serving(TEN, {}, { store });
      await store.update(ref.id, { filename, mime_type }, ADA);
      const response = await ask(`${ref.id}?download`);
      expect(response.status).toBe(200);
      expect(response.headers.get("content-disposition")).toMatch(/^attachment; filename="[ -~]+"/);
    }),
  );
});
