import { fileURLToPath } from "node:url";
import * as fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { MemoryArtifactStore } from "../../../../web/src/artifacts/memory.js";
import { NoOpArtifactStore } from "../../../../web/src/artifacts/no-op.js";
import type { ArtifactScope } from "../../../../web/src/artifacts/store.js";
import type { ResourcesConfig } from "../../../../web/src/config/types.js";
import type { Transformed } from "../../../../web/src/core/types.js";
import { SluiceError } from "../../../../web/src/errors/error.js";
import { createSluice } from "../../../../web/src/index.js";
import { ToolNode } from "../../../../web/src/tools-node.js";
import { ToolClientError, ToolTimeoutError } from "../../../../web/src/tools/errors.js";
import type { ToolNodeEvent } from "../../../../web/src/tools/event.js";
import type { ToolWait } from "../../../../web/src/tools/context.js";
import type { ResourceReading } from "../../../../web/src/tools/resources/cache.js";
import { fillTemplate, templateVariables } from "../../../../web/src/tools/resources/templates.js";
import { overAfter, timeoutResult, waitNotices } from "../../../../web/src/mcp/wait-notices.js";
import { failingAt, faulty, Latch } from "../../core/faulty-store.js";
import { PDF, prose, refsIn, sha256 } from "../../core/samples.js";
import { type Document, ADA, BOB, newReader, type ReaderSetup, URI } from "./library.js";

const references = (from: number): string =>
  Array.from({ length: 500 }, (_, at) => `artifact://x${from + at}`).join(" ");

