import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { noise } from "../../unit/artifacts/bytes.js";
import { alone, behindProxy, type Conversation, type Driver, DRIVERS } from "./behind.js";
import { bytesOf, expectStored, uriIn, urisIn, useServer } from "./expectations.js";
import { FILES, useFolder } from "./folder.js";
import { leaksIn } from "./leaks.js";
import { pngSize, readFileOnPage, servePage } from "./page.js";
import {
  devtools,
  everything,
  filesystem,
  imageExtractor,
  memory,
  pdfReader,
  pdfViewer,
  playwright,
  type Server,
  sqlite,
} from "./programs.js";

describe("everything", () => {
  const folder = useFolder();

  const dataUri = (bytes: Buffer): string => `data:application/octet-stream;base64,${bytes.toString("base64")}`;

  async function tinyImage(): Promise<Buffer> {
    await using server = await alone(everything(folder.path()));
    const { content } = await server.call("get-tiny-image");
    return Buffer.from(content.find(({ type }) => type === "image")?.data ?? "", "base64");
  }

  const open = (driver: Driver): Promise<Conversation> => behindProxy(driver, everything(folder.path()));

  describe.each<Driver>([...DRIVERS, "SDK v2, auto"])("%s", (driver) => {
    const use = useServer(() => open(driver));

    test("an image block becomes a note, between its neighbours", async () => {
      const server = use();
      const result = await server.call("get-tiny-image");
      await expectStored(server, result, [await tinyImage()]);
      expect(result.content.map(({ type }) => type)).toEqual(["text", "text", "text"]);
    });

    test("an embedded blob is stored", async () => {
      const server = use();
      const result = await server.call("get-resource-reference", { resourceType: "Blob", resourceId: 1 });
      // It says when it was made.
      const original = await bytesOf(server, result);
      expect(original.toString()).toMatch(/^Resource 1: /);
      await expectStored(server, result, [original]);
    });

    test("links and structured content pass", async () => {
      const server = use();
      const links = await server.call("get-resource-links", { count: 2 });
      expect(links.content.map(({ type }) => type)).toEqual(["text", "resource_link", "resource_link"]);
      await expectStored(server, links, []);
      const weather = await server.call("get-structured-content", { location: "Chicago" });
      expect(JSON.parse(weather.content[0]?.text ?? "")).toEqual(weather.structuredContent);
      await expectStored(server, weather, []);
    });

    test("an artifact goes back into a tool as a data URI", async () => {
      const server = use();
      const gzip = (data: string): ReturnType<Conversation["call"]> =>
        server.call("gzip-file-as-resource", { name: "noise.gz", data, outputType: "resource" });
      const once = await gzip(dataUri(FILES["noise.bin"]));
      const packed = await bytesOf(server, once);
      expect(gunzipSync(packed).equals(FILES["noise.bin"])).toBe(true);
      await expectStored(server, once, [packed]);

      const twice = await gzip(uriIn(once));
      const packedTwice = await bytesOf(server, twice);
      expect(gunzipSync(packedTwice).equals(packed)).toBe(true);
      await expectStored(server, twice, [packedTwice]);
    });

    test("a resource that a result links to is read as the server has it", async () => {
      const server = use();
      const data = dataUri(FILES["noise.bin"]);
      const result = await server.call("gzip-file-as-resource", { name: "noise.gz", data, outputType: "resourceLink" });
      await expectStored(server, result, []);
      const { contents } = await server.client.readResource({ uri: result.content[0]?.uri });
      const bytes = gunzipSync(Buffer.from(contents[0]?.blob ?? "", "base64"));
      expect(bytes.equals(FILES["noise.bin"])).toBe(true);
      // Reading passes as it is: what a host does with the bytes is its own affair.
      expect(leaksIn(server.heard())).toHaveLength(1);
    });
  });
});

/** The reference server for files behind the proxy: base64 in both halves of a result, under a strict schema. */
describe("filesystem", () => {
  const folder = useFolder();

  describe.each(DRIVERS)("%s", (driver) => {
    const use = useServer(() => behindProxy(driver, filesystem(folder.path())));

    test.each(Object.entries(FILES))("read_media_file %s", async (name, original) => {
      const server = use();
      const result = await server.call("read_media_file", { path: folder.path(name) });
      await expectStored(server, result, [original]);
      expect(JSON.stringify(result.structuredContent)).toContain("artifact://");
    });

    test("a PDF read as text is stored as that text, and can be written back", async () => {
      const server = use();
      const text = FILES["report.pdf"].toString("utf8");
      const result = await server.call("read_text_file", { path: folder.path("report.pdf") });
      await expectStored(server, result, [Buffer.from(text)]);

      const path = folder.path(`${driver}.txt`);
      const refused = await server.call("write_file", { path, content: uriIn(result) });
      expect(refused.isError).toBe(true);
      expect(refused.content[0]?.text).toContain(`${uriIn(result)}?as=text`);
      const written = await server.call("write_file", { path, content: `${uriIn(result)}?as=text` });
      expect(written.isError ?? false).toBe(false);
      expect((await readFile(path, "utf8")) === text).toBe(true);
    });

    test("what is small passes", async () => {
      const server = use();
      const result = await server.call("list_directory", { path: folder.path() });
      expect(result.content[0]?.text).toContain("[FILE] photo.png");
      await expectStored(server, result, []);
    });
  });
});

