import { describe, expect, test } from "vitest";
import { MemoryArtifactStore } from "../../../../web/src/index.js";
import { memoryState, SluiceServer, type SluiceServerOptions } from "../../../../web/src/serve.js";
import { Announcer } from "../../../../web/src/server/sessions/announcer.js";
import { ServedSources } from "../../../../web/src/server/sources/served-sources.js";
import type { ExternalToolConfig } from "../../../../web/src/tools-node.js";
import { CHANGING, program, served, visitor } from "./serving.js";
import { refused } from "../visitor.js";

interface Made extends AsyncDisposable {
  readonly sources: ServedSources;
  readonly errors: readonly unknown[];
}

function made(sources: readonly ExternalToolConfig[], variables: Record<string, string> = {}): Made {
  const state = memoryState();
  const errors: unknown[] = [];
  const report = (error: unknown): void => void errors.push(error);
  const given = new ServedSources({
    sources,
    variables,
    store: new MemoryArtifactStore(),
    userFiles: null,
    state,
    announcer: new Announcer(state.events, report),
    report,
    over: new AbortController().signal,
  });
  return { sources: given, errors, [Symbol.asyncDispose]: () => given[Symbol.asyncDispose]() };
}

const wrong = (options: Partial<SluiceServerOptions>): unknown => {
  try {
    return new SluiceServer({ store: new MemoryArtifactStore(), ...options });
  } catch (error) {
    return error;
  }
};

describe("a configuration that is wrong", () => {
  test.each([
    ["a key that there is not", [{ ...program("own"), transprot: "mcp" }], "E_TOOL_CONFIG", "sources[0].transprot"],
    ["a value", [program("own"), program("no.name")], "E_TOOL_CONFIG", "sources[1].name"],
    ["two of one name", [program("own"), program("own")], "E_INVALID_ARGUMENT", "sources[1].name"],
    [
      "files without a place",
      [program("own", CHANGING, { user_files: true })],
      "E_INVALID_ARGUMENT",
      "sources[0].user_files",
    ],
  ])("%s is an error that names the place", (_, sources, code, path) => {
    expect(wrong({ sources: sources as readonly ExternalToolConfig[] })).toMatchObject({ code, path });
  });
});

test("sources that can be had are given, and why the others cannot is reported", async () => {
  await using here = made([program("own", CHANGING), program("gone", "/nowhere/at-all")]);
  expect(here.sources.names).toEqual(["own", "gone"]);
  const nodes = await here.sources.planned({ scope: { user_id: "ada" } });
  expect(nodes.map(({ name }) => name)).toEqual(["own"]);
  expect(here.errors).toMatchObject([{ code: "E_TOOL_CONNECTION" }]);
});

test("all share a source where nobody has anything of their own in it", async () => {
  await using here = made([program("own", CHANGING)]);
  const [ada, bob] = await Promise.all(
    ["ada", "bob"].map((user_id) => here.sources.get("own", { scope: { user_id } })),
  );
  expect(ada).toBe(bob);
});

test("each user has a node of their own where they have files in it", async () => {
  const { server } = served({
    sources: [program("own", CHANGING, { user_files: true })],
    filesStore: new MemoryArtifactStore(),
  });
  const pid = async (user: string): Promise<unknown> => {
    const by = await visitor({ server }, user);
    const headers = { "content-type": "application/json", accept: "application/json" };
    return by.json("/tools/own.pid", { method: "POST", body: "{}", headers });
  };
  const [ada, again, bob] = [await pid("ada"), await pid("ada"), await pid("bob")];
  expect(again).toEqual(ada);
  expect(bob).not.toEqual(ada);
});

test("once the server is closed its programs are gone", async () => {
  const { server } = served({ sources: [program("own", CHANGING)] });
  const { observation } = await (
    await visitor({ server })
  ).json<{ observation: string }>("/tools/own.pid", {
    method: "POST",
    body: "{}",
    headers: { "content-type": "application/json", accept: "application/json" },
  });
  const pid = Number(JSON.parse(observation));
  expect(isAlive(pid)).toBe(true);
  await server[Symbol.asyncDispose]();
  await expect.poll(() => isAlive(pid)).toBe(false);
});

test("a source that there is not is E_NOT_FOUND", async () => {
  await using here = made([]);
  await expect(here.sources.get("own", {})).rejects.toMatchObject({ code: "E_NOT_FOUND" });
  await expect(here.sources.get("__proto__", {})).rejects.toMatchObject({ code: "E_NOT_FOUND" });
});

test("variables that are given are filled in, and one that is missing is named", async () => {
  await using here = made([program("own", CHANGING, { env: { OWN_TOKEN: "${TOKEN}" } }), program("other", "${GONE}")], {
    TOKEN: "t0",
  });
  const node = await here.sources.get("own", {});
  expect((await node.call("token")).value).toBe("t0");
  await expect(here.sources.get("other", {})).rejects.toMatchObject({
    code: "E_TOOL_AUTH",
    message: expect.stringContaining("GONE"),
  });
});

test("what a program writes to its standard error is reported, shortened", async () => {
  await using here = made([program("own")]);
  const node = await here.sources.get("own", {});
  await node.call("complain", { line: `warning: \u001b[31m${"x".repeat(10_000)}` });
  await expect.poll(() => here.errors.length).toBeGreaterThan(0);
  const [{ message }] = here.errors as [Error];
  expect(message).toMatch(/^The source own writes to its standard error: warning: \[31mx+$/);
  expect(message.length).toBeLessThan(2100);
});

test("what sources there are is told, and what else is served", async () => {
  const secret = "a secret of thirty-two characters";
  const ada = await visitor(served({ sources: [program("own", CHANGING, { description: "Of ours." })], secret }));
  expect(await ada.json("/sources")).toEqual({
    sources: [{ name: "own", transport: "mcp", description: "Of ours.", asks_consent: false, has_mcp: false }],
    chat: false,
    files: false,
  });
  expect(JSON.stringify(await ada.json("/sources"))).not.toContain("changing-server");
  const answer = await ada.ask("/sources/nowhere/connection", { method: "POST" });
  expect(await answer.text()).toContain('"code":"E_NOT_FOUND"');
});

test("without a session nothing of a source is told", async () => {
  const { server } = served({ sources: [program("own", CHANGING)] });
  const asked = [
    ["GET", "/sources"],
    ["POST", "/sources/own/connection"],
    ["GET", "/tools"],
    ["POST", "/tools/own.echo"],
    ["GET", "/resources/own"],
    ["GET", "/resources/own/a%3Ab"],
    ["GET", "/resources/own/templates"],
    ["GET", "/resources/own/completions"],
    ["PUT", "/resources/own/a%3Ab/subscription"],
    ["DELETE", "/resources/own/a%3Ab/subscription"],
    ["POST", "/pauses/AAAAAAAAAAAAAAAAAAAAAA"],
  ] as const;
  for (const [method, path] of asked) {
    const answer = await server.fetch(new Request(`http://127.0.0.1:8080${path}`, { method }));
    expect([path, ...(await refused(answer))]).toEqual([path, 401, "E_SESSION"]);
  }
});

test("pages of other origins get nothing", async () => {
  const { server } = served({ sources: [program("own", CHANGING)] });
  const ada = await visitor({ server });
  for (const path of ["/tools/own.echo", "/pauses/AAAAAAAAAAAAAAAAAAAAAA", "/sources/own/connection"]) {
    const answer = await ada.ask(path, { method: "POST", headers: { origin: "https://evil.example" } });
    expect(await refused(answer)).toEqual([403, "E_FORBIDDEN"]);
  }
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
