/**
 * The suite knows every way in: what is exported, offered, configured or routed is one that it goes, or none for a reason that
 * is given here.
 */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { COMMANDS } from "../../../web/src/cli/commands/commands.js";
import { createSluice } from "../../../web/src/index.js";
import { ReactPlanner } from "../../../web/src/planner.js";
import { readToolConfig, ToolNode } from "../../../web/src/tools-node.js";
import { WAYS } from "./ways.js";

/** What brings nothing to a model, by the reason. */
const NO_WAY_IN: Readonly<Record<string, readonly string[]>> = {
  "a store, or what keeps one": [
    "MemoryArtifactStore",
    "NoOpArtifactStore",
    "FileArtifactStore",
    "TieredArtifactStore",
    "RetainingArtifactStore",
    "ScopedArtifacts",
    "IndexedDbArtifactStore",
    "S3ArtifactStore",
    "s3StoreFrom",
    "discoverArtifactStore",
    "MemoryStateStore",
    "FileStateStore",
    "RedisStateStore",
    "MemoryTokenStore",
    "memoryState",
    "redisState",
    "MemoryArtifactSessions",
    "IndexedDbArtifactSessions",
    "endSession",
  ],
  "gives people what is stored": [
    "artifactHandler",
    "serveArtifacts",
    "artifactUrl",
    "safeFilename",
    "Sluice.restore",
    "Sluice.restoreStream",
    // Its answers are held to their bounds in tests/unit/mcp/artifact-reader.
    "Sluice.tools",
    "sluice restore",
    "sluice artifacts list",
    "sluice artifacts get",
    "sluice artifacts stat",
    "sluice artifacts delete",
    "sluice artifacts gc",
    "sluice artifacts purge",
    "sluice store check",
    "sluice store copy",
    "sluice files list",
    "sluice files put",
    "sluice files get",
    "sluice files rm",
    "sluice files rename",
    "route artifacts",
    "route files",
  ],
  // Its contents are those of a resource, and go the way of ToolNode.readResource: tests/unit/tools/prompts.test.ts.
  "gives what a person chose": ["ToolNode.getPrompt"],
  "looks at bytes that its caller has, or cuts a value without a store": [
    "Sluice.sniff",
    "Sluice.look",
    "Sluice.clamp",
    "Sluice.clampText",
    "sluice sniff",
  ],
  "a model, or a client of one": ["AiSdkClient", "OpenAiClient", "createScriptedModel"],
  "an error": [
    "SluiceError",
    "LlmError",
    "ToolConfigError",
    "ToolAuthError",
    "ToolClientError",
    "ToolConnectionError",
    "ToolNodeError",
    "ToolRateLimitError",
    "ToolServerError",
    "ToolTimeoutError",
    "FileTooLargeError",
    "InvalidPathError",
  ],
  "words, names and settings": [
    "Sluice.documents",
    "Sluice.tables",
    "humanSize",
    "cleanNamespace",
    "sameScope",
    "scopeKey",
    "readSourcesFile",
    "readToolConfig",
    "getPreset",
    "PresetRegistry",
    "presetNames",
    "registerPreset",
    "ToolRegistry",
    "fillTemplate",
    "templateVariables",
    "fileContext",
    "withFileContext",
    "archiveEntries",
    "extractEntry",
    "sluice completion",
    "sluice config",
    "sluice install",
    "sluice uninstall",
    "sluice doctor",
  ],
  "who asks": ["OAuthManager", "route oauth", "route sessions", "route pauses", "route usage"],
  "counts and times, without any content": ["useOpenTelemetry", "route metrics"],
  "folders and processes of tools": ["localWorkspaces", "buildSandboxCommand", "sluice run"],
  "users' files, of which a model is told by name alone": ["UserStorage"],
  "lists, questions and connections": [
    "ToolNode.name",
    "ToolNode.connect",
    "ToolNode.getTools",
    "ToolNode.listResources",
    "ToolNode.listResourceTemplates",
    "ToolNode.subscribe",
    "ToolNode.unsubscribe",
    "ToolNode.complete",
    "ToolNode.listPrompts",
    "ToolNode.listen",
    "ToolNode.close",
    "ToolNode.copies",
    "ToolNode.source",
    "sluice tools list",
    "sluice tools connect",
    "sluice tools disconnect",
    "sluice resources list",
    "sluice resources templates",
    "listen",
    "route events",
    "route health",
    "route ready",
    "route openapi.json",
    "route sources",
  ],
  "the same as a call of a tool, as events that are kept": ["route calls"],
  "the same as ReactPlanner.run, later or as events": [
    "ReactPlanner.stream",
    "ReactPlanner.streamOn",
    "ReactPlanner.resume",
    "route chat",
  ],
  // tests/unit/server/ways-in
  "the same as a call of a tool, in the form of MCP": ["route mcp"],
  "bytes as they are, for a page that has the gate itself": ["route raw"],
  "what a server says to applications, as it wrote it": ["ToolNode.request", "ToolNode.describeServer"],
};

