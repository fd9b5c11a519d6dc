import { expect, test } from "vitest";
import { bodyOf } from "../../../web/src/server/artifacts/bytes.js";

function streamed(...pieces: readonly (string | Error)[]): ReadableStream<Uint8Array> & { cancelled: unknown } {
  const left = [...pieces];
  const stream = new ReadableStream<Uint8Array>(
    {
      pull(controller): void {
        const piece = left.shift();
        if (piece === undefined) controller.close();
        else if (typeof piece === "string") controller.enqueue(new TextEncoder().encode(piece));
        else controller.error(piece);
      },
      cancel(reason): void {
        noted.cancelled = reason;
      },
    },
    { highWaterMark: 0 },
  );
  const noted: ReadableStream<Uint8Array> & { cancelled: unknown } = Object.assign(stream, { cancelled: null });
  return noted;
}

test("pieces go through, empty ones left out", async () => {
  const body = await bodyOf(streamed("", "ab", "", "c", ""), 3);
  expect(await new Response(body).text()).toBe("abc");
  expect(await new Response(await bodyOf(streamed(), 0)).text()).toBe("");
});

test("what fails before the first byte is thrown, coded and without details", async () => {
  const failing = bodyOf(streamed("", new Error("EIO /home/ada/secret")), 3);
  await expect(failing).rejects.toMatchObject({ code: "E_STORE_READ" });
  await expect(failing).rejects.not.toThrow("secret");
});

test("what fails behind it errors the stream", async () => {
  const reader = (await bodyOf(streamed("ab", new Error("EIO /home/ada/secret")), 3)).getReader();
  expect((await reader.read()).value).toHaveLength(2);
  await expect(reader.read()).rejects.toMatchObject({ code: "E_STORE_READ" });
});

test.each([
  ["fewer", ["ab"]],
  ["more", ["ab", "cd"]],
])("%s bytes than promised error the stream", async (_, pieces) => {
  const reader = (await bodyOf(streamed(...pieces), 3)).getReader();
  await reader.read();
  await expect(reader.read()).rejects.toMatchObject({ code: "E_STORE_CORRUPT" });
});

test("no bytes where some were promised are thrown", async () => {
  await expect(bodyOf(streamed(), 3)).rejects.toMatchObject({ code: "E_STORE_CORRUPT" });
});

test("who goes away stops the reading", async () => {
  const source = streamed("ab", "c");
  const body = await bodyOf(source, 3);
  await body.cancel("gone");
  expect(source.cancelled).toBe("gone");
});
