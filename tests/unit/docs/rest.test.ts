/** The page on REST: its reference is what a server says of itself, and its prose names what there is. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { REST_MARKER, restReference } from "../../../scripts/docs/rest-reference.mjs";
import { MemoryArtifactStore } from "../../../web/src/index.js";
import { OpenAiClient } from "../../../web/src/planner.js";
import { SluiceServer } from "../../../web/src/serve.js";
import { REFUSED, toSaidError } from "../../../web/src/server/http/refusals.js";
import { BodyRefused } from "../../../web/src/server/http/request.js";
import { StoreLate } from "../../../web/src/server/http/time-limit.js";
import { ROOT } from "../cli/command.js";
import { Description } from "../server/routes/openapi.js";
import { answers } from "./answers.js";

const server = new SluiceServer({
  store: new MemoryArtifactStore(),
  filesStore: new MemoryArtifactStore(),
  llm: new OpenAiClient({ model: "none", baseUrl: "http://127.0.0.1:9/v1" }),
  metrics: {},
  oidc: { issuer: "https://id.example" },
  publicUrl: "https://sluice.example",
});
const description = await Description.of(server);
await server[Symbol.asyncDispose]();

describe("the reference", () => {
  const reference = restReference(description.document);
  const { schemas, responses } = description.document["components"] as {
    readonly schemas: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
    readonly responses: Readonly<Record<string, unknown>>;
  };

  test("has a place on the page", async () => {
    const page = await readFile(join(ROOT, "docs/rest.md"), "utf8");
    expect(page.split(REST_MARKER)).toHaveLength(2);
    expect(page.endsWith(`${REST_MARKER}\n`)).toBe(true);
  });

  test.each(description.operations)("has $operationId with all that it takes and answers", (operation) => {
    const { method, path, operationId, summary, parameters, requestBody, responses: answered } = operation;
    const [, part = ""] = reference.split(`#### ${summary}\n`);
    const [own = ""] = part.split("\n#");
    expect(own).toContain(`\`${method.toUpperCase()} ${path.slice(1)}\`, called \`${operationId}\``);
    for (const { name, in: where } of parameters) {
      expect(own).toContain({ query: `\`?${name}=\``, path: `\`{${name}}\``, header: `\`${name}\` (header)` }[where]);
    }
    const body = requestBody?.content["application/json"]?.schema["properties"] ?? {};
    for (const name of Object.keys(body)) expect(own).toContain(`  - \`${name}\``);
    for (const status of Object.keys(answered)) expect(own).toMatch(new RegExp(`^- (?:Refused: .*)?${status}\\b`, "m"));
  });

  test("has every schema, every event, and every refusal", () => {
    for (const [name, { oneOf, anyOf, properties = {} }] of Object.entries(schemas)) {
      const [, part = ""] = reference.split(`#### ${name}\n`);
      for (const member of Object.keys(properties as object)) expect(part).toContain(`- \`${member}\``);
      const events = (oneOf ?? anyOf ?? []) as readonly { properties: { kind: { const?: string } } }[];
      for (const { kind } of events.map((event) => event.properties)) {
        expect(part).toContain(`| ${kind.const === undefined ? "any" : `\`${kind.const}\``} |`);
      }
    }
    for (const { status, code, when } of REFUSED) {
      expect(Object.keys(responses)).toContain(`${status}`);
      const row = reference.split("\n").find((line) => line.startsWith(`| ${status} |`));
      expect(row).toContain(`\`${code}\``);
      expect(row).toContain(when);
    }
  });

  test("says nothing twice, and leaves nothing open", () => {
    const headings: readonly string[] = reference.match(/^#+ .*$/gm) ?? [];
    expect(headings.length).toBeGreaterThan(40);
    expect(headings.filter((heading, at) => headings.indexOf(heading) !== at)).toEqual([]);
    expect(reference).not.toMatch(/undefined|\[object|null\b.*unless given/);
  });
});

describe("the refusals", () => {
  /** Status and code that an error is told by. */
  function said(error: unknown): string {
    const { status, code } = toSaidError(error, () => undefined);
    return `${status} ${code}`;
  }

  const told = REFUSED.map(({ status, code }) => `${status} ${code}`);

  test("are those that a server answers with, and no other", async () => {
    const bodies = ([400, 408, 413, 415] as const).map((status) => said(new BodyRefused(status, "")));
    const pairs = (await answers()).flatMap(({ status, code }) => (code === undefined ? [] : [`${status} ${code}`]));
    const all = [...pairs, ...bodies, said(new StoreLate()), said(new Error("a fault"))];
    expect([...new Set(told)].toSorted()).toEqual([...new Set(all)].toSorted());
    expect(told.filter((each, at) => told.indexOf(each) !== at)).toEqual([]);
  });

  test("leave no status out that is answered with", async () => {
    const statuses = (await answers()).map(({ status }) => status);
    expect(told.map((each) => each.slice(0, 3))).toEqual(expect.arrayContaining([...new Set(statuses)]));
  });
});

describe("an address that a page names", async () => {
  const names = (await readdir(join(ROOT, "docs"))).filter((name) => name.endsWith(".md"));
  const pages = await Promise.all(
    ["README.md", ...names.map((name) => `docs/${name}`)].map(
      async (path) => [path, await readFile(join(ROOT, path), "utf8")] as const,
    ),
  );
  const known = new Set(
    description.operations.map(({ method, path }) => `${method.toUpperCase()} ${plain(path.slice(1))}`),
  );

  /** The same address, whatever its parts are called. */
  function plain(path: string): string {
    return path.replace(/[?#].*$/, "").replace(/\{\w+\}|(?<=^sessions\/)current/g, "{}");
  }

  const named = pages.flatMap(([page, text]) =>
    [...text.matchAll(/`(GET|POST|PUT|PATCH|DELETE) ([a-z][^ `]*)/g)].map(
      ([, method = "", path = ""]) => [page, `${method} ${plain(path)}`] as const,
    ),
  );

  test("is one that there is", () => {
    expect(named.length).toBeGreaterThan(25);
    expect(named.filter(([, address]) => !known.has(address))).toEqual([]);
  });
});
