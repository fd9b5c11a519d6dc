import * as fc from "fast-check";
import { expect, describe, test, vi } from "vitest";
import { MemoryArtifactStore } from "../../../../web/src/artifacts/memory.js";
import type { ArtifactRef, ArtifactStore } from "../../../../web/src/artifacts/store.js";
import {
  artifactsNamed,
  putArtifacts,
  type ArgumentsContext,
  type ArgumentTool,
  type Expanded,
  MAX_REFERENCES,
} from "../../../../web/src/mcp/arguments/arguments.js";
import { ArtifactSource } from "../../../../web/src/mcp/artifact-reader/source.js";
import { widenedInput } from "../schemas/widened.js";

const SCOPE = { user_id: "ada" };
const PNG = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0xff, 0x00]);
const BASE64 = Buffer.from(PNG).toString("base64");

/** A store in which the scope has one PNG from the server `ns`, and how that server's tool `t` is called. */
async function setUp(
  options: { readonly store?: ArtifactStore; readonly bytes?: Uint8Array; readonly mime?: string } = {},
): Promise<{
  readonly ref: ArtifactRef;
  readonly uri: string;
  readonly store: ArtifactStore;
  readonly call: (args: unknown, tool?: Partial<ArgumentTool>, more?: Partial<ArgumentsContext>) => Promise<Expanded>;
}> {
  const { store = new MemoryArtifactStore(), bytes = PNG, mime = "image/png" } = options;
  const ref = await store.putBytes(bytes, { namespace: "ns", scope: SCOPE, mime_type: mime });
  const source = new ArtifactSource(store, SCOPE, "ns");
  return {
    ref,
    uri: `artifact://${ref.id}`,
    store,
    call: async (args, tool = {}, more = {}) => {
      const called: ArgumentTool = { name: "t", inputSchema: undefined, ...tool };
      const named = artifactsNamed(typeof args === "string" ? args : JSON.stringify(args), called.name);
      return named === undefined ? { kind: "unchanged" } : putArtifacts(named, { tool: called, source, ...more });
    },
  };
}

function valueOf(expanded: Expanded): unknown {
  if (expanded.kind !== "expanded") throw new Error(JSON.stringify(expanded));
  return JSON.parse(expanded.text);
}

function refusalOf(expanded: Expanded): string {
  if (expanded.kind !== "refused") throw new Error(`not refused: ${expanded.kind}`);
  expect(expanded.result).toMatchObject({ isError: true, content: [{ type: "text" }] });
  return expanded.result.content[0].text;
}

const of = (p: unknown): Partial<ArgumentTool> => ({ inputSchema: { type: "object", properties: { p } } });
const DATA_URI = `data:image/png;base64,${BASE64}`;