describe("a resource is read", () => {
  test("with every content: short text in place and stored, long text and bytes as artifacts", async () => {
    const { reader, library, store } = newReader();
    library.write(URI, { body: "short", mime_type: "text/plain", more: { "x:long": prose(20_000), "x:pdf": PDF } });
    const { contents, artifacts, failures } = await reader.readResource(URI, { scope: ADA });
    expect(contents).toMatchObject([
      { kind: "text", uri: URI, text: "short", artifact: { mime_type: "text/plain", size_bytes: 5 } },
      { kind: "artifact", uri: "x:long" },
      { kind: "artifact", uri: "x:pdf", size_bytes: PDF.length },
    ]);
    expect(failures).toEqual([]);
    const [short, , pdf] = artifacts;
    expect(artifacts).toHaveLength(3);
    expect(pdf?.sha256).toBe(sha256(PDF));
    expect(short).toMatchObject({ scope: ADA, namespace: "lib", source: { uri: URI } });
    for (const { id } of artifacts) expect(await store.get(id, ADA)).not.toBeNull();
    expect(await refsIn(store, BOB)).toEqual([]);
  });

  test("again from what was kept, with the same artifacts", async () => {
    const { reader, library } = newReader();
    library.write(URI, { body: PDF });
    expect(await reader.readResource(URI, { scope: ADA })).toEqual(await reader.readResource(URI, { scope: ADA }));
    expect(library.count("read")).toBe(1);
  });

  test("from the source by another user", async () => {
    const { reader, library } = newReader();
    library.write(URI, { body: "short" });
    await reader.readResource(URI, { scope: ADA });
    await reader.readResource(URI, { scope: BOB });
    expect(library.asked.map(({ scope }) => scope)).toEqual([ADA, BOB]);
  });

  test("once for all users where it is public, and stored for each", async () => {
    const { reader, library, store } = newReader();
    library.write(URI, { body: "short", cache_scope: "public" });
    await reader.readResource(URI, { scope: ADA });
    const { artifacts } = await reader.readResource(URI, { scope: BOB });
    expect(library.count("read")).toBe(1);
    expect(await store.get(artifacts[0]?.id ?? "", BOB)).not.toBeNull();
  });

  test("by each user where each has a session of their own, public or not", async () => {
    const { reader, library } = newReader({ isPerUser: true });
    library.write(URI, { body: "short", cache_scope: "public" });
    await reader.readResource(URI, { scope: ADA });
    await reader.readResource(URI, { scope: BOB });
    expect(library.count("read")).toBe(2);
  });

  test("every time, and short text not stored, when reads are not kept", async () => {
    const { reader, library, store } = newReader({ config: { cache_reads_to_artifacts: false } });
    library.write(URI, { body: "short" });
    await reader.readResource(URI);
    const { contents, artifacts } = await reader.readResource(URI);
    expect(library.count("read")).toBe(2);
    expect(contents).toEqual([{ kind: "text", uri: URI, mime_type: null, text: "short" }]);
    expect(artifacts).toEqual([]);
    expect(await refsIn(store)).toEqual([]);
  });

  test.each([
    [6, "text"],
    [5, "artifact"],
    [0, "artifact"],
  ])("five characters with texts shown under %i as %s", async (under, kind) => {
    const { reader, library } = newReader({ config: { inline_text_if_under_chars: under } });
    library.write(URI, { body: "short" });
    expect((await reader.readResource(URI)).contents).toMatchObject([{ kind }]);
  });

  test("whole, however many short texts it has, of which the first are stored", async () => {
    const { reader, library, store } = newReader();
    const more = Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`x:${at}`, `text ${at}`]));
    library.write(URI, { body: "first", more });
    expect((await reader.readResource(URI, { scope: ADA })).contents).toHaveLength(501);
    expect(await refsIn(store, ADA)).toHaveLength(256);
  });

  test("and not every reference that its text makes up is looked for", async () => {
    const looked: string[] = [];
    const { store } = faulty(new MemoryArtifactStore(), (name) => void looked.push(name));
    const { reader, library } = newReader({ store });
    library.write(URI, { body: references(0), more: { "x:1": references(500), "x:2": references(1_000) } });
    await reader.readResource(URI);
    expect(looked.filter((name) => name === "stat")).toHaveLength(1_000);
  });

  test("and nothing is stored of an empty text", async () => {
    const { reader, library } = newReader();
    library.write(URI, { body: "" });
    expect(await reader.readResource(URI)).toMatchObject({ contents: [{ text: "" }], artifacts: [] });
  });

  test("whole without a store, of which nothing is said", async () => {
    const { reader, library } = newReader({ store: new NoOpArtifactStore({ warn: () => undefined }) });
    library.write(URI, { body: "short" });
    const { contents, artifacts } = await reader.readResource(URI);
    expect(contents).toEqual([{ kind: "text", uri: URI, mime_type: null, text: "short" }]);
    expect(artifacts).toEqual([]);
  });

  test("whole with a store that fails, which is told", async () => {
    const full = new SluiceError("E_STORE_FULL", "There is no room.");
    const { store } = faulty(new MemoryArtifactStore(), failingAt(1, full, "putText"));
    const { reader, library } = newReader({ store });
    library.write(URI, { body: "short" });
    const { contents, failures } = await reader.readResource(URI);
    expect(contents).toMatchObject([{ text: "short" }]);
    expect(failures).toEqual([full]);
  });

  test("from the source again when its artifact was deleted", async () => {
    const { reader, library, store } = newReader();
    library.write(URI, { body: PDF });
    const { artifacts } = await reader.readResource(URI, { scope: ADA });
    await store.delete(artifacts[0]?.id ?? "", ADA);
    expect((await reader.readResource(URI, { scope: ADA })).artifacts).toHaveLength(1);
    expect(library.count("read")).toBe(2);
  });
});

