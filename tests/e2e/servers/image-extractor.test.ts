/** A server for images behind the proxy: what it gave goes back into it as base64. */
import { describe, expect, test } from "vitest";
import { alone, behindProxy, DRIVERS } from "./behind.js";
import { expectStored, uriIn } from "./expectations.js";
import { FILES, useFolder } from "./folder.js";
import { imageExtractor } from "./programs.js";
import { useServer } from "./use-server.js";
import { isFull } from "../../support/full.js";

const folder = useFolder();

/** It writes every image anew, the same way always. */
async function written(tool: string, args: object): Promise<Buffer> {
  await using server = await alone(imageExtractor(folder.path()));
  const { content } = await server.call(tool, args);
  return Buffer.from(content.find(({ type }) => type === "image")?.data ?? "", "base64");
}

describe.runIf(isFull).each(DRIVERS)("%s", (driver) => {
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