describe("the form", () => {
  test.each([
    ["contentEncoding", { type: "string", contentEncoding: "base64" }, BASE64],
    ["format byte", { type: "string", format: "byte" }, BASE64],
    ["format data-url", { format: "data-url" }, DATA_URI],
    ["pattern ^data:", { pattern: "^data:image/" }, DATA_URI],
    ["x-mcp-file", { type: "string", "x-mcp-file": true, format: "byte" }, DATA_URI],
    ["a description of base64", { description: "The image, base64-encoded" }, BASE64],
    ["a description of a data URI", { description: "Base64 data URI (data:image/png;base64,...)" }, DATA_URI],
    ["a choice", { anyOf: [{ type: "null" }, { oneOf: [{ format: "byte" }] }] }, BASE64],
    ["all of several", { allOf: [{ type: "string" }, { contentEncoding: "BASE64" }] }, BASE64],
  ])("is what the schema says: %s", async (_, schema, expected) => {
    const { call, uri } = await setUp();
    expect(valueOf(await call({ p: uri }, of(schema)))).toEqual({ p: expected });
    const widened = { inputSchema: widenedInput(of(schema).inputSchema) };
    expect(valueOf(await call({ p: uri }, widened))).toEqual({ p: expected });
  });

  test.each([
    "The page's HTML",
    "The text of the page",
    "The page, as text",
    "Markdown text",
    "HTML source of the mail",
  ])("is text where the description says: %s", async (description) => {
    const { call, uri } = await setUp({ bytes: new TextEncoder().encode("<p>Tea</p>") });
    expect(valueOf(await call({ p: uri }, of({ type: "string", description })))).toEqual({ p: "<p>Tea</p>" });
  });

  test.each([
    ["nothing", {}],
    ["two in words", { description: "base64 string or data URL" }],
    ["none", { type: "string", description: "The image" }],
    ["a format of another kind", { format: "uri" }],
  ])("is asked for where the schema says %s", async (_, schema) => {
    const { call, uri, ref } = await setUp();
    expect(refusalOf(await call({ p: uri }, of(schema)))).toBe(
      `"t" was not called with artifact://${ref.id} in "p": it is not known in which form the tool takes a file there. Write ${uri}?as=text, ${uri}?as=base64 or ${uri}?as=data_uri: text is its characters as they are.`,
    );
  });

  test("is what the reference asks for, which an offered one does", async () => {
    const { call, uri } = await setUp();
    const args = {
      a: `${uri}?as=base64`,
      b: `${uri}?type=image/png&size=6&as=data_uri`,
      c: `${uri}?as=base64&form=hex`,
    };
    expect(valueOf(await call(args))).toEqual({ a: BASE64, b: DATA_URI, c: BASE64 });
    for (const as of ["path", "hex", ""]) expect(refusalOf(await call({ p: `${uri}?as=${as}` }))).toContain("?as=text");
  });

  test("is what the reference asks for first, then configuration, then a preset, then the schema", async () => {
    const { call, uri } = await setUp();
    const tool = { ...of({ format: "byte" }), preset: { p: "data_uri" as const } };
    const forms = { "p.*": "data_uri", "*": "base64" } as const;
    expect(valueOf(await call({ p: `${uri}?as=base64` }, { ...tool, forms: { p: "text" } }))).toEqual({ p: BASE64 });
    expect(valueOf(await call({ p: uri }, tool))).toEqual({ p: DATA_URI });
    expect(valueOf(await call({ p: uri }, { ...tool, forms }))).toEqual({ p: BASE64 });
    expect(valueOf(await call({ p: [uri] }, { ...tool, forms }))).toEqual({ p: [DATA_URI] });
    expect(valueOf(await call({ p: `${uri}?as=data_uri` }, of({ format: "byte" })))).toEqual({ p: DATA_URI });
  });

  test("is found through lists, members, definitions and openai/fileParams", async () => {
    const { call, uri } = await setUp();
    const inputSchema = {
      properties: {
        files: { type: "array", items: { $ref: "#/$defs/File%20One" } },
        pair: { prefixItems: [{}, { format: "byte" }], items: { format: "data-url" } },
        old: { items: [{ format: "byte" }], additionalItems: { format: "data-url" } },
        by: { additionalProperties: { format: "byte" } },
      },
      $defs: { "File One": { properties: { data: { format: "byte" }, next: { $ref: "#/$defs/File One" } } } },
    };
    const args = {
      files: [{ data: uri, next: { next: { data: uri } } }],
      pair: [1, uri, uri],
      old: [uri, uri],
      by: { x: uri },
    };
    expect(valueOf(await call(args, { inputSchema }))).toEqual({
      files: [{ data: BASE64, next: { next: { data: BASE64 } } }],
      pair: [1, BASE64, DATA_URI],
      old: [BASE64, DATA_URI],
      by: { x: BASE64 },
    });
    const meta = { "openai/fileParams": ["image", "images"] };
    const files = { image: { download_url: uri }, images: [uri] };
    expect(valueOf(await call(files, { meta }))).toEqual({ image: { download_url: DATA_URI }, images: [DATA_URI] });
    expect(refusalOf(await call({ image: { other: uri } }, { meta }))).toContain('"image.other"');
  });

  test("text is that of UTF-8, to the byte", async () => {
    const text = '\ufeffline\n"quoted" \u2028 🌊\u0000';
    const { call, uri } = await setUp({ bytes: new TextEncoder().encode(text), mime: "text/plain" });
    expect(valueOf(await call({ p: uri }, of({ contentMediaType: "text/markdown" })))).toEqual({ p: text });
    expect(valueOf(await call({ p: uri }, of({ description: "Text content of the file" })))).toEqual({ p: text });
  });

  test("what is no text is refused as one, with the other forms offered", async () => {
    const { call, uri } = await setUp();
    const told = refusalOf(await call({ p: `${uri}?as=text` }));
    expect(told).toContain(`Write ${uri}?as=base64 or ${uri}?as=data_uri.`);
  });

  test("a path is that of a copy, and only by configuration", async () => {
    const { call, uri, ref } = await setUp();
    const forms = { p: "path" } as const;
    const writeCopy = vi.fn<() => Promise<string>>(async () => Promise.resolve("/private/copy of.png"));
    const expanded = await call({ p: uri }, { forms }, { writeCopy });
    expect(valueOf(expanded)).toEqual({ p: "/private/copy of.png" });
    expect(writeCopy).toHaveBeenCalledWith(
      expect.objectContaining({ id: ref.id, sha256: ref.sha256 }),
      expect.any(AbortSignal),
    );
    expect(expanded).toMatchObject({ expansions: [{ path: "p", id: ref.id, form: "path", bytes: PNG.length }] });
    expect(refusalOf(await call({ p: uri }, { forms }))).toContain("path of a file");
  });

  test("a data URI names only a type that is one", async () => {
    const { call, uri } = await setUp({ mime: 'text/html;x="</script>,' });
    expect(valueOf(await call({ p: `${uri}?as=data_uri` }))).toEqual({
      p: `data:application/octet-stream;base64,${BASE64}`,
    });
  });
});

