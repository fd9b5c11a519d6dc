import { expect, test } from "vitest";
import { chunksOf, type Uploaded } from "../../../web/src/artifacts/bytes.js";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

async function textOf(data: Uploaded): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of chunksOf(data)) chunks.push(chunk);
  return new Response(new Blob(chunks as BlobPart[])).text();
}

async function* pieces(): AsyncIterable<Uint8Array> {
  yield bytes("one ");
  yield bytes("zwölf");
}

test.each<[string, () => Uploaded]>([
  ["a text", () => "one zwölf"],
  ["bytes", () => bytes("one zwölf")],
  ["an async iterable", pieces],
  ["a list", () => [bytes("one "), bytes("zwölf")] as unknown as Uploaded],
  ["a stream", () => new Blob(["one zwölf"]).stream()],
])("%s comes chunk by chunk", async (_, data) => {
  expect(await textOf(data())).toBe("one zwölf");
});

test.each([undefined, null, 7, {}, true])("what is no upload is refused before it is read: %j", (data) => {
  expect(() => chunksOf(data as never)).toThrow("data must be a Uint8Array, a string, or a stream of Uint8Arrays");
});

test("a stream that is read no further is let go", async () => {
  let isCancelled = false;
  const endless = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(bytes("x")),
    cancel: () => void (isCancelled = true),
  });
  for await (const chunk of chunksOf(endless)) {
    expect(chunk).toEqual(bytes("x"));
    break;
  }
  expect(isCancelled).toBe(true);
});
