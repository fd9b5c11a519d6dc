/** Servers for files, PDFs, images, databases and graphs, through a ToolNode. */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { ToolNode, ToolRegistry } from "../../../web/src/tools-node.js";
import { toVariables } from "../../../web/src/tools/config/variables.js";
import { alone } from "../servers/behind.js";
import { FILES, useFolder } from "../servers/folder.js";
import {
  everything,
  filesystem,
  imageExtractor,
  memory,
  pdfReader,
  pdfViewer,
  type Server,
  sqlite,
} from "../servers/programs.js";
import { KEY, serveApi, sourceOf } from "./api.js";
import { serveTools, text as textResult } from "./faulty-server.js";
import { bytesOf, frontOf, inFront, kept, SCOPE, seen, startOf, useFront } from "./in-front.js";

describe("real servers", () => {
  const folder = useFolder();

  /** The images that a server sends when nobody is between. */
  async function imagesOf(server: Server, tool: string, args: object): Promise<readonly Buffer[]> {
    await using direct = await alone(server);
    const { content } = await direct.call(tool, args);
    return content.filter(({ type }) => type === "image").map(({ data = "" }) => Buffer.from(data, "base64"));
  }

  describe("filesystem", () => {
    const use = useFront(() => frontOf("files", filesystem(folder.path())));

    test.each(Object.entries(FILES))("%s in both halves of a result", async (name, original) => {
      const front = use();
      expect(await seen(front, await front.call("read_media_file", { path: folder.path(name) }))).toEqual(
        kept(original),
      );
    });

    test("a PDF read as text is stored as that text", async () => {
      const front = use();
      const result = await front.call("read_text_file", { path: folder.path("report.pdf") });
      expect(await seen(front, result)).toEqual(kept(Buffer.from(FILES["report.pdf"].toString("utf8"))));
    });

    test("what is small is shown, and what fails is a result that says so", async () => {
      const front = use();
      expect((await front.call("list_directory", { path: folder.path() })).text).toContain("[FILE] photo.png");
      const failed = await front.call("read_media_file", { path: folder.path("nothing.png") });
      expect(failed.isError).toBe(true);
      expect(front.events.some(({ kind }) => kind === "retry")).toBe(false);
    });
  });

  describe("PDFs", () => {
    test("bytes that are for an app alone are kept out", async () => {
      const file = folder.path("report.pdf");
      await using front = await frontOf("viewer", pdfViewer(folder.path(), file));
      const result = await front.call("read_pdf_bytes", { url: file });
      expect(await seen(front, result)).toEqual(kept(FILES["report.pdf"]));
      expect(result.text).toContain("PDF");
    });

    test("a picture in a PDF is stored, its text is shown", async () => {
      const args = { sources: [{ path: folder.path("report.pdf"), pages: "1" }], include_images: true };
      const pictures = await imagesOf(pdfReader(folder.path()), "read_pdf", args);
      expect(pictures).toHaveLength(1);
      await using front = await frontOf("reader", pdfReader(folder.path()));
      const result = await front.call("read_pdf", args);
      expect(await seen(front, result)).toEqual(kept(...pictures));
      expect(result.text).toContain("Report, page 1");
    });
  });

  test("an image from a file, by a server that prints more than the protocol", async () => {
    const args = { file_path: folder.path("photo.png") };
    const images = await imagesOf(imageExtractor(folder.path()), "extract_image_from_file", args);
    await using front = await frontOf("images", imageExtractor(folder.path()));
    const result = await front.call("extract_image_from_file", args);
    expect(await seen(front, result)).toEqual(kept(...images));
    expect(await bytesOf(front, result)).toHaveLength(images[0]?.length ?? 0);
  });

  test("base64 and long lists in a graph", async () => {
    await using front = await frontOf("graph", memory(folder.path()));
    const bytes = FILES["noise.bin"];
    const many = Array.from({ length: 3_000 }, (_, number) => `observation ${number} of a long day`);
    const create = (name: string, observations: readonly string[]): ReturnType<typeof front.call> =>
      front.call("create_entities", { entities: [{ name, entityType: "file", observations }] });
    expect(await seen(front, await create("file", [bytes.toString("base64")]))).toEqual(kept(bytes));
    await create("day", many);
    const graph = await front.call("read_graph");
    expect(await seen(front, graph)).toEqual(kept(bytes, Buffer.from(JSON.stringify(many))));
    expect(graph.text.length).toBeLessThan(5_000);
  });

  // Compiled by `npm run setup`, where there is what that takes.
  const isBuilt = existsSync(
    fileURLToPath(new URL("../node_modules/sqlite3/build/Debug/node_sqlite3.node", import.meta.url)),
  );

  test.skipIf(!isBuilt)("rows with files in them: base64 in JSON text, and a BLOB", async () => {
    await using front = await frontOf("db", sqlite(folder.path()));
    const { "photo.png": photo, "report.pdf": report } = FILES;
    await front.call("create_table", { query: "CREATE TABLE files (name TEXT, encoded TEXT, content BLOB)" });
    const values = `('photo.png', '${photo.toString("base64")}', NULL), ('report.pdf', NULL, X'${report.toString("hex")}')`;
    await front.call("write_query", { query: `INSERT INTO files VALUES ${values}` });
    const query = (what: string): ReturnType<typeof front.call> =>
      front.call("read_query", { query: `SELECT ${what} FROM files` });
    expect((await query("name")).value).toEqual([{ name: "photo.png" }, { name: "report.pdf" }]);
    expect(await seen(front, await query("name, encoded"))).toEqual(kept(photo));
    expect(await seen(front, await query("name, content"))).toEqual(kept(report));
    expect(await seen(front, await query("*"))).toEqual(kept(photo, report));
    expect(await seen(front, await query("hex(content) AS digits"))).toEqual(kept(report));
  });
});

