/** The reference server for files behind the proxy: base64 in both halves of a result, under a strict schema. */
import { readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { behindProxy, DRIVERS } from "./behind.js";
import { expectStored, uriIn } from "./expectations.js";
import { FILES, useFolder } from "./folder.js";
import { filesystem } from "./programs.js";
import { useServer } from "./use-server.js";

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