/** A server for images behind the proxy: what it gave goes back into it as base64. */
describe("image extractor", () => {
  const folder = useFolder();

  /** It writes every image anew, the same way always. */
  async function written(tool: string, args: object): Promise<Buffer> {
    await using server = await alone(imageExtractor(folder.path()));
    const { content } = await server.call(tool, args);
    return Buffer.from(content.find(({ type }) => type === "image")?.data ?? "", "base64");
  }

  describe.each(DRIVERS)("%s", (driver) => {
    const use = useServer(() => behindProxy(driver, imageExtractor(folder.path())));

    test("an image from a file, and the same image from its artifact", async () => {
      const args = { file_path: folder.path("photo.png") };
      const first = await written("extract_image_from_file", args);
      expect(first.length).toBeGreaterThan(1_000);
      const server = use();
      const result = await server.call("extract_image_from_file", args);
      await expectStored(server, result, [first]);

      const second = await written("extract_image_from_base64", { base64: first.toString("base64") });
      const again = await server.call("extract_image_from_base64", { base64: uriIn(result) });
      await expectStored(server, again, [second]);
      expect(again.content[0]?.text).toContain('"width":160');
    });

    test("base64 that a host sends itself arrives", async () => {
      const server = use();
      const base64 = FILES["photo.png"].toString("base64");
      const original = await written("extract_image_from_base64", { base64 });
      const result = await server.call("extract_image_from_base64", { base64 });
      await expectStored(server, result, [original]);
      expect(result.content[0]?.text).toContain('"width":160');
    });
  });
});

/**
 * What `--schemas keep` would break: of the servers here that say what their results are, memory alone. Its long lists
 * and objects are replaced by a reference, which is a string, where its schema wants a list. Everywhere else what is
 * replaced is a string already.
 */
describe("keep", () => {
  const folder = useFolder();

  interface Case {
    readonly name: string;
    readonly server: () => Server;
    readonly calls: () => readonly (readonly [tool: string, args: object])[];
  }

  const OBSERVATIONS = Array.from({ length: 3_000 }, (_, number) => `observation ${number} of a long day`);

  const CASES: readonly Case[] = [
    {
      name: "everything",
      server: () => everything(folder.path()),
      calls: () => [["get-structured-content", { location: "Chicago" }]],
    },
    {
      name: "filesystem",
      server: () => filesystem(folder.path()),
      calls: () => [
        ["read_media_file", { path: folder.path("photo.png") }],
        ["read_media_file", { path: folder.path("report.pdf") }],
        ["read_text_file", { path: folder.path("report.pdf") }],
        ["read_multiple_files", { paths: [folder.path("report.pdf"), folder.path("photo.png")] }],
        ["directory_tree", { path: folder.path() }],
      ],
    },
    {
      name: "memory",
      server: () => memory(folder.path()),
      calls: () => [
        ["create_entities", { entities: [{ name: "long", entityType: "day", observations: OBSERVATIONS }] }],
        ["read_graph", {}],
      ],
    },
    {
      name: "pdf",
      server: () => pdfViewer(folder.path(), folder.path("report.pdf")),
      calls: () => [["read_pdf_bytes", { url: folder.path("report.pdf") }]],
    },
  ];

  /** The servers of which some result is refused by the client, and as what. */
  async function broken(driver: (typeof DRIVERS)[number], mode: string): Promise<Readonly<Record<string, string>>> {
    const found: Record<string, string> = {};
    for (const { name, server: start, calls } of CASES) {
      await using server = await behindProxy(driver, start(), ["--schemas", mode]);
      for (const [tool, args] of calls()) {
        await server.call(tool, args).catch((error: unknown) => (found[name] = String(error)));
      }
    }
    return found;
  }

  describe.each(DRIVERS)("%s", (driver) => {
    test("with `widen` all results fit", async () => {
      expect(await broken(driver, "widen")).toEqual({});
    });

    test("with `keep` those of one server do not", async () => {
      expect(await broken(driver, "keep")).toEqual({ memory: expect.stringMatching(/must be array/) as string });
    });
  });
});