/** The reference server that has everything, through a ToolNode. */
describe('the server "everything"', () => {
  const folder = useFolder();
  const use = useFront(() => frontOf("all", everything(folder.path())));

  const dataUri = (bytes: Buffer): string => `data:application/octet-stream;base64,${bytes.toString("base64")}`;

  test("an image is stored, between what was said before and after it", async () => {
    await using server = await alone(everything(folder.path()));
    const { content } = await server.call("get-tiny-image");
    const original = Buffer.from(content.find(({ type }) => type === "image")?.data ?? "", "base64");
    const front = use();
    const result = await front.call("get-tiny-image");
    expect(await seen(front, result)).toEqual(kept(original));
    expect(result.text).toContain("PNG image");
    expect(result.text).toMatch(/Here's the image you requested.*The image above/s);
  });

  test("an embedded blob is stored", async () => {
    const front = use();
    const result = await front.call("get-resource-reference", { resourceType: "Blob", resourceId: 1 });
    // It says when it was made.
    const original = await bytesOf(front, result);
    expect(original.toString()).toMatch(/^Resource 1: /);
    expect(await seen(front, result)).toEqual(kept(original));
  });

  test("links stay links, not read, with what may be done about them", async () => {
    const front = use();
    const result = await front.call("get-resource-links", { count: 2 });
    expect(await seen(front, result)).toEqual(kept());
    const links = JSON.stringify(result.value).match(/"uri":"[^"]+"/g) ?? [];
    expect(links).toHaveLength(2);
    expect(result.text).toContain('"fetched":false');
    expect(result.text).toContain('"hint"');
  });

  test("a resource that a result links to is read: its bytes are stored", async () => {
    const front = use();
    const data = dataUri(FILES["noise.bin"]);
    const result = await front.call("gzip-file-as-resource", { name: "noise.gz", data, outputType: "resourceLink" });
    expect(await seen(front, result)).toEqual(kept());
    const uri = /"uri":"([^"]+)"/.exec(result.text)?.[1] ?? "";
    const { contents } = await front.node.readResource(uri, { scope: SCOPE });
    const [id = ""] = JSON.stringify(contents).match(/all_[0-9a-f]{12}/) ?? [];
    const bytes = await front.store.get(id, SCOPE);
    expect(gunzipSync(bytes ?? "").equals(FILES["noise.bin"])).toBe(true);
  });

  test("what is given as text and as structure is shown once", async () => {
    const front = use();
    const result = await front.call("get-structured-content", { location: "Chicago" });
    expect(await seen(front, result)).toEqual(kept());
    expect(result.text.match(/temperature/g)).toHaveLength(1);
  });

  test("a tool that runs as a task only is followed to its result", async () => {
    const front = use();
    const messages: unknown[] = [];
    const onProgress = ({ message }: { readonly message?: string }): void => void messages.push(message);
    const args = { topic: "python" };
    const { text, isError } = await front.node.call("all.simulate-research-query", args, { scope: SCOPE, onProgress });
    expect(isError).toBe(false);
    expect(text).toContain("# Research Report: python");
    // A stage that passes between two looks at the task is told by nobody.
    expect(messages.length).toBeGreaterThan(0);
  });

  test("there are tools for its resources, and they find and read them", async () => {
    const front = use();
    const names = front.node.getTools().map(({ name }) => name);
    expect(names.slice(-5, -2)).toEqual(["all.resources_list", "all.resources_read", "all.resources_templates_list"]);
    const listed = await front.call("all.resources_list");
    const [uri = ""] = /[a-z]+:\/\/[^"]+/.exec(listed.text) ?? [];
    expect((await front.call("all.resources_read", { uri })).text).toContain(uri);
    expect((await front.call("all.resources_templates_list")).text).toContain("{resourceId}");
  });
});

