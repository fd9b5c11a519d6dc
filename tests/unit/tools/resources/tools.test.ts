import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ArtifactScope } from "../../../../web/src/artifacts/store.js";
import type { SluiceConfig } from "../../../../web/src/config/types.js";
import type { Transformed } from "../../../../web/src/core/types.js";
import { createSluice } from "../../../../web/src/index.js";
import { ToolClientError } from "../../../../web/src/tools/errors.js";
import type { ToolSpec } from "../../../../web/src/tools/registry.js";
import { cutPage, resourceTools } from "../../../../web/src/tools/resources/tools.js";
import { base64, longestRun, PDF, PNG, prose } from "../../core/samples.js";
import { newReader, type ReaderSetup, URI } from "./library.js";

const ADA: ArtifactScope = { user_id: "ada" };

interface Tools extends ReaderSetup {
  readonly tools: readonly ToolSpec[];
  readonly call: (name: string, args?: Readonly<Record<string, unknown>>) => Promise<Transformed>;
}

async function toolsOf(config: SluiceConfig = {}): Promise<Tools> {
  const made = newReader({ ...(config.resources && { config: config.resources }) });
  const sluice = await createSluice({ store: made.store, config });
  const tools = resourceTools({ reader: made.reader, namespace: "lib", source: "mcp", sluice, config });
  const call: Tools["call"] = async (name, args = {}) => {
    const tool = tools.find((each) => each.name === `lib.${name}`);
    if (tool === undefined) throw new Error(`There is no ${name}.`);
    return tool.call(args, { scope: ADA });
  };
  return { ...made, tools, call };
}

describe("the tools", () => {
  test("are three, that only read, and say nothing of the source's", async () => {
    const { tools, library } = await toolsOf();
    expect(tools.map(({ name, side_effects, tags, extra }) => ({ name, side_effects, tags, extra }))).toEqual(
      ["resources_list", "resources_read", "resources_templates_list"].map((name) => ({
        name: `lib.${name}`,
        side_effects: "read",
        tags: ["mcp", "lib", "resources"],
        extra: { source: "mcp", namespace: "lib" },
      })),
    );
    for (const { input_schema } of tools) expect(input_schema).toMatchObject({ type: "object" });
    expect(library.asked).toEqual([]);
  });

  test("answer clearly where the source has no resources", async () => {
    const made = await toolsOf();
    const { reader } = made;
    const sluice = await createSluice({ store: made.store });
    made.connection = undefined;
    const without = newReader({ use: (_, work) => work(undefined, new AbortController().signal) });
    const [list] = resourceTools({ reader: without.reader, namespace: "lib", source: "mcp", sluice });
    await expect(list?.call({})).rejects.toMatchObject({ code: "E_TOOL_UNSUPPORTED" });
    reader.close();
  });
});

describe("resources_list", () => {
  test("gives what there is", async () => {
    const { call, library } = await toolsOf();
    library.listed = [{ uri: URI, name: "report", mime_type: "text/plain", size_bytes: 7 }];
    expect((await call("resources_list")).value).toEqual({ resources: library.listed, total: 1 });
  });

  test("comes in pages that together are everything", async () => {
    const { call, library } = await toolsOf();
    library.listed = Array.from({ length: 250 }, (_, at) => ({ uri: `${URI}${at}`, name: prose(150).slice(0, 150) }));
    const seen: unknown[] = [];
    let cursor: string | undefined;
    do {
      const { value, clamped, text } = await call("resources_list", cursor === undefined ? {} : { cursor });
      const page = value as { resources: readonly unknown[]; next_cursor?: string };
      expect(clamped).toBe(false);
      expect(text.length).toBeLessThan(21_000);
      seen.push(...page.resources);
      cursor = page.next_cursor;
    } while (cursor !== undefined);
    expect(seen.map((each) => (each as { uri: string }).uri)).toEqual(library.listed.map(({ uri }) => uri));
    expect(library.count("list")).toBe(1);
  });

  test("keeps its pages within a smaller guardrail", async () => {
    const { call, library } = await toolsOf({ guardrail: { max_observation_chars: 2_000 } });
    library.listed = Array.from({ length: 50 }, (_, at) => ({ uri: `${URI}${at}`, name: "x".repeat(100) }));
    const { clamped, value } = await call("resources_list");
    expect(clamped).toBe(false);
    expect(value).toHaveProperty("next_cursor");
  });

  test("tells how many a source's list has that cannot be shown", async () => {
    const { call, library } = await toolsOf();
    library.listed = [{ uri: "", name: "none" }];
    expect((await call("resources_list")).value).toEqual({ resources: [], total: 0, left_out: 1 });
  });

  test.each([{ cursor: 5 }, { cursor: "x" }, { page: 2 }])("refuses %o", async (args) => {
    const { call } = await toolsOf();
    await expect(call("resources_list", args)).rejects.toMatchObject({ code: "E_TOOL_CLIENT" });
  });
});

