/** The fixture behind the proxy, in agents built on the adapters from npm: what reaches the model's API. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { base64Of } from "../fixture/bytes.mjs";
import { type Host, HOSTS, langChain, type Server } from "./adapters.js";
import { FakeModel, type Turn } from "./fake-model.js";
import { artifactsIn, conversation, encodedIn, failureIn } from "./prompts.js";

const ROOT = new URL("../../../", import.meta.url);
const COMMAND = fileURLToPath(new URL("dist/cli/main.js", ROOT));
const FIXTURE = fileURLToPath(new URL("tests/e2e/fixture/stdio.mjs", ROOT));
const SERVERS = new URL("tests/e2e/node_modules/@modelcontextprotocol/", ROOT);
const MEMORY = fileURLToPath(new URL("server-memory/dist/index.js", SERVERS));
const EVERYTHING = fileURLToPath(new URL("server-everything/dist/index.js", SERVERS));

let store: string;

beforeAll(async () => {
  store = await mkdtemp(join(tmpdir(), "sluice-hosts-"));
});

afterAll(async () => {
  await rm(store, { recursive: true });
});

const direct = (script: string): Server => ({ command: process.execPath, args: [script] });

const proxied = (script: string): Server => ({
  command: process.execPath,
  args: [COMMAND, "proxy", "--store", store, "--", process.execPath, script],
});

/** A call that gives content. */
interface Case {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** Whether something is diverted; left out where only the host's health counts. */
  readonly stored?: boolean;
}

const SMALL = { bytes: 200 };
const LARGE = { bytes: 60_000 };
// In text, less than 1,000 characters of encoding stay as they are.
const TINY = { bytes: 100 };

/**
 * Typed blocks are diverted whatever their size, and so is what Node's Buffer becomes in JSON. `app_bytes` is missing:
 * no model is meant to see what it gives.
 */
const CASES: readonly Case[] = [
  ...["image", "audio", "embedded_blob", "meta", "is_error", "render", "large"].flatMap((tool) => [
    { tool, args: SMALL, stored: true },
    { tool, args: LARGE, stored: true },
  ]),
  ...["png", "wav", "zip"].map((kind) => ({ tool: "embedded_blob", args: { ...LARGE, kind }, stored: true })),
  ...["structured", "structured_only", "json_text"].flatMap((tool) => [
    { tool, args: TINY, stored: false },
    { tool, args: LARGE, stored: true },
  ]),
  { tool: "byte_array", args: { bytes: 20 }, stored: true },
  { tool: "byte_array", args: LARGE, stored: true },
  { tool: "markdown", args: { bytes: 20 }, stored: false },
  { tool: "markdown", args: LARGE, stored: true },
  { tool: "text", args: SMALL, stored: false },
  { tool: "text", args: { bytes: 200_000 }, stored: true },
  { tool: "embedded_text", args: SMALL, stored: false },
  { tool: "embedded_text", args: LARGE, stored: true },
  { tool: "rows", args: { rows: 10 }, stored: false },
  { tool: "rows", args: { rows: 5_000 }, stored: true },
  { tool: "odd", args: {}, stored: false },
  { tool: "large", args: { bytes: 12_000_000 }, stored: true },
  ...["test_simple_text", "progress", "stray", "complain", "touch", "sha256"].map((tool) => ({
    tool,
    args: {},
    stored: false,
  })),
  { tool: "test_image_content", args: {}, stored: true },
  { tool: "test_audio_content", args: {}, stored: true },
  { tool: "test_embedded_resource", args: {}, stored: false },
  { tool: "test_multiple_content_types", args: {}, stored: true },
];

/** With links of the server's own, at which one adapter throws without the proxy. */
const LINKS: readonly Case[] = [
  { tool: "link", args: { count: 1 } },
  { tool: "link", args: { count: 12 } },
  { tool: "everything", args: SMALL, stored: true },
  { tool: "everything", args: LARGE, stored: true },
];

const DONE: Turn = { say: "done" };

/** Reads a value far behind what a sentence about the artifact would quote. */
function readLastName(prompt: string): Turn {
  return { call: "fixture_artifact_read", args: { uri: artifactsIn(prompt)[0], pointer: "/4999/name" } };
}

