/** Each kind of content block (MCP 2025-11-25, "Tool Result") in both dialects. */
import { randomBytes } from "node:crypto";
import { CallToolResultSchema } from "@modelcontextprotocol/sdk/types.js";
import { describe, expect, test, it } from "vitest";
import { createSluice, NoOpArtifactStore, type Sluice, MemoryArtifactStore } from "../../../web/src/index.js";
import { base64, onlyBytes, PDF, PNG, prose, textResult, WAV, opened } from "./samples.js";

const LONG = prose(20_000);

interface Case {
  readonly name: string;
  readonly block: Readonly<Record<string, unknown>>;
  readonly original: Buffer;
  readonly mime_type: string;
  readonly filename: string;
  /** What the planner sees beside the artifact. */
  readonly beside: Readonly<Record<string, unknown>>;
}

const CASES: readonly Case[] = [
  {
    name: "image",
    block: { type: "image", data: base64(PNG), mimeType: "image/png" },
    original: PNG,
    mime_type: "image/png",
    filename: "image.png",
    beside: { type: "image", summary: expect.stringContaining("PNG image, 64 × 48") },
  },
  {
    name: "audio",
    block: { type: "audio", data: base64(WAV), mimeType: "audio/wav" },
    original: WAV,
    mime_type: "audio/wav",
    filename: "audio.wav",
    beside: { type: "audio", summary: expect.stringContaining("15.7 KB") },
  },
  {
    name: "embedded blob",
    block: {
      type: "resource",
      resource: { uri: "file:///reports/q3.pdf", mimeType: "application/pdf", blob: base64(PDF) },
    },
    original: PDF,
    mime_type: "application/pdf",
    filename: "q3.pdf",
    beside: { type: "resource", uri: "file:///reports/q3.pdf", summary: expect.stringMatching(/^PDF/) },
  },
  {
    name: "embedded long text",
    block: { type: "resource", resource: { uri: "file:///log.txt", mimeType: "text/plain", text: LONG } },
    original: Buffer.from(LONG),
    mime_type: "text/plain",
    filename: "log.txt",
    beside: {
      type: "resource",
      uri: "file:///log.txt",
      preview: expect.stringMatching(
        /^Line 1 says .*\nLine 2 says [^]*\n…\n[^]*\nLine 447 says what happened on the way home\.$/,
      ),
    },
  },
];

describe.each(CASES)("a block with $name", ({ block, original, mime_type, filename, beside }) => {
  const result = { content: [{ type: "text", text: "Here it is." }, block] };

  test("is an artifact for the planner", async () => {
    const { store, sluice } = await opened();
    const { value, artifacts } = await sluice.transform(result);
    const artifact = { id: artifacts[0]?.id, mime_type, size_bytes: original.length, filename };
    expect(value).toMatchObject({
      content: [
        { type: "text", text: "Here it is." },
        { ...beside, artifact },
      ],
    });
    expect((await onlyBytes(store, artifacts)).equals(original)).toBe(true);
    expect(artifacts[0]).toMatchObject({ mime_type, filename });
  });

  test("is a sentence at the same place for a host, in a valid result", async () => {
    const { store, sluice } = await opened();
    sluice.tools({ namespace: "files" });
    const { value, artifacts } = await sluice.transform(result, { dialect: "mcp", namespace: "files" });
    const parsed = CallToolResultSchema.parse(value);
    expect(parsed.content).toMatchObject([
      { type: "text", text: "Here it is." },
      { type: "text", text: expect.stringContaining(`files_artifact_read {"uri":"artifact://${artifacts[0]?.id}"}`) },
    ]);
    expect((await onlyBytes(store, artifacts)).equals(original)).toBe(true);
    expect(await sluice.restore(value)).toEqual(result);
  });
});

test("small blocks stay", async () => {
  const sluice = await createSluice({ store: new MemoryArtifactStore() });
  const result = {
    content: [
      { type: "text", text: "hi", annotations: { audience: ["user"], priority: 1 } },
      { type: "resource", resource: { uri: "file:///a.txt", mimeType: "text/plain", text: "short" } },
      { type: "resource_link", uri: "file:///b.txt", name: "b.txt" },
    ],
  };
  expect((await sluice.transform(result, { dialect: "mcp" })).value).toBe(result);
});

