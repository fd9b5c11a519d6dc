import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Dialect, type Sluice, type Transformed } from "../../../web/src/index.js";
import { documents, results } from "./documents.js";
import { base64, GZIP, PDF, PNG, prose, refsIn, sha256, textResult, opened } from "./samples.js";
import { amount } from "../../support/full.js";

/** Pushes text in the pieces that `cuts`, fractions of its bytes, make of it. */
async function inPieces(sluice: Sluice, text: string, cuts: readonly number[], dialect: Dialect): Promise<Transformed> {
  const bytes = Buffer.from(text);
  const places = cuts.map((cut) => Math.floor(cut * bytes.length)).sort((left, right) => left - right);
  const stream = sluice.open({ dialect, namespace: "s" });
  let from = 0;
  for (const to of [...places, bytes.length]) {
    const chunk = Uint8Array.from(bytes.subarray(from, to));
    await stream.write(chunk);
    chunk.fill(0x58); // ours again once the write has settled
    from = to;
  }
  return stream.close();
}

const DOCUMENTS: readonly unknown[] = [
  { pdf: base64(PDF), note: "äöü 😀 \u2028", n: [1, 2.5e-7, null, true] },
  textResult(JSON.stringify({ png: `data:image/png;base64,${base64(PNG)}`, log: prose(12_000) })),
  {
    content: [
      { type: "image", data: base64(PNG), mimeType: "image/png" },
      { type: "text", text: prose(11_000) },
    ],
  },
  { rows: Array.from({ length: 3_000 }, (_, id) => ({ id, name: `row ${id}`, v: id / 7 })) },
  {
    hex: PNG.toString("hex"),
    wrapped: base64(GZIP).replace(/.{76}/g, "$&\r\n"),
    bytes: { type: "Buffer", data: [...PNG] },
  },
];

describe("chunks", () => {
  test("any chunking of the same bytes gives the same text and the same artifacts", async () => {
    const fraction = fc.double({ min: 0, max: 1, noNaN: true });
    const property = fc.asyncProperty(
      fc.oneof(fc.constantFrom(...DOCUMENTS), documents, results),
      fc.array(fraction, { maxLength: 12 }),
      fc.constantFrom<Dialect>("observation", "mcp"),
      async (document, cuts, dialect) => {
        const [one, other] = [await opened(), await opened()];
        const text = JSON.stringify(document);
        const whole = await one.sluice.transform(document, { dialect, namespace: "s" });
        const pieces = await inPieces(other.sluice, text, cuts, dialect);
        expect(pieces.text).toBe(whole.text);
        expect(pieces.artifacts).toEqual(whole.artifacts);
        expect(pieces.bytesIn).toBe(Buffer.byteLength(text));
      },
    );
    await fc.assert(property, { numRuns: amount(24, 120) });
  });

  // Text goes to the core in pieces of 65,536 units, none of which may end within a character.
  test.each(["\u{10000}", "😀", "\u{10ffff}", "é", "\ud7ff"])(
    "%j keeps whole wherever a piece of text ends",
    async (character) => {
      const { sluice } = await opened();
      for (let before = 65_510; before < 65_540; before += 1) {
        const value = ["a".repeat(before), character.repeat(5)].join("");
        const { value: seen, artifacts, text } = await sluice.transform({ value }, { dialect: "mcp", namespace: "s" });
        const restored = await sluice.restore(seen);
        expect([artifacts.length, restored, text.includes("\ufffd")]).toEqual([1, { value }, false]);
      }
    },
  );

  test("a byte at a time is as good", async () => {
    const { sluice } = await opened();
    const document = { png: base64(PNG.subarray(0, 2_000)), é: "😀" };
    const text = JSON.stringify(document);
    const cuts = Array.from({ length: Buffer.byteLength(text) }, (_, at) => at / Buffer.byteLength(text));
    expect((await inPieces(sluice, text, cuts, "observation")).text).toBe(
      (await sluice.transform(document, { namespace: "s" })).text,
    );
  });

  test("white space around a document changes nothing of its value", async () => {
    const { sluice } = await opened();
    expect((await inPieces(sluice, ` \r\n${JSON.stringify(textResult("hi"))}\n\t`, [], "mcp")).value).toEqual(
      textResult("hi"),
    );
  });
});

