/** HTTP APIs and UTCP manuals through a ToolNode. */
import { describe, expect, onTestFinished, test } from "vitest";
import { variablesOf } from "../../../web/src/tools-node.js";
import { FILES } from "../servers/folder.js";
import { KEY, serveApi, sourceOf, type Api, type Kind } from "./api.js";
import { inFront, kept, seen, type Fronted } from "./in-front.js";

describe.each<Kind>(["OpenAPI", "UTCP"])("an API described by %s", (kind) => {
  async function setting(): Promise<{ readonly api: Api; readonly front: Fronted }> {
    const api = await serveApi();
    const front = await inFront(sourceOf(kind, api), { variables: variablesOf({ FILES_KEY: KEY }) });
    onTestFinished(() => front[Symbol.asyncDispose]());
    return { api, front };
  }

  test("files arrive byte for byte, whatever they are", async () => {
    const { front } = await setting();
    for (const [name, original] of Object.entries(FILES)) {
      expect(await seen(front, await front.call("get_file", { name }))).toEqual(kept(original));
    }
    const { text: told } = await front.call("get_file", { name: "report.pdf" });
    expect(told).toContain("PDF");
    expect(told).not.toContain(KEY);
  });

  test("a file inside of JSON is taken out, and the rest is shown", async () => {
    const { front } = await setting();
    const result = await front.call("rows");
    expect(await seen(front, result)).toEqual(kept(FILES["photo.png"]));
    expect(result.value).toMatchObject({ rows: [{ name: "photo.png" }] });
  });

  test("429 and 500 are tried again, 404 and a wrong key are not", async () => {
    const { api, front } = await setting();
    api.refuses.push({ status: 429, headers: { "retry-after": "0" } }, { status: 500 });
    expect(await seen(front, await front.call("get_file", { name: "photo.png" }))).toEqual(kept(FILES["photo.png"]));
    expect(front.events.map(({ kind: what }) => what)).toEqual(["retry", "retry", "stored"]);
    api.asked.length = 0;
    const missing = await front.call("get_file", { name: "nothing" }).catch((error: unknown) => error);
    expect(missing).toMatchObject({ code: "E_TOOL_CLIENT", status: 404 });
    api.refuses.push({ status: 401 });
    const unknown = await front.call("rows").catch((error: unknown) => error);
    expect(unknown).toMatchObject({ code: "E_TOOL_AUTH", status: 401 });
    expect(`${String(missing)}${String(unknown)}`).not.toMatch(/hunter2|s3cret/);
    expect(api.asked).toHaveLength(2);
  });

  test("a file that breaks off in the middle is asked for again, and nothing of the half is kept", async () => {
    const { api, front } = await setting();
    api.refuses.push({ status: "half" });
    expect(await seen(front, await front.call("get_file", { name: "photo.png" }))).toEqual(kept(FILES["photo.png"]));
    const sizes: number[] = [];
    for await (const { size_bytes } of front.store.list()) sizes.push(size_bytes);
    expect(sizes).toEqual([FILES["photo.png"].length]);
  });

  test("without a value for its variable it is not connected, and nobody is asked", async () => {
    const api = await serveApi();
    const error = await inFront(sourceOf(kind, api), { variables: variablesOf({}) }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "E_TOOL_AUTH", message: expect.stringContaining("FILES_KEY") as string });
    expect(api.asked).toEqual([]);
  });
});

test("an API sends what it was sent", async () => {
  const api = await serveApi();
  await using front = await inFront(sourceOf("OpenAPI", api), { variables: variablesOf({ FILES_KEY: KEY }) });
  expect((await front.call("echo", { body: { a: 1, b: [null] } })).value).toEqual({ a: 1, b: [null] });
});
