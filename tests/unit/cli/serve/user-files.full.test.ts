/** Users' files of `sluice serve`: where tools read and write them, and the flags. */
import { randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { FileArtifactStore } from "../../../../web/src/artifacts/file/file-store.js";
import { whyNoSandbox } from "../../files/sandboxes.js";
import { ROOT, Room } from "../command.js";
import { begin, called, serve, type Session } from "./serving.js";

const reason = await whyNoSandbox();
/** There is nothing of /tmp in a sandbox: neither a checkout. */
const isCheckoutSeen = !ROOT.startsWith("/tmp/");

/** Its tool `write` writes to `/tmp/{username}/`, and gives back that path. */
const LAB = {
  name: "lab",
  transport: "mcp",
  connection: `"${process.execPath}" "${join(ROOT, "tests/unit/files/lab-server.mjs")}"`,
  user_files: true,
};
const TOKEN = "0123456789abcdef-lab";
const KIB = 1 / 1024;

interface Lab extends AsyncDisposable {
  readonly room: Room;
  /** A new session of the same user. */
  readonly begin: () => Promise<Session>;
  readonly user: string;
}

/** A server with that source, for a user who has no folder yet. */
async function lab(files: unknown, args: readonly string[] = []): Promise<Lab> {
  const user = `lab-${randomBytes(6).toString("hex")}`;
  const room = await Room.open();
  const config = { sources: [LAB], store: "./store", files, auth: { tokens: [{ token: TOKEN, user_id: user }] } };
  const file = await room.write("serve.json", JSON.stringify(config));
  const server = await serve(["--config", file, ...args]);
  onTestFinished(() => rm(join("/tmp", user), { recursive: true, force: true }));
  return {
    room,
    user,
    begin: () => begin(server.url, { authorization: `Bearer ${TOKEN}` }),
    [Symbol.asyncDispose]: async () => {
      await server.end("SIGTERM");
      await room[Symbol.asyncDispose]();
    },
  };
}

/** What the model is told of a report of so many bytes that the tool writes. */
async function report(session: Session, bytes = 5): Promise<unknown> {
  const args = { name: "report.txt", content: "x", times: bytes };
  const { observation } = (await called(session, "lab.write", args)) as { observation: string };
  return JSON.parse(observation);
}

async function names({ ask }: Session): Promise<readonly string[]> {
  const { files } = (await (await ask("files")).json()) as { files: readonly { name: string }[] };
  return files.map(({ name }) => name);
}

function upload({ ask }: Session, bytes: number): Promise<Response> {
  return ask("files?filename=upload.txt", {
    method: "POST",
    headers: { "content-type": "text/plain" },
    body: "x".repeat(bytes),
  });
}

/** Names of the files in a store. */
async function kept(folder: string): Promise<readonly (string | null)[]> {
  const found: (string | null)[] = [];
  for await (const { filename } of new FileArtifactStore(folder).list()) found.push(filename);
  return found;
}

const TAKEN = { results: { written: true }, artifacts: [{ name: "report.txt", size: 5, mime: "text/plain" }] };

describe.skipIf(process.platform === "win32")("a file that a tool wrote to /tmp/{username}", () => {
  test.each([[undefined], [true], [{}]])("is taken, with files %j", async (files) => {
    await using server = await lab(files);
    const session = await server.begin();
    expect(await report(session)).toMatchObject(TAKEN);
    const [file] = await names(session);
    expect(file).toBe("report.txt");
  });

  test.skipIf(reason !== undefined || !isCheckoutSeen)("is taken from a sandbox, wherever the folder is", async () => {
    await using server = await lab({ folders: "./work", sandbox: true });
    expect(await report(await server.begin())).toMatchObject(TAKEN);
  });

  test("is refused where the folder is another: what helps is said, and not where that folder is", async () => {
    await using server = await lab({ folders: "./work" });
    const told = await report(await server.begin());
    const suggestion = "Return the bytes as b64: files are not taken from that folder here";
    const details = { allowed_prefix: "", suggestion };
    expect(told).toMatchObject({ meta_data: { error_code: "E_INVALID_PATH", details } });
    expect(JSON.stringify(told)).not.toContain(server.room.folder);
  });
});

describe.skipIf(process.platform === "win32")(
  "the flags of users' files, in the configuration and on the command line",
  () => {
    const ways: readonly (readonly [string, object, readonly string[]])[] = [
      ["configuration", { max_file_size_mb: KIB }, []],
      ["command line", { max_file_size_mb: 1 }, ["--max-file-size-mb", String(KIB)]],
    ];

    test.each(ways)("a file above max_file_size_mb is E_FILE_TOO_LARGE: %s", async (_, files, args) => {
      await using server = await lab(files, args);
      const session = await server.begin();
      const details = { file_size_bytes: 1025, current_limit_bytes: 1024 };
      expect(await report(session, 1025)).toMatchObject({ meta_data: { error_code: "E_FILE_TOO_LARGE", details } });
      const refused = await upload(session, 1025);
      expect([refused.status, await refused.json()]).toMatchObject([413, { error: { code: "E_FILE_TOO_LARGE" } }]);
      expect(await names(session)).toEqual([]);
      expect((await upload(session, 1024)).status).toBe(201);
    });

    test.each([
      ["configuration", { base64_size_limit_mb: KIB, large_store: "./large" }, (): string[] => []],
      [
        "command line",
        { base64_size_limit_mb: 1 },
        (large: string): string[] => ["--large-store", large, "--base64-size-limit-mb", String(KIB)],
      ],
    ])("files above base64_size_limit_mb are in the large store, as bytes: %s", async (_, files, args) => {
      await using large = await Room.open();
      await using server = await lab(files, args(large.path("large")));
      const session = await server.begin();
      expect((await upload(session, 1024)).status).toBe(201);
      expect(await report(session, 1025)).toMatchObject({ artifacts: [{ name: "report.txt", size: 1025 }] });
      expect(await kept(server.room.path("store/files"))).toEqual(["upload.txt"]);
      const place = args("").length > 0 ? large.path("large") : server.room.path("large");
      expect(await kept(place)).toEqual(["report.txt"]);
      expect(await names(session)).toEqual(["report.txt", "upload.txt"]);
    });

    test.each([
      ["configuration", { persist_files_across_sessions: false }, []],
      ["command line", true, ["--persist-files", "false"]],
    ])("files go with their session where they do not persist: %s", async (_, files, args) => {
      await using server = await lab(files, args);
      const [session, other] = [await server.begin(), await server.begin()];
      await report(session);
      await upload(other, 5);
      expect([await names(session), await names(other)]).toEqual([["report.txt"], ["upload.txt"]]);
      expect((await session.ask("sessions/current", { method: "DELETE" })).status).toBe(200);
      expect(await kept(server.room.path("store/files"))).toEqual(["upload.txt"]);
      expect(await names(other)).toEqual(["upload.txt"]);
    });

    test("files stay when their session ends where nothing else is said", async () => {
      await using server = await lab(undefined);
      const session = await server.begin();
      await report(session);
      await session.ask("sessions/current", { method: "DELETE" });
      expect(await names(await server.begin())).toEqual(["report.txt"]);
    });
  },
);
