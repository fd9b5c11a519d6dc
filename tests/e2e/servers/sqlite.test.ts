/** A database server behind the proxy: base64 inside of JSON text, and a BLOB as a list of its bytes. */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { behindProxy, DRIVERS } from "./behind.js";
import { expectStored } from "./expectations.js";
import { FILES, useFolder } from "./folder.js";
import { sqlite } from "./programs.js";
import { isFull } from "../../support/full.js";

const folder = useFolder();

// Compiled by `npm run setup`, where there is what that takes.
const isBuilt = existsSync(
  fileURLToPath(new URL("../node_modules/sqlite3/build/Debug/node_sqlite3.node", import.meta.url)),
);

describe.runIf(isFull && isBuilt).each(DRIVERS)("%s", (driver) => {
  test("rows with files in them", async () => {
    await using server = await behindProxy(driver, sqlite(folder.path()));
    const table = driver === "SDK v1" ? "first" : "second";
    const { "photo.png": photo, "report.pdf": report } = FILES;
    const values = `('photo.png', '${photo.toString("base64")}', NULL), ('report.pdf', NULL, X'${report.toString("hex")}')`;
    for (const [tool, query] of [
      ["create_table", `CREATE TABLE ${table} (name TEXT, encoded TEXT, content BLOB)`],
      ["write_query", `INSERT INTO ${table} VALUES ${values}`],
    ] as const) {
      await expectStored(server, await server.call(tool, { query }), []);
    }
    const query = (what: string): ReturnType<typeof server.call> =>
      server.call("read_query", { query: `SELECT ${what} FROM ${table}` });
    const names = await query("name");
    await expectStored(server, names, []);
    expect(JSON.parse(names.content[0]?.text ?? "")).toEqual([{ name: "photo.png" }, { name: "report.pdf" }]);
    await expectStored(server, await query("name, encoded"), [photo]);
    await expectStored(server, await query("name, content"), [report]);
    await expectStored(server, await query("*"), [photo, report]);
    await expectStored(server, await query("hex(content) AS digits"), [report]);
  });
});
