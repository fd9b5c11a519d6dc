/** Artifacts that are databases of SQLite, made by SQLite itself: listed, read, asked; damaged, encrypted, hostile. */
import { describe, expect, test } from "vitest";
import { MemoryArtifactStore } from "../../../../web/src/artifacts/memory.js";
import { ArtifactReader } from "../../../../web/src/mcp/artifact-reader/artifact-reader.js";
import { ArtifactSource } from "../../../../web/src/mcp/artifact-reader/source.js";
import { hasSqlite, makeDatabase } from "../../../support/sqlite.js";
import { dataOf, wordsOf } from "./artifacts.js";

type Args = Readonly<Record<string, unknown>>;

interface Reply {
  readonly data: string;
  readonly words: string;
  readonly isError: boolean;
}

async function open(bytes: Uint8Array, filename = "shop.sqlite"): Promise<(args: Args) => Promise<Reply>> {
  const store = new MemoryArtifactStore();
  const { id } = await store.putBytes(bytes, { filename, mime_type: null, namespace: "ns" });
  const reader = new ArtifactReader(new ArtifactSource(store, {}, "ns"));
  return async (args) => {
    const result = await reader.call({ uri: `artifact://${id}`, ...args });
    return { data: dataOf(result) ?? "", words: wordsOf(result), isError: result.isError === true };
  };
}

const make = async (sql: string): Promise<(args: Args) => Promise<Reply>> => open((await makeDatabase(sql)).database);

const SHOP = `
  CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT NOT NULL, born DATE);
  CREATE TABLE "order lines" (user_id INTEGER, total REAL, note);
  CREATE TABLE empty (a, b);
  CREATE INDEX by_total ON "order lines"(total);
  CREATE VIEW rich AS SELECT name, total FROM users JOIN "order lines" ON user_id = id WHERE total > 100;
  INSERT INTO users VALUES (1, 'Ann', '1990-02-03'), (2, 'Bob', NULL), (3, 'Zoë 😀', '2001-12-31');
  INSERT INTO "order lines" VALUES (1, 120.5, 'x,y'), (1, 80, NULL), (3, 9007199254740993, x'00ff10');
`;