describe("reading ends", () => {
  test.each(["", "file:///\u202etxt", "x".repeat(5_000)])("at a URI that nobody could be asked for", async (uri) => {
    const { reader, library } = newReader();
    await expect(reader.readResource(uri)).rejects.toMatchObject({ code: "E_TOOL_CLIENT", category: "non_retryable" });
    expect(library.asked).toEqual([]);
  });

  test("with what the source says, which is not kept", async () => {
    const { reader, library } = newReader();
    await expect(reader.readResource(URI)).rejects.toMatchObject({ code: "E_TOOL_CLIENT" });
    library.write(URI, { body: "there" });
    expect((await reader.readResource(URI)).contents).toMatchObject([{ text: "there" }]);
  });

  test("for each caller that gives up, and at the source with the last of them", async () => {
    const { reader, library } = newReader();
    const signals: AbortSignal[] = [];
    library.write(URI, { body: "short" });
    const begun = new Latch();
    library.gate = (signal) => {
      signals.push(signal);
      begun.release();
      return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)));
    };
    const gone = new AbortController();
    const reading = reader.readResource(URI, { signal: gone.signal });
    await begun.released;
    gone.abort(new Error("gone"));
    await expect(reading).rejects.toThrow("gone");
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  });

  test.each([
    ["listResources", []],
    ["listResourceTemplates", []],
    ["readResource", [URI]],
    ["subscribe", [URI]],
    ["unsubscribe", [URI]],
    ["complete", ["x:{a}", "a", ""]],
  ] as const)("with a clear answer from a source without resources: %s", async (name, args) => {
    const made = newReader();
    made.connection = undefined;
    const call = made.reader[name] as (...given: readonly unknown[]) => Promise<unknown>;
    await expect(call.apply(made.reader, [...args])).rejects.toMatchObject({
      code: "E_TOOL_UNSUPPORTED",
      category: "non_retryable",
      message: "The source lib has no resources: call one of its tools instead.",
    });
  });
});

const USER: ArtifactScope = { user_id: "ada" };
const LINKED = { content: [{ type: "resource_link", uri: URI, name: "report", mimeType: "text/x", size: 1_000 }] };

interface Linked extends ReaderSetup {
  readonly answer: Transformed;
  readonly block: Readonly<Record<string, unknown>>;
  readonly read: readonly ResourceReading[];
  readonly again: () => Promise<Transformed>;
}

async function linked(document: Document, given: ResourcesConfig = {}): Promise<Linked> {
  const config = { auto_read_if_size_under_bytes: 1_000_000, ...given };
  const made = newReader({ config });
  made.library.write(URI, document);
  const sluice = await createSluice({ store: made.store, config: { resources: config } });
  const read: ResourceReading[] = [];
  const again = (): Promise<Transformed> => {
    const readResource = made.reader.linkReader({ scope: USER }, 30, (each) => read.push(each));
    return sluice.transform(LINKED, { namespace: "lib", scope: USER, ...(readResource && { readResource }) });
  };
  const answer = await again();
  const { content } = answer.value as { readonly content: readonly Readonly<Record<string, unknown>>[] };
  return { ...made, answer, block: content[0] ?? {}, read, again };
}