/** The modules that are entries of the package; those of elements show people what is stored. */
const MODULES = {
  node: () => import("../../../web/src/node.js"),
  tools: () => import("../../../web/src/tools-node.js"),
  planner: () => import("../../../web/src/planner.js"),
  "planner/redis": () => import("../../../web/src/planner-redis.js"),
  files: () => import("../../../web/src/files.js"),
  serve: () => import("../../../web/src/serve.js"),
  "serve/redis": () => import("../../../web/src/serve-redis.js"),
  s3: () => import("../../../web/src/s3.js"),
  browser: () => import("../../../web/src/browser.js"),
};

function members(of: object): string[] {
  const names = new Set<string>();
  for (let at: object = of; at !== Object.prototype; at = Object.getPrototypeOf(at) as object) {
    for (const name of Object.getOwnPropertyNames(at)) names.add(name);
  }
  return [...names].filter((name) => name !== "constructor");
}

/** As the configuration itself says them. */
function transports(): string[] {
  try {
    readToolConfig({ name: "x", transport: "no such", connection: "x" });
    return [];
  } catch (error) {
    return [...String(error).matchAll(/"([a-z]+)"/g)]
      .map(([, name = ""]) => name)
      .filter((name) => name !== "transport");
  }
}

/** Every name under which something could come in. */
async function entries(): Promise<readonly string[]> {
  const modules = await Promise.all(Object.values(MODULES).map((load) => load()));
  const server = readFileSync(new URL("../../../web/src/server/sluice-server.ts", import.meta.url), "utf8");
  const routes = [...server.matchAll(/(?:\.route|mount)\("\/([\w.]+)"/g)].map(([, address]) => address);
  return [
    ...modules.flatMap((module) => Object.keys(module)),
    ...members(Object.getPrototypeOf(await createSluice()) as object).map((name) => `Sluice.${name}`),
    ...members(ToolNode.prototype).map((name) => `ToolNode.${name}`),
    ...members(ReactPlanner.prototype).map((name) => `ReactPlanner.${name}`),
    ...transports().map((name) => `transport ${name}`),
    ...COMMANDS.map(({ name }) => `sluice ${name}`),
    ...routes.map((name) => `route ${name}`),
  ];
}

test("every entry is one of the ways, or none for a reason", async () => {
  const known = [...WAYS.flatMap((way) => way.entries), ...Object.values(NO_WAY_IN).flat()];
  expect([...new Set(known)].sort()).toEqual([...new Set(await entries())].sort());
});

test("no way is a reason not to be one", () => {
  const others = new Set(Object.values(NO_WAY_IN).flat());
  expect(WAYS.flatMap((way) => way.entries).filter((entry) => others.has(entry))).toEqual([]);
});