describe.skipIf(!hasSqlite)("a database", () => {
  test("lists its tables with rows and columns, also when nothing is asked", async () => {
    const ask = await make(SHOP);
    const list =
      "table,rows,columns\n" +
      'users,3,"id INTEGER, name TEXT, born DATE"\n' +
      'order lines,3,"user_id INTEGER, total REAL, note"\n' +
      'empty,0,"a, b"\n' +
      'rich,2,"name TEXT, total REAL"';
    expect((await ask({})).data).toBe(list);
    expect((await ask({})).words).toContain('rows "1-20" and its name in sheet');
    expect((await ask({ rows: "1-20" })).data).toBe(list);
    expect((await ask({ rows: "2-3" })).data.split("\n").map((line) => line.split(",")[0])).toEqual([
      "table",
      "order lines",
      "empty",
    ]);
    const beyond = await ask({ rows: "9-" });
    expect([beyond.isError, beyond.words]).toEqual([true, expect.stringContaining('4 tables: ask for "1-4"')]);
  });

  test("gives the rows of a table that is named", async () => {
    const ask = await make(SHOP);
    const users = await ask({ rows: "1-20", sheet: "users" });
    expect(users.data).toBe("id,name,born\n1,Ann,1990-02-03\n2,Bob,\n3,Zoë 😀,2001-12-31");
    expect(users.words).toContain('table "users", rows 1-3 of 3');
    expect((await ask({ sheet: "USERS" })).data).toBe(users.data);
    expect((await ask({ rows: "2", sheet: "users" })).data).toBe("id,name,born\n2,Bob,");
    expect((await ask({ rows: "-2", sheet: "users" })).data).toMatch(/^id,name,born\n2,.*\n3,/);
    expect((await ask({ rows: "-1", sheet: "empty" })).words).toContain('table "empty" has no rows');
    expect((await ask({ rows: "-1" })).data).toMatch(/^table,rows,columns\nrich,.*$/);
    expect((await ask({ rows: "1-", sheet: "rich" })).data).toContain("Ann,120.5");
    expect((await ask({ rows: "3", sheet: "order lines" })).data).toContain("x'00ff10'");
    expect((await ask({ rows: "1-3", sheet: "empty" })).words).toContain('table "empty" has no rows');
    expect((await ask({ rows: "4-9", sheet: "users" })).words).toContain('has 3 rows: ask for "1-3"');
    expect((await ask({ rows: "1-3", sheet: "pods" })).words).toContain(
      'There is no table "pods": "users", "order lines"',
    );
    expect((await ask({ rows: "users!A1:B2" })).words).toContain("A database has tables, not cells");
  });

  test("is asked by the names of its tables", async () => {
    const ask = await make(SHOP);
    expect(
      (await ask({ query: 'SELECT name, SUM(total) AS t FROM users JOIN "order lines" ON user_id = id GROUP BY name' }))
        .data,
    ).toBe("name,t\nAnn,200.5\nZoë 😀,9007199254740992");
    expect((await ask({ query: "SELECT count(*) AS n FROM rich" })).data).toBe("n\n2");
    expect((await ask({ query: "SELECT count(*) AS n FROM rows", sheet: "users" })).data).toBe("n\n3");
    expect((await ask({ query: "SELECT name FROM pragma_table_info('empty')" })).data).toBe("name\na\nb");
    expect((await ask({ query: "SELECT * FROM pods" })).words).toContain(
      'There is no table "pods". The tables are "users", "order lines", "empty", "rich"',
    );
    expect((await ask({ query: "SELECT nam FROM users" })).words).toContain(
      'There is no column "nam". Did you mean "name"? The columns are "id", "name", "born"',
    );
    const refused = [
      "DELETE FROM users",
      "ATTACH 'x' AS y",
      "PRAGMA writable_schema=1",
      "CREATE TEMP TABLE t AS SELECT 1",
    ];
    for (const sql of refused) expect([sql, (await ask({ query: sql })).isError]).toEqual([sql, true]);
    for (const mode of ["lines", "pages", "pointer"]) {
      const wrong = await ask({ [mode]: mode === "pointer" ? "/a" : "1-2" });
      expect([wrong.isError, wrong.words]).toEqual([true, expect.stringContaining("The artifact is a database")]);
    }
    expect((await ask({ search: "Ann" })).words).toContain("1 place");
    expect((await ask({ bytes: "0-5" })).data).toBe("SQLite");
  });

  test("of one table has that one as rows", async () => {
    const ask = await make("CREATE TABLE t (a); INSERT INTO t VALUES (1), (2)");
    expect((await ask({ query: "SELECT SUM(a) AS s FROM rows" })).data).toBe("s\n3");
    expect((await ask({ query: "SELECT SUM(a) AS s FROM pods" })).isError).toBe(true);
  });

  test("in UTF-16, with large pages, without an index, with generated columns", async () => {
    const ask = await make(
      "PRAGMA encoding='UTF-16le'; PRAGMA page_size=65536; CREATE TABLE t (a TEXT PRIMARY KEY, b AS (a || '!')) WITHOUT ROWID; INSERT INTO t VALUES ('Zürich 😀')",
    );
    expect((await ask({ sheet: "t" })).data).toBe("a,b\nZürich 😀,Zürich 😀!");
    expect((await ask({ query: "SELECT length(a) AS n, upper(b) AS u FROM t WHERE a = 'Zürich 😀'" })).data).toBe(
      "n,u\n8,ZüRICH 😀!",
    );
  });

  test("that is a GeoPackage or MBTiles is one", async () => {
    const geo =
      await makeDatabase(`PRAGMA application_id=1196444487; CREATE TABLE gpkg_contents (table_name TEXT, srs_id INTEGER);
      CREATE TABLE places (fid INTEGER PRIMARY KEY, geom BLOB, name TEXT);
      INSERT INTO gpkg_contents VALUES ('places', 4326); INSERT INTO places VALUES (1, zeroblob(61), 'Rome');`);
    const askPlaces = await open(geo.database, "places.gpkg");
    const row = await askPlaces({ rows: "1-5", sheet: "places" });
    expect(row.data).toBe("fid,geom,name\n1,x'00000000000000000000000000000000…' (61 bytes),Rome");
    expect(row.words).toContain("Of blobs the first bytes are shown");
    const tiles =
      await makeDatabase(`CREATE TABLE map (zoom_level INTEGER, tile_column INTEGER, tile_row INTEGER, tile_id TEXT);
      CREATE TABLE images (tile_id TEXT, tile_data BLOB); CREATE TABLE metadata (name TEXT, value TEXT);
      CREATE VIEW tiles AS SELECT map.zoom_level AS zoom_level, map.tile_column AS tile_column, images.tile_data AS tile_data FROM map JOIN images ON images.tile_id = map.tile_id;
      INSERT INTO map VALUES (0, 0, 0, 'a'); INSERT INTO images VALUES ('a', x'89504e47'); INSERT INTO metadata VALUES ('name', 'World');`);
    const askTiles = await open(tiles.database, "world.mbtiles");
    expect((await askTiles({ query: "SELECT zoom_level, tile_data FROM tiles" })).data).toBe(
      "zoom_level,tile_data\n0,x'89504e47'",
    );
  });

  test("that was written with a log is read without it, and says so; the log alone is refused", async () => {
    const sql =
      "PRAGMA journal_mode=WAL; CREATE TABLE t (a); INSERT INTO t VALUES (1); PRAGMA wal_checkpoint(TRUNCATE); INSERT INTO t VALUES (2)";
    const { database, log } = await makeDatabase(sql, { keepsLog: true });
    const ask = await open(database);
    const { data, words } = await ask({ query: "SELECT a FROM t" });
    expect(data).toBe("a\n1");
    expect(words).toContain("write-ahead log");
    const askLog = await open(log as Uint8Array, "shop.sqlite-wal");
    for (const args of [{ query: "SELECT 1" }, { rows: "1-2" }]) {
      const { isError, words: said } = await askLog(args);
      expect([isError, said]).toEqual([true, expect.stringContaining("PRAGMA wal_checkpoint")]);
    }
    expect((await askLog({})).isError).toBe(false);
  });

  test("that is cut off, damaged, empty or encrypted is refused with its place and a remedy", async () => {
    const rows = Array.from({ length: 3000 }, (_, id) => `(${id}, 'some text of row ${id}')`).join();
    const { database } = await makeDatabase(
      `CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT); INSERT INTO t VALUES ${rows}`,
    );
    const pages = database.length / 4096;
    const wrong = async (bytes: Uint8Array, filename?: string): Promise<string> => {
      const ask = await open(bytes, filename);
      const { isError, words } = await ask({ query: "SELECT count(*) FROM t" });
      const list = await ask({ rows: "1-20" });
      expect([isError, list.isError, list.words]).toEqual([true, true, words]);
      expect((await ask({})).isError).toBe(false);
      return words;
    };
    expect(await wrong(database.slice(0, 4096 * 3))).toContain(`it has 3 of its ${pages} pages. Fetch the file again`);
    expect(await wrong(database.slice(0, 60))).toContain("cut off within its header");
    const damaged = database.slice();
    damaged.fill(0xff, 4096 * 4, 4096 * 5);
    expect(await wrong(damaged)).toMatch(/is damaged at page \d+.*\.recover/);
    const header = database.slice();
    header.fill(0xee, 16, 100);
    expect(await wrong(header)).toContain("encrypted or damaged");
    const noise = Uint8Array.from({ length: 8192 }, (_, at) => (at * 7919 * (at + 13)) % 251);
    expect(await wrong(noise)).toContain("encrypted or damaged. Decrypt it");
    expect(await wrong((await makeDatabase("CREATE TABLE t (a); DROP TABLE t")).database)).toContain("has no tables");
  });

  test("believes no view that calls a function, however it is hidden, and runs no trigger", async () => {
    const ask = await make(`${SHOP}
      CREATE VIEW counted AS SELECT count(*) AS n FROM users;
      CREATE VIEW hidden AS SELECT * FROM (WITH x AS (SELECT hex(randomblob(9)) AS h) SELECT * FROM x);
      CREATE VIEW outer_one AS SELECT * FROM hidden;
      CREATE VIEW liked AS SELECT name FROM users WHERE name LIKE 'A%';
      CREATE TRIGGER changed AFTER INSERT ON users BEGIN DELETE FROM users; END;`);
    const list = (await ask({ rows: "1-" })).data;
    expect(list).toContain("counted,,calls the function count");
    expect(list).toContain("outer_one,,calls the function hex");
    expect(list).toContain("liked,1,name TEXT");
    for (const view of ["counted", "hidden", "outer_one", "main.counted"]) {
      const { isError, words } = await ask({ query: `SELECT * FROM ${view}` });
      expect([view, isError]).toEqual([view, true]);
      expect(words).toContain("SELECT sql FROM sqlite_schema");
    }
    expect((await ask({ sheet: "counted" })).words).toContain("calls the function count");
    expect((await ask({ query: "SELECT count(*) AS n FROM liked" })).data).toBe("n\n1");
  });

  test("with a schema that was written by hand believes none of its names", async () => {
    const ask =
      await make(`CREATE TABLE t (a); CREATE VIEW good AS SELECT 1 AS one; CREATE VIEW evil AS SELECT 2 AS two;
      PRAGMA writable_schema=1;
      UPDATE sqlite_schema SET sql = 'CREATE VIEW evil AS SELECT hex(randomblob(4)) AS two' WHERE name = 'good';
      UPDATE sqlite_schema SET sql = 'CREATE VIEW good AS SELECT 1 AS one' WHERE name = 'evil';`);
    for (const name of ["good", "evil"]) {
      const { data } = await ask({ query: `SELECT * FROM ${name}` });
      expect(data).not.toMatch(/[0-9A-F]{8}/);
    }
  });

  test("whose views double again and again ends in time", async () => {
    const views = Array.from({ length: 20 }, (_, at) => `CREATE VIEW v${at + 1} AS SELECT a.x FROM v${at} a, v${at} b`);
    const ask = await make(`CREATE TABLE v0 (x); INSERT INTO v0 VALUES (1); ${views.join(";")}`);
    expect((await ask({ rows: "1-3" })).data).toContain("v0,1,x");
    expect((await ask({ query: "SELECT x FROM v0" })).data).toBe("x\n1");
  }, 60_000);
});