test("resources_templates_list gives the templates", async () => {
  const { call, library } = await toolsOf();
  library.listedTemplates = [{ uri_template: "file:///{name}", name: "files" }];
  const { value } = await call("resources_templates_list");
  expect(value).toEqual({ templates: library.listedTemplates, total: 1 });
});

describe("resources_read", () => {
  test("shows short texts, and names what is stored", async () => {
    const { call, library, store } = await toolsOf();
    library.write(URI, { body: "all is well", mime_type: "text/plain", more: { "x:pdf": PDF } });
    const { value, artifacts, changed } = await call("resources_read", { uri: URI });
    const [text, pdf] = artifacts;
    expect(value).toEqual({
      contents: [
        {
          uri: URI,
          mime_type: "text/plain",
          text: "all is well",
          artifact: { id: text?.id, mime_type: "text/plain", size_bytes: 11 },
        },
        {
          uri: "x:pdf",
          artifact: { id: pdf?.id, mime_type: null, size_bytes: PDF.length },
          summary: `${PDF.length} bytes`,
        },
      ],
    });
    expect(changed).toBe(true);
    for (const { id, scope } of artifacts) expect(await store.get(id, scope)).not.toBeNull();
  });

  test("fills a template", async () => {
    const { call, library } = await toolsOf();
    library.write("file:///a%20b?page=2", { body: "found" });
    const args = { template: "file:///{name}{?page}", arguments: { name: "a b", page: 2 } };
    expect((await call("resources_read", args)).text).toContain("found");
  });

  test("lets no encoded bytes pass, wherever a source put them", async () => {
    const { call, library } = await toolsOf();
    library.write(URI, { body: JSON.stringify({ picture: base64(PNG.subarray(0, 5_000)) }) });
    const { text, artifacts } = await call("resources_read", { uri: URI });
    expect(longestRun(text)).toBeLessThan(100);
    expect(artifacts.length).toBeGreaterThan(0);
  });

  test("stays within the guardrail, however many contents there are", async () => {
    const { call, library } = await toolsOf({ resources: { cache_reads_to_artifacts: false } });
    const more = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`x:${at}`, prose(5_000)]));
    library.write(URI, { body: "first", more });
    expect((await call("resources_read", { uri: URI })).text.length).toBeLessThanOrEqual(50_000);
  });

  test.each([
    [{}, "Give either uri"],
    [{ uri: URI, template: "x:" }, "Give either uri"],
    [{ uri: 5 }, "uri must be"],
    [{ uri: "" }, "uri must be"],
    [{ template: 5 }, "template must be"],
    [{ template: "x:{a}" }, "lacks variables of the template: a"],
    [{ template: "x:", arguments: [] }, "arguments must be"],
    [{ template: "x:", arguments: null }, "arguments must be"],
    [{ url: URI }, "only takes the arguments uri, template, arguments"],
  ])("refuses %o", async (args, sentence) => {
    const { call, library } = await toolsOf();
    await expect(call("resources_read", args)).rejects.toMatchObject({
      code: "E_TOOL_CLIENT",
      message: expect.stringContaining(sentence) as string,
    });
    expect(library.asked).toEqual([]);
  });
});

test("pages, one after the other, are the whole list, and none is too long", () => {
  const list = fc.array(fc.string({ maxLength: 40 }), { minLength: 1, maxLength: 400, size: "max" });
  fc.assert(
    fc.property(list, fc.integer({ min: 1, max: 900 }), (items, chars) => {
      const pages: (readonly string[])[] = [];
      let cursor: string | undefined;
      do {
        const page = cutPage(items, cursor, chars);
        pages.push(page.items);
        cursor = page.next;
      } while (cursor !== undefined);
      expect(pages.flat()).toEqual(items);
      for (const page of pages) {
        expect(page.length).toBeGreaterThan(0);
        expect(page.length).toBeLessThanOrEqual(100);
        expect(page.length === 1 || JSON.stringify(page).length <= chars + 2).toBe(true);
      }
    }),
  );
});

test("an empty list is one empty page", () => {
  expect(cutPage([], undefined, 100)).toEqual({ items: [], next: undefined });
});

test("a cursor of a list that has changed says so", () => {
  const { next } = cutPage(["a", "b", "c"], undefined, 5);
  expect(() => cutPage(["a", "x", "c"], next, 5)).toThrow(/The list has changed/);
});

test.each(["", "1", "..", "-1.2", "zzzzzzzz.0", "a.b.c", " 1.1", "1.zzzzz"])("%j is no cursor", (cursor) => {
  expect(() => cutPage(["a"], cursor, 100)).toThrow(ToolClientError);
});

test("a cursor behind the end is refused", () => {
  const { next } = cutPage(["a", "b"], undefined, 1);
  const [print] = (next as string).split(".");
  expect(() => cutPage(["a", "b"], `${print}.2`, 1)).toThrow(ToolClientError);
});