describe("a link", () => {
  test("to bytes becomes an artifact that the host is told of", async () => {
    const { block, read, store } = await linked({ body: PDF, mime_type: "application/pdf" });
    const id = read[0]?.artifacts[0]?.id ?? "";
    expect(block).toEqual({
      type: "resource_link",
      uri: URI,
      name: "report",
      mime_type: "text/x",
      size_bytes: 1_000,
      fetched: true,
      artifact: { id, mime_type: "application/pdf", size_bytes: PDF.length },
      summary: `${PDF.length} bytes`,
    });
    expect(await store.get(id, USER)).toEqual(new Uint8Array(PDF));
  });

  test("to a long text becomes an artifact", async () => {
    const { block, answer } = await linked({ body: prose(20_000), mime_type: "text/plain" });
    expect(block).toMatchObject({ fetched: true, artifact: { mime_type: "text/plain" } });
    expect(answer.text.length).toBeLessThan(1_000);
  });

  test("to a short text shows it, and stores it", async () => {
    const { block, answer, store } = await linked({ body: "all is well" });
    expect(block).toMatchObject({ fetched: true, text: "all is well" });
    expect(await refsIn(store, USER)).toHaveLength(1);
    expect(answer.artifacts).toHaveLength(1);
  });

  test("to several contents drops none", async () => {
    const { answer } = await linked({ body: "the letter", more: { "x:pdf": PDF } });
    expect(answer.text).toContain("the letter");
    expect(answer.text).toContain(`${PDF.length} bytes`);
  });

  test("is read once for several results", async () => {
    const { again, library } = await linked({ body: PDF });
    await again();
    expect(library.count("read")).toBe(1);
  });

  test("is not kept where reads shall not be, and the text not stored", async () => {
    const { again, library, store } = await linked({ body: "all is well" }, { cache_reads_to_artifacts: false });
    await again();
    expect(library.count("read")).toBe(2);
    expect(await refsIn(store)).toEqual([]);
  });

  test("that is never read names the tool that reads it", async () => {
    const { block, library } = await linked({ body: PDF }, { auto_read_if_size_under_bytes: 0 });
    expect(block).toMatchObject({
      fetched: false,
      hint: `Resource available at ${URI}. Use lib.resources_read to fetch.`,
    });
    expect(library.asked).toEqual([]);
  });

  test("stays as it came where links are disabled", async () => {
    const { block, library } = await linked({ body: PDF }, { enabled: false });
    expect(block).toEqual(LINKED.content[0]);
    expect(library.asked).toEqual([]);
  });

  test("that cannot be read says so, and no more", async () => {
    const config = { auto_read_if_size_under_bytes: 1_000_000 };
    const { reader } = newReader({ config });
    const sluice = await createSluice({ config: { resources: config } });
    const readResource = reader.linkReader({}, 30);
    const { value } = await sluice.transform(LINKED, { namespace: "lib", ...(readResource && { readResource }) });
    expect(value).toMatchObject({ content: [{ fetched: false, fetch_error: "the resource could not be read" }] });
  });

  test("that takes too long is given up, also at the source", async () => {
    const { reader, library } = newReader({ config: { auto_read_if_size_under_bytes: 1 } });
    library.gate = (signal) =>
      new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)));
    const read = reader.linkReader({}, 0.01);
    await expect(read?.(URI)).rejects.toMatchObject({ name: "TimeoutError" });
  });
});

/** URI templates, filled and refused (RFC 6570). */
/** The sentence of a refusal. */
function refusal(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (error instanceof ToolClientError) return error.message;
    throw error;
  }
  throw new Error("nothing was refused");
}

describe("a template is filled", () => {
  // The RFC's own examples, §3.2.
  const values = {
    var: "value",
    hello: "Hello World!",
    path: "/foo/bar",
    list: ["red", "green", "blue"],
    keys: { semi: ";", dot: "." },
    x: 1024,
    y: 768,
    empty: "",
    undef: null,
  };
  const needed = (template: string): Record<string, unknown> =>
    Object.fromEntries(
      templateVariables(template).map(({ name }) => [name, (values as Record<string, unknown>)[name]]),
    );

  test.each([
    ["{var}", "value"],
    ["{hello}", "Hello%20World%21"],
    ["O{empty}X", "OX"],
    ["{x,hello,y}", "1024,Hello%20World%21,768"],
    ["{var:3}", "val"],
    ["{list}", "red,green,blue"],
    ["{keys*}", "semi=%3B,dot=."],
    ["{+path}/here", "/foo/bar/here"],
    ["{+path:4}/here", "/foo/here"],
    ["{#x,hello,y}", "#1024,Hello%20World!,768"],
    ["X{.list*}", "X.red.green.blue"],
    ["{/var,x}/here", "/value/1024/here"],
    ["{;x,y,empty}", ";x=1024;y=768;empty"],
    ["{?x,y,undef}", "?x=1024&y=768"],
    ["{?list*}", "?list=red&list=green&list=blue"],
    ["?fixed=yes{&x}", "?fixed=yes&x=1024"],
  ])("%s → %s", (template, uri) => {
    expect(fillTemplate(template, needed(template))).toBe(uri);
  });

  test("with names that every object has", () => {
    const given = JSON.parse('{"__proto__":"a","constructor":"b"}') as Record<string, unknown>;
    expect(fillTemplate("x:{__proto__}/{constructor}", given)).toBe("x:a/b");
  });

  test("with names that have hyphens, dots and escapes", () => {
    expect(fillTemplate("x:{user-id}/{a.b}/{%C3%A9}", { "user-id": "1", "a.b": "2", "%C3%A9": "3" })).toBe("x:1/2/3");
  });

  test("without what may be left out", () => {
    expect(fillTemplate("x:{id}{?page,size}{#part}", { id: 7, page: [] })).toBe("x:7");
  });
});