/** Sources that cannot be taken, and sources that share their names with others. */
describe("names", () => {
  const folder = useFolder();

  test.each<[string, string]>([
    ["no JSON", "<html>Sign in</html>"],
    ["another document", '{"hello":"world"}'],
    ["tools that are none", '{"utcp_version":"1.0.1","tools":"all"}'],
    [
      "a tool without a name",
      '{"utcp_version":"1.0.1","tools":[{"tool_call_template":{"call_template_type":"http"}}]}',
    ],
    [
      "a tool without an address",
      '{"utcp_version":"1.0.1","tools":[{"name":"a","tool_call_template":{"call_template_type":"http"}}]}',
    ],
  ])("a manual of %s is told of at connect, with what to do about it", async (_, manual) => {
    const api = await serveApi();
    api.manual = manual;
    const config = { ...sourceOf("UTCP", api), name: "broken" };
    const error = await inFront(config, { variables: toVariables({ FILES_KEY: KEY }) }).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject({ code: "E_TOOL_CONFIG", message: expect.stringContaining("broken") as string });
    expect(String(error)).not.toMatch(/Sign in|hello|s3cret/);
  });

  test("two sources of one name in one registry, and nothing of the second stays", async () => {
    const registry = new ToolRegistry();
    const config = { name: "own", transport: "mcp", ...startOf(filesystem(folder.path())) } as const;
    await using first = new ToolNode(config, { registry });
    await first.connect();
    const before = registry.list();
    await using api = await serveTools({
      list_directory: { answer: () => textResult("mine") },
      fresh: { answer: () => textResult("") },
    });
    await using second = new ToolNode({ name: "own", transport: "mcp", connection: api.url }, { registry });
    await expect(second.connect()).rejects.toThrow(/"own\.list_directory" is taken/);
    expect(registry.list()).toEqual(before);
    expect(registry.find("own.fresh")).toBeUndefined();
    expect((await registry.find("own.list_directory")?.call({ path: folder.path() }))?.text).toContain("photo.png");
  });

  test("a source that offers one name twice", async () => {
    const api = await serveApi();
    const one = { name: "a", inputs: {}, tool_call_template: { call_template_type: "http", url: `${api.url}/rows` } };
    api.manual = JSON.stringify({ utcp_version: "1.0.1", tools: [one, one] });
    const error = await inFront(sourceOf("UTCP", api), { variables: toVariables({ FILES_KEY: KEY }) }).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject({
      code: "E_TOOL_CONFIG",
      message: expect.stringMatching(
        /no usable tool in its document: not "a" of the type http, "a" of the type http, since /,
      ) as string,
    });
  });

  test("many sources share one registry, and each is closed by itself", async () => {
    const registry = new ToolRegistry();
    const api = await serveApi();
    const options = { registry, variables: toVariables({ FILES_KEY: KEY, FILESYSTEM_ROOT: folder.path() }) };
    await using http = await inFront(sourceOf("OpenAPI", api), options);
    await using all = await inFront({ name: "all", transport: "mcp", ...startOf(everything(folder.path())) }, options);
    const sources = (): ReadonlySet<string> => new Set(registry.list().map(({ extra }) => extra.namespace));
    expect(sources()).toEqual(new Set(["files", "all"]));
    await all.node.close();
    expect(sources()).toEqual(new Set(["files"]));
    expect(http.node.getTools().length).toBeGreaterThan(0);
  });
});