test("typed bytes are stored however short they are", async () => {
  const { store, sluice } = await opened();
  const bytes = Buffer.from("hello");
  const result = { content: [{ type: "image", data: base64(bytes), mimeType: "image/png" }] };
  expect((await onlyBytes(store, (await sluice.transform(result)).artifacts)).equals(bytes)).toBe(true);
});

test("a declared type that the bytes contradict is not believed", async () => {
  const sluice = await createSluice({ store: new MemoryArtifactStore() });
  const result = { content: [{ type: "image", data: base64(PDF), mimeType: "image/png" }] };
  const { artifacts } = await sluice.transform(result);
  expect(artifacts[0]?.mime_type).toBe("application/pdf");
});

describe("images for a client that shows them", () => {
  const image = { type: "image", data: base64(PNG), mimeType: "image/png" };
  const call = { dialect: "mcp", clientShowsImages: true } as const;

  test("all stay, and are stored and named too", async () => {
    const { store, sluice } = await opened();
    const result = { content: [image, image, image] };
    const { value, artifacts } = await sluice.transform(result, call);
    const { content } = CallToolResultSchema.parse(value);
    expect(content.filter(({ type }) => type === "image")).toHaveLength(3);
    expect(content[0]).toMatchObject({ data: image.data });
    expect(new Set(artifacts.map(({ id }) => id)).size).toBe(1);
    expect(Buffer.from((await store.get(artifacts[0]?.id ?? "")) ?? []).equals(PNG)).toBe(true);
    expect(await sluice.restore(value)).toEqual(result);
  });

  test("base64 inside a string never stays", async () => {
    const sluice = await createSluice({ store: new MemoryArtifactStore() });
    const { text } = await sluice.transform({ content: [{ type: "text", text: image.data }] }, call);
    expect(text).not.toContain(image.data.slice(0, 40));
  });
});

test("a configured field is stored with its own summary", async () => {
  const store = new MemoryArtifactStore();
  const sluice = await createSluice({
    store,
    config: {
      tool_fields: {
        export: [
          {
            field_path: "pages.*.data",
            content_type: "page",
            mime_type: "application/x-page",
            summary_template: "Page '{name}': {content_type}, {size} bytes",
          },
        ],
      },
    },
  });
  const pages = [
    { name: "one", data: base64(Buffer.from("first")) },
    { name: "two", data: base64(Buffer.from("second")) },
  ];
  const { value, artifacts } = await sluice.transform({ pages }, { tool: "export" });
  expect(value).toMatchObject({
    pages: [{ data: { summary: "Page 'one': page, 5 bytes" } }, { data: { summary: "Page 'two': page, 6 bytes" } }],
  });
  expect(artifacts.map(({ mime_type }) => mime_type)).toEqual(["application/x-page", "application/x-page"]);
  const untouched = await sluice.transform({ pages }, { tool: "other" });
  expect(untouched.changed).toBe(false);
});