test("an artifact that is not known here is refused, whoever has it", async () => {
  const { call, store } = await setUp();
  const foreign = await store.putBytes(PNG, { namespace: "other", scope: SCOPE });
  const bobs = await store.putBytes(Uint8Array.of(7), { namespace: "ns", scope: { user_id: "bob" } });
  for (const id of ["ns_000000000000", "truncated_0123456789ab", foreign.id, bobs.id]) {
    const expanded = await call({ p: `artifact://${id}` }, of({ format: "byte" }));
    expect(JSON.stringify(expanded)).toMatch(/"refused".*was not called.*there is no such artifact here/);
  }
});

test("a reference with a mistake in it is refused, and never taken for the content", async () => {
  // A hash of its own, so that each mistake is one.
  const { call } = await setUp();
  const id = "ns_1a2b3c4d5e6f";
  for (const text of [
    ` artifact://${id}`,
    `artifact://${id}\n`,
    `artifact://${id.slice(0, -2)}`,
    `artifact://${id}0g`,
    `artifact://${id}.png`,
    `artifact://${id}?bytes=0-10`,
    `artifact://${id}?as=base64?as=text`,
    `artifact://${id}#part`,
    `artifact://${id}/more`,
    `artifact://${id},artifact://${id}`,
    `artifact:${id}`,
    `artifact:///${id}`,
    `ARTIFACT://${id}`,
    `artifact://${id.toUpperCase()}`,
  ]) {
    const sentence = refusalOf(await call({ list: [{ p: text }] }));
    expect([text, sentence]).toEqual([
      text,
      expect.stringMatching(/in "list\.0\.p": the reference has a mistake in it/),
    ]);
  }
});