/** A server that keeps a graph, behind the proxy: bytes and long lists under a strict schema. */
describe("memory", () => {
  const folder = useFolder();
  const BYTES = FILES["noise.bin"];
  const MANY = Array.from({ length: 3_000 }, (_, number) => `observation ${number} of a long day`);

  const open = (driver: Driver): Promise<Conversation> => behindProxy(driver, memory(folder.path()));

  const entity = (name: string, observations: readonly string[]): object => ({
    entities: [{ name, entityType: "file", observations }],
  });

  describe.each(DRIVERS)("%s", (driver) => {
    test("base64 in a graph is stored, and goes back into it", async () => {
      await using server = await open(driver);
      await expectStored(server, await server.call("create_entities", entity(driver, [BYTES.toString("base64")])), [
        BYTES,
      ]);
      const found = await server.call("open_nodes", { names: [driver] });
      await expectStored(server, found, [BYTES]);

      const name = `${driver}, again`;
      const again = await server.call("create_entities", entity(name, [`${uriIn(found)}?as=base64`]));
      await expectStored(server, again, [BYTES]);
      const nodes = await server.call("open_nodes", { names: [name] });
      await expectStored(server, nodes, [BYTES]);
      expect(JSON.stringify(nodes.structuredContent)).toContain(uriIn(found));
    });

    test("a long list fits the schema that was listed", async () => {
      await using server = await open(driver);
      const result = await server.call("create_entities", entity(`${driver}, long`, MANY));
      const list = (await server.stored()).filter(({ ref }) => urisIn(result).includes(`artifact://${ref.id}`));
      expect(list.map(({ bytes }) => JSON.parse(bytes.toString()) as unknown)).toContainEqual(MANY);
      expect(JSON.stringify(server.heard()).length).toBeLessThan(50_000);
    });
  });
});

/** Two servers for PDFs behind the proxy: one whose bytes are for its app alone, one that sends pictures of pages. */
describe("PDF", () => {
  const folder = useFolder();

  describe.each(DRIVERS)("%s", (driver) => {
    test("bytes for an app pass as they are", async () => {
      await using server = await behindProxy(driver, pdfViewer(folder.path(), folder.path("report.pdf")));
      expect(server.tools.find(({ name }) => name === "read_pdf_bytes")).toMatchObject({
        _meta: { ui: { visibility: ["app"] } },
      });
      const listed = await server.call("list_pdfs");
      await expectStored(server, listed, []);
      const result = await server.call("read_pdf_bytes", { url: folder.path("report.pdf") });
      const { bytes } = result.structuredContent as { bytes: string };
      expect(Buffer.from(bytes, "base64").equals(FILES["report.pdf"])).toBe(true);
      expect(await server.stored()).toEqual([]);
    });

    test("a picture in a PDF is stored, its text is shown", async () => {
      const args = { sources: [{ path: folder.path("report.pdf"), pages: "1" }], include_images: true };
      await using direct = await alone(pdfReader(folder.path()));
      const pictures = (await direct.call("read_pdf", args)).content.filter(({ type }) => type === "image");
      expect(pictures).toHaveLength(1);
      await using server = await behindProxy(driver, pdfReader(folder.path()));
      const result = await server.call("read_pdf", args);
      const originals = pictures.map(({ data = "" }) => Buffer.from(data, "base64"));
      await expectStored(server, result, originals);
      expect(JSON.stringify(result.content)).toContain("Report, page 1");
    });
  });
});

/** A database server behind the proxy: base64 inside of JSON text, and a BLOB as a list of its bytes. */
describe("SQLite", () => {
  const folder = useFolder();

  // Compiled by `npm run setup`, where there is what that takes.
  const isBuilt = existsSync(
    fileURLToPath(new URL("../node_modules/sqlite3/build/Debug/node_sqlite3.node", import.meta.url)),
  );

  describe.runIf(isBuilt).each(DRIVERS)("%s", (driver) => {
    test("rows with files in them", async () => {
      await using server = await behindProxy(driver, sqlite(folder.path()));
      const table = driver === "SDK v1" ? "first" : "second";
      const { "photo.png": photo, "report.pdf": report } = FILES;
      const values = `('photo.png', '${photo.toString("base64")}', NULL), ('report.pdf', NULL, X'${report.toString("hex")}')`;
      for (const [tool, query] of [
        ["create_table", `CREATE TABLE ${table} (name TEXT, encoded TEXT, content BLOB)`],
        ["write_query", `INSERT INTO ${table} VALUES ${values}`],
      ] as const) {
        await expectStored(server, await server.call(tool, { query }), []);
      }
      const query = (what: string): ReturnType<typeof server.call> =>
        server.call("read_query", { query: `SELECT ${what} FROM ${table}` });
      const names = await query("name");
      await expectStored(server, names, []);
      expect(JSON.parse(names.content[0]?.text ?? "")).toEqual([{ name: "photo.png" }, { name: "report.pdf" }]);
      await expectStored(server, await query("name, encoded"), [photo]);
      await expectStored(server, await query("name, content"), [report]);
      await expectStored(server, await query("*"), [photo, report]);
      await expectStored(server, await query("hex(content) AS digits"), [report]);
    });
  });
});

