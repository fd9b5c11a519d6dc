/** A store that does not take every file of a result. */
import { expect, test } from "vitest";
import { MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import { ADA, lab, seen } from "./lab.js";

const file = (name: string, text: string): object => ({ name, b64: btoa(text), mime: "text/plain" });

test("a file that is larger than the store takes is told with a warning, and the others are kept", async () => {
  const store = new MemoryArtifactStore({ retention: { max_artifact_bytes: 1000 } });
  const { call, userFiles, events } = await lab({ files: { store } });
  const artifacts = [file("large.txt", "x".repeat(1001)), file("small.txt", "x")];
  const result = await call("raw", { result: { structuredContent: { results: { done: true }, artifacts } } });
  expect(result.isError).toBe(false);
  expect(seen(result)).toMatchObject({
    results: { done: true },
    artifacts: [
      { name: "large.txt", warning: expect.stringContaining("1000 bytes") as string },
      { name: "small.txt", ref: expect.any(String) as string },
    ],
  });
  expect(events).toContainEqual(expect.objectContaining({ kind: "failed", tool: "lab.raw" }) as object);
  expect((await userFiles.storage(ADA).list()).map(({ name }) => name)).toEqual(["small.txt"]);
});