describe("what is no argument of ours", () => {
  test("stays, byte for byte", async () => {
    const { call, uri } = await setUp();
    for (const text of [
      `see ${uri}`,
      `${uri} has the picture`,
      "artifact://something else",
      "artifact://theirs",
      "artifact://builds/42",
      "artifact://release_20261125/app.zip",
      "artifact://their_facade",
    ]) {
      expect([text, await call({ p: text }, of({ format: "byte" }))]).toEqual([text, { kind: "unchanged" }]);
    }
    expect(await call(JSON.stringify({ [uri]: 1 }))).toEqual({ kind: "unchanged" });
    expect(await call(`{"p": ${uri}}`)).toEqual({ kind: "unchanged" });
  });

  test("nor is anything else of the text touched, however it is written", async () => {
    const { call, uri } = await setUp();
    const escaped = uri.replace("artifact://", "\\u0061rtifact:\\/\\/");
    const text = `{ "n" : 12345678901234567890.10, "p":"${escaped}?as=base64","n":1e2 , "\\u0071":"\\ud800" }`;
    expect(await call(text)).toMatchObject({
      kind: "expanded",
      text: text.replace(`"${escaped}?as=base64"`, `"${BASE64}"`),
    });
  });

  test("arguments without references are never changed", async () => {
    const { call } = await setUp();
    const json = fc.oneof(
      fc.json(),
      fc.string(),
      fc.jsonValue().map((value) => JSON.stringify({ a: "artifact://x", value })),
    );
    await fc.assert(
      fc.asyncProperty(json, async (text) => {
        expect(await call(text)).toEqual({ kind: "unchanged" });
      }),
    );
  });
});

describe("expansion is exact", () => {
  test("for half a surrogate pair, which JSON may hold", async () => {
    const page = `${"half 🦊".slice(0, 6)} of a 풒 page\n`;
    // As the gate writes it: the three bytes that half a pair would have (WTF-8).
    const bytes = Buffer.concat([Buffer.from("half "), Buffer.from("eda0be", "hex"), Buffer.from(" of a 풒 page\n")]);
    const { call, uri } = await setUp({ bytes, mime: "text/plain" });
    expect(valueOf(await call({ list: [`${uri}?as=text`] }))).toEqual({ list: [page] });
    const cut = await setUp({ bytes: bytes.subarray(0, 7), mime: "text/plain" });
    expect(refusalOf(await cut.call({ list: [`${cut.uri}?as=text`] }))).toContain("not UTF-8 text");
  });

  test("for any bytes, form and place", async () => {
    const form = fc.constantFrom("base64", "data_uri", "text");
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 70_000, size: "max" }),
      fc.string().map((text) => Buffer.from(text)),
    );
    await fc.assert(
      fc.asyncProperty(bytes, form, fc.jsonValue(), async (content, as, other) => {
        const { call, uri, ref } = await setUp({ bytes: content });
        const before = JSON.stringify({ other, list: [uri] });
        const expanded = await call(before.replace(uri, `${uri}?as=${as}`));
        const told =
          as === "text" && !isUtf8(content)
            ? refusalOf(expanded)
            : bytesIn(as, valueOf(expanded), other).toString("hex");
        expect(told).toContain(
          as === "text" && !isUtf8(content) ? "not UTF-8 text" : Buffer.from(content).toString("hex"),
        );
        const expansions = [{ path: "list.0", id: ref.id, form: as, bytes: content.length }];
        expect({ expansions, ...expanded }).toMatchObject({ expansions });
      }),
      { numRuns: 60 },
    );
  });
});