describe("a configured field is stored whatever it looks like", () => {
  const small = Buffer.from("%PDF-1.4 small");
  const html = `<p>See <img src="data:image/png;base64,${base64(PNG)}"> and more.</p>`;
  const values: readonly (readonly [string, unknown, Uint8Array])[] = [
    ["a short data: URI", `data:application/pdf;base64,${base64(small)}`, small],
    ["base64 behind spaces", `   ${base64(small)}`, small],
    ["a long data: URI behind spaces", `\n data:application/pdf;base64,${base64(PDF)}`, PDF],
    ["an array of bytes", [...small], small],
    ["a Buffer", small.toJSON(), small],
    ["a large Buffer", PDF.toJSON(), PDF],
    ["prose", "Dear reader", Buffer.from("Dear reader")],
  ];
  const results: readonly (readonly [string, (value: unknown) => unknown])[] = [
    ["in an object", (value) => ({ value })],
    ["in structuredContent", (value) => ({ content: [], structuredContent: { value } })],
    ["in the only text", (value) => textResult(JSON.stringify({ value }))],
    [
      "in a text of several",
      (value) => ({
        content: [...textResult("two").content, ...textResult(JSON.stringify({ value })).content],
      }),
    ],
  ];
  const config = { tool_fields: { export: [{ field_path: "value", content_type: "report" }] } };

  test.each(
    values.flatMap(([name, value, bytes]) => results.map(([place, of]) => ({ name, place, value, bytes, of }))),
  )("$name $place", async ({ value, bytes, of }) => {
    const store = new MemoryArtifactStore();
    const sluice = await createSluice({ store, config });
    for (const dialect of ["observation", "mcp"] as const) {
      const reduced = await sluice.transform(of(value), { tool: "export", dialect });
      expect((await onlyBytes(store, reduced.artifacts)).equals(bytes)).toBe(true);
      expect(reduced.text).toContain(reduced.artifacts[0]?.id);
    }
    const mcp = await sluice.transform(of(value), { tool: "export", dialect: "mcp" });
    expect(await sluice.restore(mcp.value)).toEqual(of(value));
  });

  test("text around bytes is stored with a reference to them", async () => {
    const store = new MemoryArtifactStore();
    const sluice = await createSluice({ store, config });
    const { value, artifacts } = await sluice.transform({ value: html }, { tool: "export" });
    const [image, text] = artifacts;
    expect(value).toMatchObject({ value: { artifact: { id: text?.id } } });
    expect(Buffer.from((await store.get(text?.id ?? "")) ?? []).toString()).toBe(
      `<p>See <img src="artifact://${image?.id}?type=image/png&size=${PNG.length}"> and more.</p>`,
    );
    const mcp = await sluice.transform({ value: html }, { tool: "export", dialect: "mcp" });
    expect(await sluice.restore(mcp.value)).toEqual({ value: html });
  });
});

describe("a blob without a signature", () => {
  const zeros = base64(Buffer.alloc(20_000));
  const blob = (uri: string): unknown => ({ type: "resource", resource: { uri, blob: zeros } });

  test("is stored as the bytes it stands for", async () => {
    const { store, sluice } = await opened();
    const { artifacts } = await sluice.transform({ content: [blob("file:///a.bin")] });
    expect((await onlyBytes(store, artifacts)).equals(Buffer.alloc(20_000))).toBe(true);
  });

  test.each([
    ["twice", { content: [blob("file:///a.bin"), blob("file:///b.bin")] }],
    ["beside itself as text", { content: [{ type: "text", text: zeros }, blob("file:///a.bin")] }],
    ["beside itself in the other half", { content: [blob("file:///a.bin")], structuredContent: { data: zeros } }],
  ])("does not take away what the same string stands for elsewhere: %s", async (_, result) => {
    const sluice = await createSluice({ store: new MemoryArtifactStore() });
    const earlier = await sluice.transform({ log: zeros }, { dialect: "mcp" });
    const { value } = await sluice.transform(result, { dialect: "mcp" });
    expect(await sluice.restore(value)).toEqual(result);
    expect(await sluice.restore(earlier.value)).toEqual({ log: zeros });
  });
});

// Bytes of typed blocks that servers write otherwise than in one clean run: what a model is told, and what comes back.

const pdf = (size: number): Buffer => Buffer.concat([Buffer.from("%PDF-1.7\n1 0 obj\n"), randomBytes(size - 17)]);

/** Every place where the protocol says that a string is base64. */
const PLACES = {
  image: (data: string) => ({ content: [{ type: "image", mimeType: "application/pdf", data }] }),
  audio: (data: string) => ({ content: [{ type: "audio", mimeType: "application/pdf", data }] }),
  blob: (blob: string) => ({
    content: [{ type: "resource", resource: { uri: "file:///a.pdf", mimeType: "application/pdf", blob } }],
  }),
  contents: (blob: string) => ({ contents: [{ uri: "file:///a.pdf", mimeType: "application/pdf", blob }] }),
};

/** Ways to break base64 into lines that no uniform form writes again. */
const BROKEN: Readonly<Record<string, (text: string) => string>> = {
  "lines of any length": (text) => `${text.slice(0, 70)}\n${text.slice(70, 200)}\n${text.slice(200)}`,
  "single spaces": (text) => text.replace(/.{1,60}/g, "$& ").trim(),
  "lines of many lengths": (text) => text.replace(/.{40}(..)*?[A-M]/g, "$&\r\n"),
  "two widths": (text) => text.slice(0, 760).replace(/.{76}/g, "$&\n") + text.slice(760).replace(/.{64}/g, "$&\n"),
};

