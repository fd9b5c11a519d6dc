/** The reference server that has everything, through a ToolNode. */
import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { alone } from "../servers/behind.js";
import { FILES, useFolder } from "../servers/folder.js";
import { everything } from "../servers/programs.js";
import { bytesOf, frontOf, kept, SCOPE, seen, useFront } from "./in-front.js";

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
  expect(names.slice(-4, -1)).toEqual(["all.resources_list", "all.resources_read", "all.resources_templates_list"]);
  const listed = await front.call("all.resources_list");
  const [uri = ""] = /[a-z]+:\/\/[^"]+/.exec(listed.text) ?? [];
  expect((await front.call("all.resources_read", { uri })).text).toContain(uri);
  expect((await front.call("all.resources_templates_list")).text).toContain("{resourceId}");
});
