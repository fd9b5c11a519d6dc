/** Imports between the rooms of the library point one way, and no room imports what is there for users. */
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
  ["query"],
  ["core"],
  ["redis", "jsonrpc", "documents"],
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

/** What each file of a room imports of other rooms: `core/create.ts → artifacts/ids.js`. */
async function imports(room: string): Promise<readonly { readonly file: string; readonly of: string }[]> {
  const files = await readdir(join(SOURCES, room), { recursive: true });
  const found = files
    .filter((name) => /\.m?ts$/.test(name))
    .map(async (name) => {
      const path = join(SOURCES, room, name);
      const text = await readFile(path, "utf8");
      return Array.from(text.matchAll(IMPORTED), ([, first, second]) => ({
        file: `${room}/${name}`,
        of: relative(SOURCES, resolve(dirname(path), first ?? second ?? ""))
          .split(sep)
          .join("/"),
      }));
    });
  return (await Promise.all(found)).flat().filter(({ of }) => !of.startsWith(`${room}/`));
}

test("every folder is a room", async () => {
  const folders = (await readdir(SOURCES, { withFileTypes: true })).filter((entry) => entry.isDirectory());
  expect(folders.map(({ name }) => name).sort()).toEqual(ROWS.flat().sort());
});

test.each(ROWS.flat())("%s imports only what is below it", async (room) => {
  const others = await imports(room);
  expect(others.filter(({ of }) => rowOf(of) >= rowOf(room))).toEqual([]);
});
