/**
 * The fixture server as a source, over either transport and in either era.
 * @module
 */
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll } from "vitest";
import type { SourceConnection, ToolSource } from "../../../../../web/src/tools/source.js";
import { serveFixture, type Serving } from "../../../../e2e/serving.js";
import { call, opened, over, processSource, setting, type Setting } from "./setting.js";

/** The fixture's program over stdio. */
export const STDIO: string = fileURLToPath(new URL("../../../../e2e/fixture/stdio.mjs", import.meta.url));

/** How it is started. */
export const FIXTURE = [process.execPath, STDIO] as const;

/** Both transports in both eras, for `describe.each`. */
export const SETTINGS = [
  ["stdio, 2025-11-25", "stdio", "legacy"],
  ["stdio, 2026-07-28", "stdio", "modern"],
  ["http, 2025-11-25", "http", "legacy"],
  ["http, 2026-07-28", "http", "modern"],
] as const;

/** A source of the fixture; left without an era, the source finds out. */
export type FixtureSource = (
  at: Setting,
  transport: "stdio" | "http",
  era?: "legacy" | "modern",
  more?: { readonly sampling: boolean },
) => ToolSource;

/** One server over HTTP for all tests of a file, and processes for each source over stdio. */
export function useFixture(): FixtureSource {
  let serving: Serving | undefined;
  beforeAll(async () => {
    serving = await serveFixture();
  });
  afterAll(() => serving?.[Symbol.asyncDispose]());
  return (at, transport, era, more) => {
    const deps = { ...more, ...(era !== undefined && { era }) };
    if (transport === "stdio") return processSource(at, { argv: FIXTURE, ...deps });
    if (serving === undefined) throw new Error("The fixture is used before the tests.");
    return over(at, { url: serving.url, ...deps });
  };
}

/** One connection that the tests of a `describe` share, with its gate and store. */
export interface SharedConnection {
  readonly at: Setting;
  readonly connection: SourceConnection;
}

/** Opens it before the tests and closes it behind them; neither is there before. */
export function useConnection(source: (at: Setting) => ToolSource): SharedConnection {
  let shared: SharedConnection | undefined;
  const given = (): SharedConnection => {
    if (shared === undefined) throw new Error("The connection is used before the tests.");
    return shared;
  };
  beforeAll(async () => {
    const at = await setting();
    shared = { at, connection: await opened(source(at), at) };
  });
  afterAll(() => shared?.connection[Symbol.asyncDispose]());
  return {
    get at() {
      return given().at;
    },
    get connection() {
      return given().connection;
    },
  };
}

/** The hash of the file that its tools give, as it says it itself. */
export async function expectedHash(connection: SourceConnection, kind: string, bytes: number): Promise<string> {
  const { reduced } = await call(connection, "sha256", { kind, bytes });
  return /[0-9a-f]{64}/.exec(reduced.text)?.[0] ?? "";
}