describe("errors say where", () => {
  test.each([
    ["not JSON", "{\n  nope}", "E_JSON_SYNTAX", 2, 3],
    ["a trailing comma", "[1,\n2,]", "E_JSON_SYNTAX", 2, 3],
    ["two documents", "{} {}", "E_JSON_SYNTAX", 1, 4],
    ["a raw control character", '"a\u0001b"', "E_JSON_SYNTAX", 1, 3],
    ["code points, not bytes", '{"é😀": x}', "E_JSON_SYNTAX", 1, 8],
    ["deep and not closed", "[".repeat(600), "E_JSON_END", 1, 601],
    ["deep and closed otherwise", `${"[".repeat(600)}}`, "E_JSON_SYNTAX", 1, 601],
    ["deeper than is followed", "[".repeat(1_000_001), "E_JSON_DEPTH", 1, 1_000_001],
  ])("%s", async (_, text, code, line, column) => {
    const { sluice } = await opened();
    for (const cuts of [[], [0.3, 0.6]]) {
      await expect(inPieces(sluice, text, cuts, "observation")).rejects.toMatchObject({ code, line, column });
    }
    expect((await sluice.transform("next")).value).toBe("next");
  });

  test.each([
    ["nothing at all", ""],
    ["half an object", '{"a":'],
    ["half a string", '"abc'],
    ["half a run", `{"pdf":"${base64(PDF).slice(0, 50_000)}`],
  ])("%s is an end that came too early", async (_, text) => {
    const { sluice, store } = await opened();
    await expect(inPieces(sluice, text, [], "observation")).rejects.toMatchObject({ code: "E_JSON_END" });
    expect(await refsIn(store)).toEqual([]);
  });

  test("a number without end is refused", async () => {
    const { sluice } = await opened();
    await expect(inPieces(sluice, `[${"1".repeat(70_000)}]`, [0.5], "observation")).rejects.toMatchObject({
      code: "E_JSON_NUMBER",
    });
  });

  test("invalid UTF-8 becomes U+FFFD, wherever it is cut", async () => {
    const { sluice } = await opened();
    const bytes = Uint8Array.of(0x22, 0x61, 0xc3, 0x28, 0xf0, 0x9f, 0x98, 0x22);
    for (let cut = 0; cut <= bytes.length; cut++) {
      const stream = sluice.open();
      await stream.write(bytes.subarray(0, cut));
      await stream.write(bytes.subarray(cut));
      expect((await stream.close()).value).toMatch(/^a\uFFFD\(\uFFFD+$/);
    }
  });
});

describe("ends", () => {
  test("disposing without close leaves nothing half-written in the store", async () => {
    const { sluice, store } = await opened();
    const stream = sluice.open();
    await stream.write(Buffer.from(`{"open":"${base64(PDF).slice(0, 90_000)}`));
    await stream[Symbol.asyncDispose]();
    expect(await refsIn(store)).toEqual([]);
    await expect(stream.write(Buffer.from("x"))).rejects.toMatchObject({ code: "E_MISUSE" });
    expect((await sluice.transform({ pdf: base64(PDF) })).artifacts).toHaveLength(1);
  });

  test("disposing without close takes away nothing that another result was given", async () => {
    const { sluice, store } = await opened();
    const { artifacts } = await sluice.transform({ png: base64(PNG) });
    const stream = sluice.open();
    await stream.write(Buffer.from(`{"again":"${base64(PNG)}","open":"`));
    await stream[Symbol.asyncDispose]();
    expect((await refsIn(store)).map(({ id }) => id)).toEqual(artifacts.map(({ id }) => id));
  });

  test("disposing before the first byte, and twice, does nothing", async () => {
    const { sluice } = await opened();
    const stream = sluice.open();
    await stream[Symbol.asyncDispose]();
    await expect(stream[Symbol.asyncDispose]()).resolves.toBeUndefined();
  });

  test("calls that are not awaited are taken in order", async () => {
    const { sluice } = await opened();
    const document = { pdf: base64(PDF), png: base64(PNG), log: prose(12_000) };
    const bytes = Buffer.from(JSON.stringify(document));
    const stream = sluice.open();
    const writes = [];
    for (let at = 0; at < bytes.length; at += 10_000) writes.push(stream.write(bytes.subarray(at, at + 10_000)));
    const closing = stream.close();
    await Promise.all(writes);
    expect((await closing).text).toBe((await sluice.transform(document)).text);
  });

  test("disposing waits for what is under way, so that no other result gets mixed up with it", async () => {
    const { sluice, store } = await opened();
    const stream = sluice.open();
    const writing = stream.write(Buffer.from(`{"open":"${base64(PDF).slice(0, 90_000)}`));
    const disposing = stream[Symbol.asyncDispose]();
    const { value } = await sluice.transform({ small: true });
    await Promise.all([writing, disposing]);
    expect(value).toEqual({ small: true });
    expect(await refsIn(store)).toEqual([]);
  });

  test("after close there is no more", async () => {
    const { sluice } = await opened();
    const stream = sluice.open();
    await stream.write(Buffer.from("[1]"));
    expect((await stream.close()).value).toEqual([1]);
    await expect(stream.write(Buffer.from("[2]"))).rejects.toMatchObject({ code: "E_MISUSE" });
    await expect(stream.close()).rejects.toMatchObject({ code: "E_MISUSE" });
  });

  test("a signal ends a stream between chunks", async () => {
    const { sluice, store } = await opened();
    const control = new AbortController();
    const stream = sluice.open({ signal: control.signal });
    await stream.write(Buffer.from(`{"pdf":"${base64(PDF).slice(0, 80_000)}`));
    control.abort(new Error("enough"));
    await expect(stream.write(Buffer.from("AAAA"))).rejects.toThrow("enough");
    await stream[Symbol.asyncDispose]();
    expect(await refsIn(store)).toEqual([]);
  });
});

describe("at the same time", () => {
  test("two streams keep apart what they get in turns", async () => {
    const { sluice, store } = await opened();
    const [left, right] = [sluice.open({ namespace: "left" }), sluice.open({ namespace: "right" })];
    const [ofLeft, ofRight] = [
      Buffer.from(JSON.stringify({ pdf: base64(PDF) })),
      Buffer.from(JSON.stringify([base64(PNG)])),
    ];
    for (let at = 0; at < ofLeft.length; at += 4_096) {
      await Promise.all([left.write(ofLeft.subarray(at, at + 4_096)), right.write(ofRight.subarray(at, at + 4_096))]);
    }
    const [first, second] = await Promise.all([left.close(), right.close()]);
    expect(first.artifacts.map(({ namespace, sha256: hash }) => [namespace, hash])).toEqual([["left", sha256(PDF)]]);
    expect(second.artifacts.map(({ namespace, sha256: hash }) => [namespace, hash])).toEqual([["right", sha256(PNG)]]);
    expect(await refsIn(store)).toHaveLength(2);
  });

  test("forty transforms give what each gives alone", async () => {
    const { sluice } = await opened();
    const inputs = Array.from({ length: 40 }, (_, n) => ({ n, file: base64(n % 2 ? PDF : PNG), text: prose(n * 600) }));
    const together = await Promise.all(inputs.map((input) => sluice.transform(input)));
    for (const [n, input] of inputs.entries()) {
      expect(together[n]?.text).toBe((await sluice.transform(input)).text);
    }
  });
});
