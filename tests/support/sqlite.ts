/**
 * Databases made by SQLite itself, compiled in `tests/e2e`.
 * @module
 */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";

interface Connection {
  exec(sql: string, done: (error: Error | null) => void): void;
  all(sql: string, done: (error: Error | null, rows: Record<string, unknown>[]) => void): void;
  close(done: (error: Error | null) => void): void;
}

type Sqlite = { readonly Database: new (path: string, done: (error: Error | null) => void) => Connection };

const sqlite = ((): Sqlite | undefined => {
  try {
    return createRequire(new URL("../e2e/package.json", import.meta.url))("sqlite3") as Sqlite;
  } catch {
    return undefined;
  }
})();

/** Whether it could be compiled here: `scripts/setup.mjs` says why not. */
export const hasSqlite: boolean = sqlite !== undefined;

/** A connection of SQLite's own. */
export class RealSqlite {
  readonly #connection: Connection;

  private constructor(connection: Connection) {
    this.#connection = connection;
  }

  static async open(path = ":memory:"): Promise<RealSqlite> {
    return new Promise((resolve, reject) => {
      const connection: Connection = new (sqlite as Sqlite).Database(path, (error) =>
        error === null ? resolve(new RealSqlite(connection)) : reject(error),
      );
    });
  }

  async run(sql: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#connection.exec(sql, (error) => (error === null ? resolve() : reject(error)));
    });
  }

  async ask(sql: string): Promise<Record<string, unknown>[]> {
    return new Promise((resolve, reject) => {
      this.#connection.all(sql, (error, rows) => (error === null ? resolve(rows) : reject(error)));
    });
  }

  async close(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#connection.close((error) => (error === null ? resolve() : reject(error)));
    });
  }
}

async function readBytes(path: string): Promise<Uint8Array> {
  return new Uint8Array(await readFile(path));
}

/** The files that statements leave: the database, and its log if `keepsLog` says that it stays open. */
export async function makeDatabase(
  sql: string,
  { keepsLog = false }: { readonly keepsLog?: boolean } = {},
): Promise<{ readonly database: Uint8Array; readonly log: Uint8Array | undefined }> {
  const folder = await mkdtemp(join(tmpdir(), "sluice-sqlite-"));
  const path = join(folder, "made.db");
  try {
    const connection = await RealSqlite.open(path);
    await connection.run(sql);
    const open = keepsLog ? { database: await readBytes(path), log: await readBytes(`${path}-wal`) } : undefined;
    await connection.close();
    return open ?? { database: await readBytes(path), log: undefined };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