describe("a template tells its variables", () => {
  test("each once, in order, and which of them are needed", () => {
    expect(templateVariables("x:/{a}{/b*}{?c,a,d:3}{#e}")).toEqual([
      { name: "a", isRequired: true },
      { name: "b", isRequired: true },
      { name: "c", isRequired: false },
      { name: "d", isRequired: false },
      { name: "e", isRequired: false },
    ]);
  });

  test("needed once is needed", () => {
    expect(templateVariables("x:{?a}{a}")).toEqual([{ name: "a", isRequired: true }]);
  });
});

describe("it is refused", () => {
  test("when variables are missing, with their names", () => {
    expect(refusal(() => fillTemplate("x:{a}/{b}/{c}", { b: "1", c: null }))).toBe(
      "arguments lacks variables of the template: a, c.",
    );
  });

  test("when arguments are unknown, with those there are", () => {
    expect(refusal(() => fillTemplate("x:{a}", { a: "1", b: "2" }))).toContain("b: it has a.");
    expect(refusal(() => fillTemplate("x:", { b: "2" }))).toContain("it has none");
  });

  test("and not filled with what an object inherits", () => {
    expect(refusal(() => fillTemplate("x:{toString}", {}))).toContain("toString");
  });

  test.each([
    ["an unclosed brace", "x:{a"],
    ["a stray brace", "x:a}"],
    ["nothing in braces", "x:{}"],
    ["an empty name", "x:{a,,b}"],
    ["an operator kept for later", "x:{!a}"],
    ["a space", "x:{a b}"],
    ["a modifier that is none", "x:{a:0}"],
    ["too many expressions", "{a}".repeat(65)],
    ["too many characters", `x:${"a".repeat(5_000)}`],
    ["characters that hide", "x:\u202e{a}"],
  ])("with %s", (_, template) => {
    expect(refusal(() => templateVariables(template))).toMatch(/^template must be/);
  });

  test.each([
    ["half a character", { a: "\ud800" }],
    ["a text too long", { a: "x".repeat(5_000) }],
    ["a URI too long", { a: "é".repeat(1_000) }],
    ["a list too long", { a: Array.from({ length: 101 }, String) }],
    ["a list of lists", { a: [["b"]] }],
    ["no number", { a: Number.NaN }],
    ["a function", { a: () => "b" }],
  ])("with %s, without saying the value", (_, given) => {
    expect(refusal(() => fillTemplate("x:{a}", given)).length).toBeLessThan(250);
  });
});