/** The bytes that went into `{ other, list: [_] }`, in which nothing else changed. */
function bytesIn(form: string, value: unknown, other: unknown): Buffer {
  const { other: kept, list } = value as { other: unknown; list: [string] };
  expect(kept).toEqual(JSON.parse(JSON.stringify(other)));
  return form === "text"
    ? Buffer.from(list[0])
    : Buffer.from(list[0].replace(/^data:image\/png;base64,/, ""), "base64");
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

describe("bounds", () => {
  const MIB = 1024 * 1024;

  test("what would be too much is refused before it is read", async () => {
    const { call, uri, store } = await setUp({ bytes: new Uint8Array(7 * MIB) });
    const openReader = vi.spyOn(store, "openReader");
    expect(refusalOf(await call({ p: `${uri}?as=base64` }))).toContain("larger than 8 MiB");
    expect(refusalOf(await call({ p: `${uri}?as=base64` }))).toContain("Do not retry");
    expect(openReader).not.toHaveBeenCalled();
    expect(valueOf(await call({ p: `${uri}?as=text` }, {}, { maxBytes: 64 * MIB }))).toEqual({
      p: "\0".repeat(7 * MIB),
    });
  });

  test("all of one call count together, and what was there before", async () => {
    const { call, uri } = await setUp({ bytes: new Uint8Array(3 * MIB) });
    const p = `${uri}?as=base64`;
    expect(valueOf(await call({ p }))).toHaveProperty("p");
    expect(refusalOf(await call({ p: [p, p] }))).toContain('in "p.1"');
    expect(refusalOf(await call({ rest: "x".repeat(5 * MIB), p }))).toContain("8 MiB");
  });

  test("escapes count", async () => {
    const { call, uri } = await setUp({ bytes: new Uint8Array(2 * MIB) });
    expect(refusalOf(await call({ p: `${uri}?as=text` }))).toContain("8 MiB");
  });

  test("so many references and no more", async () => {
    const { call, uri } = await setUp();
    const list = (length: number): string[] => Array.from({ length }, () => `${uri}?as=base64`);
    expect(valueOf(await call(list(MAX_REFERENCES)))).toHaveLength(MAX_REFERENCES);
    expect(refusalOf(await call(list(MAX_REFERENCES + 1)))).toContain("fewer");
  });

  test("arguments too deep or too many to be read are refused if they name artifacts", async () => {
    const { call, uri } = await setUp();
    expect(refusalOf(await call(deep(uri)))).toContain("nests");
    expect(await call(deep("\\u0061"))).toEqual({ kind: "unchanged" });
  });

  test("definitions round in a circle, and names of objects, are no trap", async () => {
    const { call, uri } = await setUp();
    const circle = { $defs: { a: { anyOf: [{ $ref: "#/$defs/b" }] }, b: { $ref: "#/$defs/a" } }, $ref: "#/$defs/a" };
    for (const inputSchema of [circle, { $ref: "#" }, { $ref: "#/__proto__" }, { properties: null }, "x", null, [1]]) {
      expect(refusalOf(await call({ constructor: { ["__proto__"]: uri }, p: uri }, { inputSchema }))).toContain("?as=");
    }
  });
});

describe("a store that has it no more", () => {
  test("is told honestly, also that it makes no sense to try again", async () => {
    let now = 0;
    const store = new MemoryArtifactStore({ retention: { ttl_seconds: 1 }, clock: () => now });
    const { call, uri } = await setUp({ store });
    now = 10_000;
    const told = refusalOf(await call({ p: uri }, of({ format: "byte" })));
    expect(told).toContain("no longer stored. Do not retry with it; call the tool that made it.");
  });

  test("a store that fails is told without its own words", async () => {
    const { call, uri, store } = await setUp();
    vi.spyOn(store, "openReader").mockRejectedValue(new Error("EIO /home/ada/secret"));
    const told = refusalOf(await call({ p: uri }, of({ format: "byte" })));
    expect(told).toContain("could not read it");
    expect(told).not.toContain("ada");
  });

  test("a store that gives fewer bytes than it says is not believed", async () => {
    const { call, uri, store } = await setUp();
    vi.spyOn(store, "openReader").mockImplementation(async () => Promise.resolve(new Blob(["x"]).stream()));
    expect(refusalOf(await call({ p: uri }, of({ format: "byte" })))).toContain("could not read it");
  });

  test("giving up is no refusal", async () => {
    const { call, uri } = await setUp();
    const signal = AbortSignal.abort(new Error("stop"));
    await expect(call({ p: `${uri}?as=base64` }, {}, { signal })).rejects.toThrow("stop");
  });
});

function deep(text: string): string {
  return `${"[".repeat(1000)}"${text}"${"]".repeat(1000)}`;
}
