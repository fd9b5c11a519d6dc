/** Servers for files, PDFs, images, databases and graphs, through a ToolNode. */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { alone } from "../servers/behind.js";
import { FILES, useFolder } from "../servers/folder.js";
import { filesystem, imageExtractor, memory, pdfReader, pdfViewer, sqlite, type Server } from "../servers/programs.js";
import { bytesOf, frontOf, kept, seen, useFront } from "./in-front.js";

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
    expect(await seen(front, await front.call("read_media_file", { path: folder.path(name) }))).toEqual(kept(original));
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
