/** What guards a source at `mcp/{source}` of `sluice serve`: the same as at `tools/`, for a client that only speaks MCP. */
import { randomBytes } from "node:crypto";
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { whyNoSandbox } from "../../files/sandboxes.js";
import { ROOT, Room } from "../command.js";
import { begin, EVERYTHING, initialized, posted, serve, type Session } from "./serving.js";

const reason = await whyNoSandbox();

const lab = `"${process.execPath}" "${join(ROOT, "tests/unit/files/lab-server.mjs")}"`;

interface Guarded {
  readonly ada: Session;
  readonly names: { readonly ada: string; readonly bob: string };
  readonly room: Room;
}

/** A server with files for two users, of whom one is asked. */
async function guarded(files: object = {}): Promise<Guarded> {
  const mark = randomBytes(6).toString("hex");
  const names = { ada: `ada-${mark}`, bob: `bob-${mark}` };
  const room = await Room.open();
  const tokens = Object.values(names).map((name) => ({ token: `0123456789-${name}`, user_id: name }));
  const sources = [
    { name: "lab", transport: "mcp", connection: lab, user_files: true },
    {
      name: "everything",
      transport: "mcp",
      connection: EVERYTHING.map((word) => `"${word}"`).join(" "),
      tool_filter: ["get-tiny"],
    },
  ];
  const file = await room.write("serve.json", JSON.stringify({ sources, store: "./store", files, auth: { tokens } }));
  const server = await serve(["--config", file]);
  onTestFinished(async () => {
    await server.end("SIGTERM");
    await room[Symbol.asyncDispose]();
    for (const name of Object.values(names)) await rm(join("/tmp", name), { recursive: true, force: true });
  });
  return { ada: await begin(server.url, { authorization: `Bearer 0123456789-${names.ada}` }), names, room };
}

/** Calls a tool over MCP, and gives the whole answer as text. */
async function call(session: Session, source: string, name: string, args: object): Promise<string> {
  const headers = await initialized(session, source);
  const answer = await posted(
    session,
    source,
    { id: 1, method: "tools/call", params: { name, arguments: args } },
    headers,
  );
  return answer.text();
}

describe.skipIf(process.platform === "win32")("a source with user_files", () => {
  test("is told the user who is signed in, whatever a client writes", async () => {
    const { ada, names } = await guarded();
    const told = await call(ada, "lab", "echo", { username: names.bob, note: "x" });
    expect(told).toContain(names.ada);
    expect(told).not.toContain(names.bob);
  });

  test("reads no file of another user by its path", async () => {
    const { ada, names } = await guarded();
    await mkdir(join("/tmp", names.bob), { recursive: true });
    await writeFile(join("/tmp", names.bob, "secret.txt"), "x".repeat(4321));
    const path = join("/tmp", names.bob, "secret.txt");
    expect(await call(ada, "lab", "length", { username: names.bob, filename: path })).not.toContain("4321");
  });

  test("writes into no folder of another user", async () => {
    const { ada, names } = await guarded();
    await call(ada, "lab", "write", { username: names.bob, name: "planted.txt", content: "x" });
    expect(await readdir(join("/tmp", names.bob)).catch(() => [])).toEqual([]);
  });

  test.skipIf(reason !== undefined)("writes nothing on the host from its sandbox", async () => {
    const { ada, names, room } = await guarded({ sandbox: true });
    await mkdir(join("/tmp", names.ada), { recursive: true });
    await call(ada, "lab", "overwrite", { path: room.path("outside.txt") });
    expect(await readdir(room.folder)).not.toContain("outside.txt");
  });
});

test("a source lists and calls only the tools of its filter", async () => {
  const { ada } = await guarded();
  const headers = await initialized(ada, "everything");
  const list = await (await posted(ada, "everything", { id: 1, method: "tools/list" }, headers)).text();
  expect(list).toContain("get-tiny-image");
  expect(list).not.toContain('"echo"');
  expect(await call(ada, "everything", "echo", { message: "over the fence" })).not.toContain("over the fence");
});

test("an image is a reference", async () => {
  const { ada } = await guarded();
  const told = await call(ada, "everything", "get-tiny-image", {});
  expect(told).toContain("artifact://everything_");
  expect(told).not.toContain("iVBORw0KGgo");
});