function greetArtifact(prompt: string): Turn {
  return { call: "greet", args: { name: `${artifactsIn(prompt)[0]}?as=base64` } };
}

/** Lets the model make one call. @returns the prompt with the result of the call */
async function prompted(model: FakeModel, host: Host, { tool, args }: Case): Promise<string> {
  model.follow({ call: tool, args }, DONE);
  expect(await host.ask("Go on.")).toBe("done");
  expect(model.prompts).toHaveLength(2);
  const prompt = model.prompts[1] ?? "";
  expect(failureIn(prompt)).toBeUndefined();
  return prompt;
}

describe.each(Object.entries(HOSTS))("%s", (name, open) => {
  let model: FakeModel;
  let host: Host;

  beforeAll(async () => {
    model = await FakeModel.start();
    host = await open(model.url, [proxied(FIXTURE)]);
  });

  afterAll(async () => {
    await host[Symbol.asyncDispose]();
    await model[Symbol.asyncDispose]();
  });

  test.each([...CASES, ...LINKS])("shows its model no bytes of $tool $args", async (given) => {
    const prompt = await prompted(model, host, given);
    for (const body of model.prompts) expect(encodedIn(body)).toBeUndefined();
    if (given.stored === undefined) return;
    expect(artifactsIn(prompt).length > 0).toBe(given.stored);
    expect(conversation(prompt).includes("[sluice]")).toBe(given.stored);
  });

  test("lets its model read what was stored", async () => {
    model.follow({ call: "rows", args: { rows: 5_000 } }, readLastName, DONE);
    expect(await host.ask("What is the last row called?")).toBe("done");
    expect(model.prompts[1]).not.toContain("row 4999");
    expect(model.prompts[2]).toContain("row 4999");
  });

  test("lets its model hand what was stored to another tool", async () => {
    model.follow({ call: "embedded_blob", args: { bytes: 60 } }, greetArtifact, DONE);
    expect(await host.ask("Greet the file.")).toBe("done");
    const sent = `Hello, ${base64Of("pdf", 60)}!`;
    expect(model.prompts[1]).not.toContain(base64Of("pdf", 60));
    expect(model.prompts[2]).toContain(sent);
  });

  test("starts with two proxies, and calls the tools of both", async () => {
    await using both = await open(model.url, [proxied(FIXTURE), proxied(MEMORY)]);
    await prompted(model, both, { tool: "read_graph", args: {} });
    const offered = model.prompts[0] ?? "";
    expect([...new Set(offered.match(/\b\w+_artifact_read\b/g))]).toHaveLength(2);
    const prompt = await prompted(model, both, { tool: "image", args: LARGE });
    expect(artifactsIn(prompt)).toHaveLength(1);
  });
});

test.each(Object.entries(HOSTS))("without the proxy, %s would show its model bytes", async (_name, open) => {
  await using model = await FakeModel.start();
  await using host = await open(model.url, [direct(FIXTURE)]);
  expect(encodedIn(await prompted(model, host, { tool: "json_text", args: LARGE }))).toBeDefined();
});

describe("LangChain and links of a server's own", () => {
  const links: Case = { tool: "get-resource-links", args: { count: 3 } };

  test("without the proxy it throws", async () => {
    await using model = await FakeModel.start();
    await using host = await langChain(model.url, [direct(EVERYTHING)]);
    model.follow({ call: links.tool, args: links.args }, DONE);
    await expect(host.ask("Go on.")).rejects.toThrow("file blocks");
  });

  test("behind the proxy it is told of them in words", async () => {
    await using model = await FakeModel.start();
    await using host = await langChain(model.url, [proxied(EVERYTHING)]);
    const prompt = await prompted(model, host, links);
    expect(conversation(prompt)).toContain("Link to a resource of this server");
  });

  test("with its setting for links it takes them, behind the proxy", async () => {
    await using model = await FakeModel.start();
    const options = { outputHandling: { resource_link: "artifact" } } as const;
    await using host = await langChain(model.url, [proxied(EVERYTHING)], options);
    expect(encodedIn(await prompted(model, host, links))).toBeUndefined();
  });
});
