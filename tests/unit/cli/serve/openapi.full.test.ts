/** Clients of other hands, made of the document that a real server gives, and a server as a source of itself. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import openapiTS, { astToString } from "openapi-typescript";
import { expect, onTestFinished, test } from "vitest";
import { ToolNode } from "../../../../web/src/tools-node.js";
import { typeErrors } from "../../../support/strict-programs.js";
import { ROOT } from "../command.js";
import { EVERYTHING, begin, serve, type Served } from "./serving.js";

async function served(): Promise<Served> {
  const server = await serve(["--", ...EVERYTHING]);
  onTestFinished(() => server[Symbol.asyncDispose]());
  return server;
}

/** A client as its author writes it: it knows of the server what the generated types say. */
const CLIENT = `
import createClient from "openapi-fetch";
import type { paths } from "./paths.mjs";

export async function run(baseUrl: string) {
  const client = createClient<paths>({ baseUrl });
  const { data: session } = await client.POST("/sessions", { body: { token: true } });
  if (session?.token === undefined) throw new Error("no session");
  client.use({
    onRequest: ({ request }) => request.headers.set("authorization", \`Bearer \${session.token}\`),
  });

  const { data: tools } = await client.GET("/tools");
  const names = tools?.tools.map(({ name }) => name) ?? [];
  const { data: result } = await client.POST("/tools/{name}", {
    params: { path: { name: "everything.get-tiny-image" }, header: { Accept: "application/json" } },
    body: { args: {} },
  });
  if (result === undefined || typeof result === "string") throw new Error("no result");
  const [image] = result.artifacts;
  if (image === undefined) throw new Error("no image");

  const { data: bytes, response } = await client.GET("/artifacts/{id}", {
    params: { path: { id: image.id }, header: { Range: "bytes=1-3" } },
    parseAs: "text",
  });
  const { data: page } = await client.GET("/artifacts", { params: { query: { limit: 5 } } });
  const { error } = await client.GET("/artifacts/{id}/meta", { params: { path: { id: "web_0123456789ab" } } });
  const refused = await client.GET("/artifacts", { params: { query: { limit: 501 } } });
  const ended = await client.DELETE("/sessions/{id}", { params: { path: { id: "current" } } });
  return {
    names,
    type: image.mime_type,
    status: response.status,
    bytes,
    listed: page?.artifacts.map(({ id, stored_at }) => [id === image.id, stored_at > 0]),
    unknown: error?.error.code,
    refused: [refused.response.status, refused.error?.error.message],
    deleted: ended.data?.deleted_artifacts,
  };
}
`;

/** What the types do not allow. */
const WRONG = `
import createClient from "openapi-fetch";
import type { paths } from "./paths.mjs";

const client = createClient<paths>({ baseUrl: "http://127.0.0.1:4751" });
// @ts-expect-error there is no such address
await client.GET("/artefacts");
// @ts-expect-error the token is asked for by a boolean
await client.POST("/sessions", { body: { token: "yes" } });
// @ts-expect-error arguments are an object
await client.POST("/tools/{name}", { params: { path: { name: "a.b" } }, body: { args: "x" } });
// @ts-expect-error a file needs a name
await client.POST("/files", { body: "x" });
const { data } = await client.GET("/tools");
// @ts-expect-error tools have no such member
console.log(data?.tools[0]?.parameters);
`;

test(
  "a client whose types are generated compiles strictly, and calls a real server",
  { timeout: 120_000 },
  async () => {
    const { url } = await served();
    const types = astToString(await openapiTS(new URL(`${url}openapi.json`)));
    const programs = [
      ["paths", types],
      ["client", CLIENT],
      ["wrong", WRONG],
    ] as const;
    expect(await typeErrors("openapi", programs)).toEqual([]);

    const folder = await mkdtemp(join(ROOT, "build", "openapi-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    await writeFile(join(folder, "client.mts"), CLIENT);
    await writeFile(join(folder, "paths.mts"), types);
    const { run } = (await import(join(folder, "client.mts"))) as {
      run: (url: string) => Promise<Record<string, unknown>>;
    };
    expect(await run(url.replace(/\/$/, ""))).toEqual({
      names: expect.arrayContaining(["everything.echo", "everything.get-tiny-image"]) as unknown,
      type: "image/png",
      status: 206,
      bytes: "PNG",
      listed: [[true, true]],
      unknown: "E_NOT_FOUND",
      refused: [400, "The parameter limit must be a whole number of at most 500."],
      deleted: 1,
    });
  },
);

test("a server is a source of tools by its document, even to another server", { timeout: 60_000 }, async () => {
  const { url } = await served();
  const session = await begin(url);
  const token = session.headers["authorization"]?.replace("Bearer ", "") ?? "";
  const node = new ToolNode({
    name: "self",
    transport: "http",
    connection: `${url}openapi.json`,
    auth_type: "bearer",
    auth_config: { token },
  });
  onTestFinished(() => node.close());
  await node.connect();
  const names = node.getTools().map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(["self.listTools", "self.callTool", "self.uploadArtifact"]));

  const call = async (name: string, args: Record<string, unknown> = {}): Promise<unknown> =>
    (await node.call(`self.${name}`, args)).value;
  expect(await call("checkHealth")).toEqual({ status: "ok" });
  expect(await call("showSession", { id: "current" })).toMatchObject({ id: session.id });
  const args = { name: "everything.echo", Accept: "application/json", body: { args: { message: "hello" } } };
  expect(await call("callTool", args)).toMatchObject({
    is_error: false,
    observation: expect.stringContaining("hello") as unknown,
  });
  const read = await call("listArtifacts", { limit: 1 });
  expect(read).toEqual({ artifacts: [] });
});