/** Playwright's server behind the proxy: screenshots, and data URLs inside of Markdown. */
describe("Playwright", () => {
  const folder = useFolder();

  describe.each(DRIVERS)("%s", (driver) => {
    test("a screenshot, and files that a page read", async () => {
      await using page = await servePage();
      await using server = await behindProxy(driver, playwright(folder.path()));
      await expectStored(server, await server.call("browser_navigate", { url: page.url }), []);

      const screenshot = await server.call("browser_take_screenshot", { type: "png" });
      // It keeps what it sends, and says where.
      const [, saved = ""] = /\]\(([^)]+\.png)\)/.exec(screenshot.content[0]?.text ?? "") ?? [];
      await expectStored(server, screenshot, [await readFile(folder.path(saved))]);
      expect(pngSize(await bytesOf(server, screenshot))).toEqual({ width: 1280, height: 720 });

      for (const name of ["photo.png", "noise.bin"] as const) {
        const result = await server.call("browser_evaluate", { function: readFileOnPage(name) });
        await expectStored(server, result, [FILES[name]]);
        expect(result.content[0]?.text).toContain("### Result");
      }
      await expectStored(server, await server.call("browser_close"), []);
    });
  });
});

/** The server of Chrome's developer tools behind the proxy: screenshots, and data URLs in a fence of JSON. */
describe("Chrome DevTools", () => {
  const folder = useFolder();

  describe.each(DRIVERS)("%s", (driver) => {
    test("a screenshot, and files that a page read", async () => {
      await using page = await servePage();
      await using server = await behindProxy(driver, devtools(folder.path()));
      const opened = await server.call("new_page", { url: page.url });
      await expectStored(server, opened, []);
      const pageId = Number(/^(\d+): .*\[selected\]/m.exec(opened.content[0]?.text ?? "")?.[1]);

      const screenshot = await server.call("take_screenshot", { pageId });
      const original = await bytesOf(server, screenshot);
      const measured = await server.call("evaluate_script", {
        pageId,
        function: "() => [innerWidth * devicePixelRatio, innerHeight * devicePixelRatio]",
      });
      const [width, height] = (measured.content[0]?.text?.match(/\d+/g) ?? []).map(Number);
      expect(pngSize(original)).toEqual({ width, height });
      await expectStored(server, screenshot, [original]);

      for (const name of ["photo.png", "noise.bin"] as const) {
        const result = await server.call("evaluate_script", { pageId, function: readFileOnPage(name) });
        await expectStored(server, result, [FILES[name]]);
        expect(result.content[0]?.text).toContain("```json");
      }
    });
  });
});

/** The search for leaks finds what it is for, and nothing else. */
describe("leaks", () => {
  const BYTES = Buffer.from(noise(600));

  test.each<[string, unknown]>([
    ["base64", BYTES.toString("base64")],
    ["base64 for addresses", BYTES.toString("base64url")],
    ["base64 in a data URI in a text", `look: data:image/png;base64,${BYTES.toString("base64")}!`],
    ["base64 in lines", BYTES.toString("base64").replace(/.{76}/g, "$&\r\n")],
    ["base64 in lines, in JSON in a string", JSON.stringify(BYTES.toString("base64").replace(/.{76}/g, "$&\n"))],
    ["hex", BYTES.toString("hex")],
    ["hex with escapes", BYTES.toString("hex").replace(/../g, "\\x$&")],
    ["a list of bytes", [...BYTES]],
    ["a Buffer", BYTES.toJSON()],
    ["a Buffer in JSON in a string", JSON.stringify({ row: [{ blob: BYTES }] }, null, 2)],
  ])("%s", (_, value) => {
    expect(leaksIn({ result: { content: [value] } })).toHaveLength(1);
  });

  test("names, hashes, prose and short lists are none", () => {
    const hash = BYTES.toString("hex", 0, 32);
    const prose = "Line 12 says what happened on the way home. ".repeat(100);
    expect(leaksIn({ hash, prose, id: `artifact://everything_${hash}`, list: [1, 2, 3], path: "/tmp/a/b" })).toEqual(
      [],
    );
  });
});