async function restored(sluice: Sluice, result: unknown): Promise<unknown> {
  return sluice.restore((await sluice.transform(result, { dialect: "mcp" })).value);
}

const sizes = [300, 1_500, 6_000, 24_000, 150_000];

describe.each(Object.entries(PLACES))("bytes of %s", (_, place) => {
  describe.each(Object.entries(BROKEN))("in %s", (_how, broken) => {
    test.each(sizes)("are one file of %i bytes", async (size) => {
      const bytes = pdf(size);
      const encoded = bytes.toString("base64");
      const result = place(broken(encoded));
      const store = new MemoryArtifactStore({ retention: null });
      const sluice = await createSluice({ store });
      for (const dialect of ["observation", "mcp"] as const) {
        const { text, artifacts } = await sluice.transform(result, { dialect });
        const named = artifacts.filter(({ id }) => text.split(/_meta"/)[0]?.includes(id));
        expect(named).toMatchObject([{ mime_type: "application/pdf", size_bytes: size }]);
        expect(Buffer.from((await store.get(named[0]?.id ?? "")) ?? []).equals(bytes)).toBe(true);
        expect(text).not.toContain(encoded.slice(0, 30));
      }
      expect(await restored(sluice, result)).toEqual(result);
    });

    test.each(sizes)("of %i bytes are not shown where nothing is stored", async (size) => {
      const encoded = pdf(size).toString("base64");
      const sluice = await createSluice({ store: new NoOpArtifactStore({ warn: () => undefined }) });
      for (const dialect of ["observation", "mcp"] as const) {
        const { text } = await sluice.transform(place(broken(encoded)), { dialect });
        expect(text).not.toContain(encoded.slice(0, 30));
      }
    });
  });

  test("leave the words around them to be read", async () => {
    const bytes = pdf(1_502);
    const words = "IMPORTANT: page 1 of 3. ";
    const result = place(`${words}${bytes.toString("base64")} The rest is on request.`);
    const sluice = await createSluice({ store: new MemoryArtifactStore() });
    for (const dialect of ["observation", "mcp"] as const) {
      const { text, artifacts } = await sluice.transform(result, { dialect });
      expect(text).toContain(`${words}artifact://${artifacts[0]?.id}`);
      expect(text).toContain(" The rest is on request.");
    }
    expect(await restored(sluice, result)).toEqual(result);
  });

  test("are all named where there are two runs", async () => {
    const result = place(pdf(1_502).toString("base64") + pdf(1_601).toString("base64"));
    const sluice = await createSluice({ store: new MemoryArtifactStore() });
    for (const dialect of ["observation", "mcp"] as const) {
      const { text, artifacts } = await sluice.transform(result, { dialect });
      expect(artifacts).toHaveLength(2);
      for (const { id } of artifacts) expect(text).toContain(`artifact://${id}`);
    }
    expect(await restored(sluice, result)).toEqual(result);
  });
});

test("a configured field of JSON text is stored however it is escaped", async () => {
  const encoded = pdf(60).toString("base64");
  const config = { tool_fields: { t: [{ field_path: "f", content_type: "pdf" }] } };
  const sluice = await createSluice({ store: new MemoryArtifactStore(), config });
  const values = [`${encoded}\n`, `\n${encoded}`, encoded.replace(/.{20}/g, "$&\n"), 'He said "no" to that.'];
  for (const f of values) {
    const result = { content: [{ type: "text", text: JSON.stringify({ f, n: 1 }) }] };
    const { value, text, artifacts } = await sluice.transform(result, { tool: "t", dialect: "mcp" });
    expect(text).not.toContain(f.trim().slice(0, 20));
    expect(artifacts.some(({ id }) => text.includes(`artifact://${id}`))).toBe(true);
    expect(await sluice.restore(value)).toEqual(result);
  }
});

it.each(["observation", "mcp"] as const)(
  "lists each artifact once, however often its bytes stand in a result: %s",
  async (dialect) => {
    const sluice = await createSluice({ store: new MemoryArtifactStore({ retention: null }) });
    const image = { type: "image", mimeType: "image/png", data: base64(PNG) };
    const result = { content: [image, image], structuredContent: { picture: base64(PNG), report: base64(PDF) } };
    const { artifacts } = await sluice.transform(result, { dialect });
    expect(artifacts.filter(({ mime_type }) => mime_type === "image/png")).toHaveLength(1);
    expect(new Set(artifacts.map(({ id }) => id)).size).toBe(artifacts.length);
  },
);

describe("base64 that is malformed", () => {
  const whole = base64(PDF.subarray(0, 3_000));
  const MALFORMED: Readonly<Record<string, string>> = {
    "with more padding than there is": `${whole.slice(0, -4)}AA====`,
    "with one character too many": `${whole}A`,
    "cut off within a quantum": `${base64(PDF.subarray(0, 2_999)).replace(/=+$/, "").slice(0, -1)}/`,
    "with padding in the middle": `${base64(PDF.subarray(0, 1_000))}${base64(PNG.subarray(0, 1_000))}=`,
  };
  const BLOCKS: Readonly<Record<string, (data: string) => object>> = {
    "an image": (data) => ({ type: "image", data, mimeType: "image/png" }),
    "a sound": (data) => ({ type: "audio", data, mimeType: "audio/wav" }),
    "a resource": (blob) => ({ type: "resource", resource: { uri: "a:b.pdf", blob, mimeType: "application/pdf" } }),
  };

  describe.each(Object.entries(BLOCKS))("in %s", (_, block) => {
    test.each(Object.entries(MALFORMED))("%s is the text as it came, and nothing else", async (__, data) => {
      const { store, sluice } = await opened();
      const result = { content: [block(data)] };
      for (const dialect of ["observation", "mcp"] as const) {
        const { artifacts, text, value } = await sluice.transform(result, { dialect });
        expect(artifacts).toMatchObject([{ mime_type: "text/plain", size_bytes: data.length }]);
        expect(Buffer.from((await store.get(artifacts[0]?.id ?? "")) ?? []).toString()).toBe(data);
        expect(text).not.toContain(data.slice(0, 60));
        const named = new Set([...text.matchAll(/artifact:\/\/([\w.]+)/g)].map(([, id]) => id));
        expect([...named]).toEqual(dialect === "mcp" ? [artifacts[0]?.id] : []);
        const back = dialect === "mcp" ? await sluice.restore(value) : result;
        expect(back).toEqual(result);
      }
    });
  });
});

test("a configured field is told by its summary in any of several text blocks, and has the type that is configured", async () => {
  const fields = [
    { field_path: "content", content_type: "pdf", summary_template: "Downloaded '{name}'" },
    { field_path: "places", content_type: "map", mime_type: "application/geo+json" },
    { field_path: "page", content_type: "page", mime_type: "text/markdown" },
  ];
  const sluice = await createSluice({ store: new MemoryArtifactStore(), config: { tool_fields: { fetch: fields } } });
  const json = JSON.stringify({
    content: base64(PDF.subarray(0, 100)),
    name: "Sales",
    places: base64(Buffer.from('{"type":"FeatureCollection","features":[]}')),
    page: base64(Buffer.from("<!doctype html><h1>A page</h1>")),
  });
  const result = {
    content: [
      { type: "text", text: "two:" },
      { type: "text", text: json, annotations: { priority: 1 } },
    ],
  };
  const { value, artifacts } = await sluice.transform(result, { tool: "fetch" });
  expect(artifacts.map(({ mime_type, filename }) => [mime_type, filename])).toEqual([
    ["application/pdf", "fetch.pdf"],
    ["application/geo+json", "fetch.geojson"],
    ["text/markdown", "fetch.md"],
  ]);
  const [, block] = (value as { content: readonly { text: string; annotations?: object }[] }).content;
  expect(block?.annotations).toEqual({ priority: 1 });
  expect(JSON.parse(block?.text ?? "")).toMatchObject({
    content: { artifact: { id: artifacts[0]?.id }, summary: "Downloaded 'Sales'" },
    name: "Sales",
  });
  const mcp = await sluice.transform(result, { tool: "fetch", dialect: "mcp" });
  expect(await sluice.restore(mcp.value)).toEqual(result);
});
