/** What the adapters tell a server of themselves, and give their models of a result: rows of `web/src/mcp/host-profiles.ts`. */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createSluice } from "../../../web/src/index.js";
import { FileArtifactStore } from "../../../web/src/node.js";
import { HOSTS, type OpenHost } from "./adapters.js";
import { FakeModel } from "./fake-model.js";
import { encodedIn, toolResult, type ShownResult } from "./prompts.js";

const COMMAND = fileURLToPath(new URL("../../../dist/cli/main.js", import.meta.url));
const FIXTURE = fileURLToPath(new URL("../fixture/stdio.mjs", import.meta.url));
const RECORDER = fileURLToPath(new URL("recorder.mjs", import.meta.url));

/** The image that the fixture's `test_image_content` gives, alone. */
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
const IMAGE = { type: "image", data: PNG, mimeType: "image/png" };

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "sluice-clients-"));
});

afterAll(async () => {
  await rm(folder, { recursive: true });
});

const DIRECT = [FIXTURE];
const proxied = (...options: readonly string[]): readonly string[] => [
  COMMAND,
  "proxy",
  "--store",
  join(folder, "store"),
  ...options,
  "--",
  process.execPath,
  FIXTURE,
];

/** Lets a host's model call a tool. @returns what the model is given as the result */
async function shown(open: OpenHost, args: readonly string[], tool: string, given: object = {}): Promise<ShownResult> {
  await using model = await FakeModel.start();
  await using host = await open(model.url, [{ command: process.execPath, args }]);
  model.follow({ call: tool, args: { ...given } }, { say: "done" });
  await host.ask("Go on.");
  return toolResult(model.prompts[1] ?? "");
}

const host = (name: string): OpenHost => HOSTS[name] as OpenHost;

test.each([
  ["LangChain", "@langchain/mcp-adapters"],
  ["Vercel AI SDK", "ai-sdk-mcp-client"],
  // The name that its user gives the server, so that nobody can tell it from others.
  ["OpenAI Agents, responses", "server-0"],
])("%s introduces itself as %s", async (name, clientName) => {
  const file = join(folder, `${clientName.replaceAll("/", "-")}.log`);
  await shown(host(name), [RECORDER, file], "test_simple_text");
  const [first = ""] = (await readFile(file, "utf8")).split("\n");
  const said = JSON.parse(first) as { readonly method: string; readonly params: { readonly clientInfo: object } };
  expect(said).toMatchObject({ method: "initialize", params: { clientInfo: { name: clientName } } });
});

describe("LangChain", () => {
  const open = host("LangChain");

  test("gives its model _meta and structuredContent of a result with one text", async () => {
    const { text } = await shown(open, proxied(), "structured_only", { bytes: 60_000 });
    expect(JSON.parse(text)).toMatchObject({
      type: "text",
      structuredContent: { name: "report.pdf" },
      meta: { "sluice/refs": expect.any(String) as string },
    });
  });

  test("so the references of an image are one short line, and restore works by what the model saw", async () => {
    const { text, images } = await shown(open, proxied(), "test_image_content");
    const { meta, ...block } = JSON.parse(text) as { readonly text: string; readonly meta: object };
    expect(images).toBe(0);
    expect(block.text).toMatch(/^\[sluice\] PNG image/);
    // The rest is braces, and `"meta":{"sluice/refs":"fixture_…"}`.
    expect(text.length - JSON.stringify(block.text).length).toBeLessThan(80);
    const sluice = await createSluice({ store: new FileArtifactStore(join(folder, "store")) });
    expect(await sluice.restore({ content: [block], _meta: meta })).toEqual({ content: [IMAGE] });
  });

  test("puts an image into a message of a tool, which not every model's API takes: so it stays stored", async () => {
    expect(await shown(open, DIRECT, "test_image_content")).toMatchObject({ images: 1 });
    expect(await shown(open, proxied(), "test_image_content")).toMatchObject({ images: 0 });
  });
});

test("the Vercel AI SDK may give its model an image as base64 text: so it stays stored", async () => {
  const open = host("Vercel AI SDK");
  const direct = await shown(open, DIRECT, "image", { bytes: 2000 });
  expect([direct.images, encodedIn(direct.body)]).toEqual([0, expect.any(String)]);
  const behind = await shown(open, proxied(), "image", { bytes: 2000 });
  expect(encodedIn(behind.body)).toBeUndefined();
  expect(behind.text).not.toContain("sluice/refs");
});

describe("OpenAI Agents, which nobody can tell from others", () => {
  test.each([
    ["OpenAI Agents, responses", 1],
    ["OpenAI Agents, chat completions", 0],
  ])("%s: an image reaches the model %i times where --inline-images asks for it", async (name, images) => {
    expect(await shown(host(name), proxied(), "test_image_content")).toMatchObject({ images: 0 });
    const asked = await shown(host(name), proxied("--inline-images"), "test_image_content");
    expect(asked.images).toBe(images);
    expect(asked.text).toContain("artifact://fixture_");
    expect(asked.text).not.toContain("sluice/refs");
  });
});
