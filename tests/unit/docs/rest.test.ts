/** The page of REST and events has every address, event, status and code that a server answers with, and no other. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import ts from "typescript";
import { beforeAll, describe, expect, test } from "vitest";
import { MemoryArtifactStore } from "../../../web/src/index.js";
import { OpenAiClient } from "../../../web/src/planner.js";
import { SluiceServer } from "../../../web/src/serve.js";
import { PAGE } from "../../../web/src/server/artifacts/page.js";
import { EVENTS_LOST } from "../../../web/src/server/sessions/event-log.js";
import { StoreLate } from "../../../web/src/server/http/time-limit.js";
import { BodyRefused } from "../../../web/src/server/http/request.js";
import { saidOf } from "../../../web/src/server/http/refusals.js";
import { ROOT } from "../cli/command.js";
import { Visitor } from "../server/visitor.js";
import { answers, found, typeIn } from "./answers.js";

const page = await readFile(join(ROOT, "docs/rest.md"), "utf8");

/** The cells of all tables whose first column has this name. */
function table(name: string): readonly (readonly string[])[] {
  const rows: (readonly string[])[] = [];
  let isIn = false;
  for (const line of page.split("\n")) {
    const cells = line.startsWith("|") ? line.split(" | ").map((cell) => cell.replace(/^\| ?| ?\|$/g, "")) : [];
    if (cells.length === 0) isIn = false;
    else if (cells[0] === name) isIn = true;
    else if (isIn && !line.startsWith("|-")) rows.push(cells);
  }
  return rows;
}

const codeIn = (cell: string): readonly string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code);

interface Address {
  /** `ANY` where all are the source's own affair. */
  readonly method: string;
  /** Without what stands behind `?`. */
  readonly path: string;
}

/** Several methods of one address stand before it; several addresses behind one method. */
function addressesIn(cell: string): readonly Address[] {
  let methods: readonly string[] = [];
  let isOpen = false;
  return codeIn(cell).flatMap((code) => {
    const [, method, path = ""] = /^(?:([A-Z]+)(?: |$))?([a-z][^ ?]*)?/.exec(code) ?? [];
    if (method !== undefined) methods = isOpen ? [...methods, method] : [method];
    isOpen = path === "";
    if (path === "") return [];
    return (methods.length === 0 ? ["ANY"] : methods).map((each) => ({ method: each, path }));
  });
}

const shown = table("request").flatMap(([cell = ""]) => addressesIn(cell));

/** The same address, whatever its parts are called. */
const plain = ({ method, path }: Address): string =>
  `${method} ${path.replace(/\{\w+\}|:\w+|(?<=^sessions\/)current/g, "{}").replace(/\/$/, "")}`;

/** The addresses that are mounted, as the sources of the routes have them. */
async function mounted(): Promise<readonly string[]> {
  const folder = join(ROOT, "web/src/server/routes");
  const files = await Promise.all((await readdir(folder)).map((name) => readFile(join(folder, name), "utf8")));
  const server = await readFile(join(ROOT, "web/src/server/sluice-server.ts"), "utf8");
  return [...server.matchAll(/\.route\("\/(\w+)", (\w+)\(/g)].flatMap(([, room = "", routes = ""]) => {
    const [, source = ""] = files.map((text) => text.split(`export function ${routes}(`)).find(([, own]) => own) ?? [];
    if (room === "mcp") return ["ANY mcp/{}"];
    const [own = ""] = source.split("\n}\n", 1);
    const methods = /"(\/[^"]*)": \{|[\s{](get|post|put|patch|delete)(?=:| \})|\.get\("(\/[^"]*)"/g;
    let path = "";
    return [...own.matchAll(methods)].flatMap(([, inTable, method, alone]) => {
      path = inTable ?? alone ?? path;
      if (inTable !== undefined) return [];
      return [plain({ method: (method ?? "get").toUpperCase(), path: room + path })];
    });
  });
}

describe("the addresses", () => {
  let server: SluiceServer;
  beforeAll(() => {
    server = new SluiceServer({
      store: new MemoryArtifactStore(),
      filesStore: new MemoryArtifactStore(),
      llm: new OpenAiClient({ model: "none", baseUrl: "http://127.0.0.1:9/v1" }),
      mcp: { names: new Set(["lab"]), answer: async () => new Response("its own"), end: async () => undefined },
    });
    return () => server[Symbol.asyncDispose]();
  });

  test("are those that are mounted, and no other", async () => {
    expect(shown.length).toBeGreaterThan(30);
    expect([...new Set(shown.map(plain))].sort()).toEqual([...new Set(await mounted())].sort());
  });

  test.each(shown)("$method $path is served", async ({ method, path }) => {
    const visitor = await Visitor.of(server);
    const asked = path.replace("{source}", "lab").replace(/\{\w+\}/g, "web_0123456789ab");
    const answer = await visitor.ask(`/${asked}`, { method: method === "ANY" ? "POST" : method });
    expect(answer.status).not.toBe(405);
    if (/event-stream/.test(answer.headers.get("content-type") ?? "")) return answer.body?.cancel();
    expect(await answer.text()).not.toContain("Nothing is served at this address");
    return undefined;
  });

  test("tell how long a page of the list is", () => {
    expect(page).toContain(`\`?limit=\`, ${PAGE.usual} unless it is said, ${PAGE.most} at most`);
  });
});

test("the events of a session are those that it is told, and no other", async () => {
  const type = await typeIn("web/src/server/sessions/announcer.ts", "SessionEvent");
  const kinds = found(type, (node) =>
    ts.isPropertySignature(node) && node.name.getText() === "kind" ? node.type?.getText().slice(1, -1) : undefined,
  );
  const told = table("event").map(([cell = ""]) => codeIn(cell)[0]);
  expect(new Set(told)).toEqual(new Set([...kinds, EVENTS_LOST.kind]));
});

/** Status and code that an error is told by. */
function said(error: unknown): string {
  const { status, code } = saidOf(error, () => undefined);
  return `${status} ${code}`;
}

describe("the statuses", () => {
  const told = table("status").flatMap(([statuses = "", codes = ""]) =>
    statuses.split(", ").flatMap((status) => codeIn(codes).map((code) => `${status} ${code}`)),
  );

  test("have the codes that they are answered with, and no other", async () => {
    const bodies = ([400, 408, 413, 415] as const).map((status) => said(new BodyRefused(status, "")));
    const pairs = (await answers()).flatMap(({ status, code }) => (code === undefined ? [] : [`${status} ${code}`]));
    const all = [...pairs, ...bodies, said(new StoreLate()), said(new Error("a fault"))];
    expect([...new Set(told)].sort()).toEqual([...new Set(all)].sort());
  });

  test("leave none out that is answered with", async () => {
    const statuses = (await answers()).map(({ status }) => status);
    expect(told.map((each) => each.slice(0, 3))).toEqual(expect.arrayContaining([...new Set(statuses)]));
  });

  test("stand once with each code", () => {
    expect(told.filter((each, at) => told.indexOf(each) !== at)).toEqual([]);
  });
});
