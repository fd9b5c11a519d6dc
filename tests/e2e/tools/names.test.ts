/** Sources that cannot be taken, and sources that share their names with others. */
import { expect, test } from "vitest";
import { ToolNode, ToolRegistry, variablesOf } from "../../../web/src/tools-node.js";
import { useFolder } from "../servers/folder.js";
import { everything, filesystem } from "../servers/programs.js";
import { KEY, serveApi, sourceOf } from "./api.js";
import { serveTools, text } from "./faulty-server.js";
import { inFront, startOf } from "./in-front.js";

const folder = useFolder();

test.each<[string, string]>([
  ["no JSON", "<html>Sign in</html>"],
  ["another document", '{"hello":"world"}'],
  ["tools that are none", '{"utcp_version":"1.0.1","tools":"all"}'],
  ["a tool without a name", '{"utcp_version":"1.0.1","tools":[{"tool_call_template":{"call_template_type":"http"}}]}'],
  [
    "a tool without an address",
    '{"utcp_version":"1.0.1","tools":[{"name":"a","tool_call_template":{"call_template_type":"http"}}]}',
  ],
])("a manual of %s is told of at connect, with what to do about it", async (_, manual) => {
  const api = await serveApi();
  api.manual = manual;
  const config = { ...sourceOf("UTCP", api), name: "broken" };
  const error = await inFront(config, { variables: variablesOf({ FILES_KEY: KEY }) }).catch(
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
    list_directory: { answer: () => text("mine") },
    fresh: { answer: () => text("") },
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
  const error = await inFront(sourceOf("UTCP", api), { variables: variablesOf({ FILES_KEY: KEY }) }).catch(
    (thrown: unknown) => thrown,
  );
  expect(error).toMatchObject({
    code: "E_TOOL_CONFIG",
    message: expect.stringMatching(
      /no tool in its document that can be offered: not "a" of the type http, "a" of the type http, since /,
    ) as string,
  });
});

test("many sources share one registry, and each is closed by itself", async () => {
  const registry = new ToolRegistry();
  const api = await serveApi();
  const options = { registry, variables: variablesOf({ FILES_KEY: KEY, FILESYSTEM_ROOT: folder.path() }) };
  await using http = await inFront(sourceOf("OpenAPI", api), options);
  await using all = await inFront({ name: "all", transport: "mcp", ...startOf(everything(folder.path())) }, options);
  const sources = (): ReadonlySet<string> => new Set(registry.list().map(({ extra }) => extra.namespace));
  expect(sources()).toEqual(new Set(["files", "all"]));
  await all.node.close();
  expect(sources()).toEqual(new Set(["files"]));
  expect(http.node.getTools().length).toBeGreaterThan(0);
});
