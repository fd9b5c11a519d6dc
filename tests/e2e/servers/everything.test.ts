/** The reference server that has everything, behind the proxy. */
import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { alone, behindProxy, DRIVERS, type Conversation, type Driver } from "./behind.js";
import { bytesOf, expectStored, uriIn } from "./expectations.js";
import { FILES, useFolder } from "./folder.js";
import { leaksIn } from "./leaks.js";
import { everything } from "./programs.js";
import { useServer } from "./use-server.js";

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