test("whatever is given, what comes is a URI of bounded length or a refusal", () => {
  const name = fc.constantFrom("a", "b", "c-d");
  const modifier = fc.constantFrom("", "", "*", ":2");
  const operator = fc.constantFrom("", "+", "#", ".", "/", ";", "?", "&");
  const expression = fc
    .tuple(operator, fc.array(fc.tuple(name, modifier), { minLength: 1, maxLength: 3 }))
    .map(([sign, list]) => `{${sign}${list.map((each) => each.join("")).join(",")}}`);
  const literal = fc.oneof({ weight: 4, arbitrary: fc.constantFrom("x:", "/", "é", "%41", "%") }, fc.string());
  const template = fc.array(fc.oneof(expression, literal), { maxLength: 4 }).map((parts) => parts.join(""));
  const text = fc.string({ unit: "grapheme", maxLength: 5 });
  const primitive = fc.oneof(text, fc.integer(), fc.boolean(), fc.constantFrom("\ud83d", null, "a/../b", "%zz"));
  const value = fc.oneof(primitive, fc.array(primitive, { maxLength: 3 }), fc.dictionary(text, primitive));
  let filled = 0;
  fc.assert(
    fc.property(template, value, value, (pattern, one, other) => {
      let uri: string;
      try {
        const names = templateVariables(pattern).map((variable) => variable.name);
        uri = fillTemplate(pattern, Object.fromEntries(names.map((each, at) => [each, at === 0 ? one : other])));
      } catch (error) {
        return error instanceof ToolClientError;
      }
      filled += 1;
      return uri.length <= 4096 && /^[\x21-\x7e]+$/.test(uri);
    }),
    { numRuns: 500 },
  );
  expect(filled).toBeGreaterThan(100);
});

/** A source that is silent when it is asked for a resource: told, and given up, as in a call of its own tools. */
const SERVER = fileURLToPath(new URL("../../server/sources/troubled-server.mjs", import.meta.url));
const HANGS = "trouble:hangs";

/** The source, and what it tells, retries among it. */
async function silent(): Promise<{ readonly node: ToolNode; readonly events: ToolNodeEvent[] }> {
  const events: ToolNodeEvent[] = [];
  const config = {
    name: "lab",
    transport: "mcp",
    connection: `"${process.execPath}" "${SERVER}"`,
    timeout_s: 2,
    notify_after_s: [1, 10, 20],
  } as const;
  const node = new ToolNode(config, { store: new MemoryArtifactStore(), onEvent: (event) => events.push(event) });
  onTestFinished(() => node.close());
  await node.connect();
  events.length = 0;
  return { node, events };
}

test("a call of resources_read is told while it waits, given up once, and answered with an error", async () => {
  const { node, events } = await silent();
  const waits: ToolWait[] = [];
  const { value, isError } = await node.call(
    "resources_read",
    { uri: HANGS },
    { onWait: (wait) => void waits.push(wait) },
  );
  expect({ value, isError }).toEqual({ value: timeoutResult(2, null), isError: true });
  expect(waits).toEqual([waitNotices([1], 2)[0], overAfter(2)]);
  expect(events.map(({ kind }) => kind)).toEqual(["waiting", "waiting"]);
  // The source goes on.
  expect(await node.call("resources_list", {})).toMatchObject({ isError: false });
});

test("all who wait for the same are told, and nobody is given up by another's limit", async () => {
  const { node } = await silent();
  const read = async (timeoutSeconds: number): Promise<unknown> => {
    const waits: ToolWait[] = [];
    const onWait = (wait: ToolWait): unknown => waits.push(wait);
    const { value } = await node.call("resources_read", { uri: HANGS }, { timeoutSeconds, onWait });
    return { value, waits: waits.map(({ after_s }) => after_s) };
  };
  expect(await Promise.all([read(1), read(2), read(2)])).toEqual([
    { value: timeoutResult(1, null), waits: [1] },
    { value: timeoutResult(2, null), waits: [1, 2] },
    { value: timeoutResult(2, null), waits: [1, 2] },
  ]);
});

test("a caller who gives up hears no more of it", async () => {
  const { node } = await silent();
  const waits: ToolWait[] = [];
  const caller = new AbortController();
  const given = { signal: caller.signal, onWait: (wait: ToolWait): unknown => waits.push(wait) };
  const call = node.call("resources_read", { uri: HANGS }, given);
  caller.abort(new Error("no longer wanted"));
  await expect(call).rejects.toThrow("no longer wanted");
  await node.call("resources_read", { uri: HANGS });
  expect(waits).toEqual([]);
});

test("a host that reads gets the error", async () => {
  const { node } = await silent();
  await expect(node.readResource(HANGS, { timeoutSeconds: 1 })).rejects.toThrow(ToolTimeoutError);
});
