/** Imports between the rooms of the library point one way, in no circle, and no room imports what is there for users. */
import { readdir, readFile } from "node:fs/promises";
import { dirname, join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const SOURCES = fileURLToPath(new URL("../../web/src/", import.meta.url));

/** From the ground up. Rooms of one row know nothing of each other. */
const ROWS = [
  ["errors"],
  ["json"],
  ["config"],
  ["telemetry"],
  ["artifacts"],
  ["core"],
  ["query"],
  ["redis", "http", "jsonrpc", "documents"],
  ["mcp"],
  ["tools"],
  ["planner", "files"],
  ["server"],
  ["cli"],
];

/** The row of a room, or of an entry of the package that is made of one: `tools-node.js` is of `tools`. */
function rowOf(path: string): number {
  const [name = ""] = path.split(/[/.]/, 1);
  const room = { s3: "artifacts", serve: "server" }[name.replace(/-.*/, "")] ?? name.replace(/-.*/, "");
  const row = ROWS.findIndex((each) => each.includes(room));
  // index.js, node.js and the like are made of many rooms.
  return row === -1 ? ROWS.length : row;
}

const IMPORTED = /\bfrom "(\.[^"]+)"|\bimport\("(\.[^"]+)"\)/g;

/** What each file below a folder of the sources imports of them: `core/create.ts → artifacts/ids.js`. */
async function imports(folder: string): Promise<readonly { readonly file: string; readonly of: string }[]> {
  const files = await readdir(join(SOURCES, folder), { recursive: true });
  const found = files
    .filter((name) => /\.m?ts$/.test(name))
    .map(async (name) => {
      const path = join(SOURCES, folder, name);
      const text = await readFile(path, "utf8");
      return Array.from(text.matchAll(IMPORTED), ([, first, second]) => ({
        file: shown(path),
        of: shown(resolve(dirname(path), first ?? second ?? "")),
      }));
    });
  return (await Promise.all(found)).flat();
}

function shown(path: string): string {
  return relative(SOURCES, path).split(sep).join("/");
}

/** The files below a folder of the sources, each with those that it imports. */
async function readGraph(folder: string): Promise<ReadonlyMap<string, readonly string[]>> {
  const graph = new Map<string, string[]>();
  for (const { file, of } of await imports(folder)) {
    const source = of.replace(/\.js$/, ".ts").replace(/\.mjs$/, ".d.mts");
    graph.set(file, [...(graph.get(file) ?? []), source]);
  }
  return graph;
}

/** The sub-folders of a room, and the files at its front, each with those of them that it imports. */
function readFolders(
  room: string,
  graph: ReadonlyMap<string, readonly string[]>,
): ReadonlyMap<string, readonly string[]> {
  const nameFolder = (file: string): string => file.split("/", 2).join("/");
  const folders = new Map<string, string[]>();
  for (const [file, imported] of graph) {
    const others = imported
      .map(nameFolder)
      .filter((other) => other.startsWith(`${room}/`) && other !== nameFolder(file));
    folders.set(nameFolder(file), [...(folders.get(nameFolder(file)) ?? []), ...others]);
  }
  return folders;
}

/** The circles among files, each as far as it goes around once: `a.ts → b.ts → a.ts` (Tarjan's algorithm finds them). */
function circles(graph: ReadonlyMap<string, readonly string[]>): readonly string[] {
  const [found, open]: readonly [string[], string[]] = [[], []];
  const order = new Map<string, number>();
  const visit = (file: string): number => {
    const at = order.size;
    order.set(file, at);
    open.push(file);
    let low = at;
    for (const next of graph.get(file) ?? []) {
      if (!order.has(next)) low = Math.min(low, visit(next));
      else if (open.includes(next)) low = Math.min(low, order.get(next) ?? low);
    }
    if (low < at) return low;
    const members = new Set(open.splice(open.indexOf(file)));
    const way = wayAround(file, members, graph);
    if (way !== undefined) found.push(way.join(" → "));
    return low;
  };
  for (const file of graph.keys()) if (!order.has(file)) visit(file);
  return found;
}

/** The shortest way from a file back to itself within a circle, or undefined. */
function wayAround(
  file: string,
  members: ReadonlySet<string>,
  graph: ReadonlyMap<string, readonly string[]>,
): readonly string[] | undefined {
  const [ways, seen] = [[[file]], new Set<string>()];
  for (const way of ways) {
    for (const next of graph.get(way.at(-1) ?? "") ?? []) {
      if (next === file) return [...way, file];
      if (!members.has(next) || seen.has(next)) continue;
      seen.add(next);
      ways.push([...way, next]);
    }
  }
  return undefined;
}

test("every folder is a room", async () => {
  const folders = (await readdir(SOURCES, { withFileTypes: true })).filter((entry) => entry.isDirectory());
  expect(folders.map(({ name }) => name).sort()).toEqual(ROWS.flat().sort());
});

test.each(ROWS.flat())("%s imports only what is below it", async (room) => {
  const others = (await imports(room)).filter(({ of }) => !of.startsWith(`${room}/`));
  expect(others.filter(({ of }) => rowOf(of) >= rowOf(room))).toEqual([]);
});

test("no files import each other in a circle, not even types", async () => {
  const graph = await readGraph("");
  expect(graph.size).toBeGreaterThan(400);
  expect(circles(graph)).toEqual([]);
});

test.each(["server", "tools"])(
  "sub-folders of %s import each other one way, and no file that puts them together",
  async (room) => {
    expect(circles(readFolders(room, await readGraph(room)))).toEqual([]);
  },
);

test("circles of folders are found, also through a file at the front", () => {
  const graph = new Map([
    ["house/house.ts", ["house/options.ts", "house/bath/bath.ts", "house/attic/attic.ts"]],
    ["house/options.ts", ["house/bath/tap.ts", "errors/error.ts"]],
    ["house/attic/attic.ts", ["house/attic/roof.ts", "garden/house/house.ts"]],
    ["house/bath/bath.ts", ["house/bath/tap.ts", "house/options.ts"]],
  ]);
  expect(circles(readFolders("house", graph))).toEqual(["house/options.ts → house/bath → house/options.ts"]);
});

test("circles are found, and named by their files", () => {
  const graph = new Map([
    ["a.ts", ["b.ts"]],
    ["b.ts", ["c.ts", "d.ts"]],
    ["c.ts", ["e.ts", "b.ts"]],
    ["d.ts", ["d.ts"]],
    ["e.ts", ["f.ts"]],
  ]);
  expect(circles(graph)).toEqual(["d.ts → d.ts", "b.ts → c.ts → b.ts"]);
});
