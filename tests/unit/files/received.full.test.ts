/** The files of a result on their way to My Files: limits, and calls that nobody waits for any more. */
import { randomBytes } from "node:crypto";
import { access } from "node:fs/promises";
import { describe, expect, test, vi } from "vitest";
import { MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import type { ArtifactScope, ArtifactWriter } from "../../../web/src/artifacts/store.js";
import { UnderWay } from "../../../web/src/files/owners.js";
import type { UserFiles } from "../../../web/src/files/user-files.js";
import { ADA, BOB, lab, seen } from "./lab.js";

/** Tells of each piece that it is given. */
class WatchedStore extends MemoryArtifactStore {
  pieces = 0;
  onWrite = (): void => undefined;

  override async openWriter(info?: Parameters<MemoryArtifactStore["openWriter"]>[0]): Promise<ArtifactWriter> {
    const writer = await super.openWriter(info);
    const write = writer.write.bind(writer);
    writer.write = (chunk) => {
      this.pieces += 1;
      this.onWrite();
      return write(chunk);
    };
    return writer;
  }
}

const never = (): Promise<never> => new Promise<never>(() => undefined);
const SILENT = { next: never };

function textFile(name: string, size: number): object {
  return { name, b64: Buffer.alloc(size, 65).toString("base64"), mime: "text/plain" };
}

test("no result takes a user's file out of its versions by names that come to the same", async () => {
  const { userFiles, call, events } = await lab();
  await userFiles.storage(ADA).put("own.txt", "ada's");
  const artifacts = Array.from({ length: 200 }, (_, at) => textFile(`${"./".repeat(at)}own.txt`, at + 1));
  const result = await call("raw", { result: { content: [], structuredContent: { results: {}, artifacts } } });
  expect(result.isError).toBe(false);
  const files = await userFiles.storage(ADA).list();
  expect(files.map(({ name }) => name)).toEqual(expect.arrayContaining(["own.txt", "own (2).txt", "own (200).txt"]));
  expect(files).toHaveLength(200);
  expect((await userFiles.storage(ADA).versions("own.txt")).map(({ origin }) => origin)).toEqual([
    "generated",
    "uploaded",
  ]);
  expect(seen(result)["dropped"]).toContain(
    'name "own.txt" is used by another file in this result: the file is kept as "own (2).txt"',
  );
  expect(events).toContainEqual(
    expect.objectContaining({ kind: "failed", error: expect.objectContaining({ code: "E_TOOL_CONTRACT" }) }),
  );
});

test("files whose names are as long as may be, or longer, are all kept, each by its own name", async () => {
  const { userFiles, call } = await lab();
  const artifacts = ["n".repeat(251), "n".repeat(251), "n".repeat(2000)].map((stem, at) =>
    textFile(`${stem}.pdf`, at + 1),
  );
  const result = await call("raw", { result: { content: [], structuredContent: { results: {}, artifacts } } });
  expect(result.isError).toBe(false);
  const names = (await userFiles.storage(ADA).list()).map(({ name }) => name);
  expect(names.toSorted()).toEqual(
    ["n".repeat(251), `${"n".repeat(247)} (2)`, `${"n".repeat(247)} (3)`].map((stem) => `${stem}.pdf`).toSorted(),
  );
});

test("a short file that is larger than is taken costs all files of its result, as a long one does", async () => {
  const { userFiles, call } = await lab({ files: { max_file_size_mb: 10 / 1024 / 1024 } });
  const structuredContent = { results: {}, artifacts: [textFile("fits.txt", 10), textFile("large.txt", 12)] };
  const result = await call("raw", { result: { content: [], structuredContent } });
  expect(result.isError).toBe(true);
  expect(seen(result)).toMatchObject({ meta_data: { error_code: "E_FILE_TOO_LARGE" } });
  expect(await userFiles.storage(ADA).list()).toEqual([]);
});

test("a file is not read to its end when the call is given up", async () => {
  const kept = new WatchedStore();
  const { userFiles, node } = await lab({ files: { store: kept } });
  const given = new AbortController();
  kept.onWrite = () => given.abort(new Error("given up"));
  const args = { name: "long.txt", content: "0123456789abcdef", times: 1024 * 1024 };
  const calling = node.call("write", args, { scope: ADA, signal: given.signal });
  await expect(calling).rejects.toThrow("given up");
  expect(kept.pieces).toBeLessThan(10);
  expect(await userFiles.storage(ADA).list()).toEqual([]);
});

test("nor when the source is closed", async () => {
  const kept = new WatchedStore();
  const { userFiles, node, call } = await lab({ files: { store: kept } });
  kept.onWrite = () => void node.close();
  await expect(call("write", { name: "long.txt", content: "0123456789abcdef", times: 1024 * 1024 })).rejects.toThrow(
    "closed",
  );
  expect(kept.pieces).toBeLessThan(10);
  expect(await userFiles.storage(ADA).list()).toEqual([]);
});

test("a call that is given up does not wait for a store that does not answer, on either way", async () => {
  const kept = new MemoryArtifactStore();
  const { node, userFiles, call } = await lab({ files: { store: kept } });
  await call("echo", { note: "the server is there" });
  await userFiles.storage(ADA).put("a.txt", "x");
  for (const [tool, args, silent] of [
    ["echo", { filename: "a.txt" }, "list"],
    ["write", { name: "b.txt", content: "x" }, "openWriter"],
  ] as const) {
    const given = new AbortController();
    const asked = vi.spyOn(kept, silent).mockImplementationOnce((): never => {
      queueMicrotask(() => given.abort(new Error("given up")));
      return (silent === "list" ? { [Symbol.asyncIterator]: () => SILENT } : never()) as never;
    });
    await expect(node.call(tool, args, { scope: ADA, signal: given.signal })).rejects.toThrow("given up");
    expect(asked).toHaveBeenCalled();
  }
  await userFiles.endSession(ADA);
});

test.each([300, 4_000, 24_000, 90_000])("a file of %i bytes in lines of any length is one file", async (size) => {
  const { userFiles, call } = await lab();
  const bytes = Buffer.concat([Buffer.from("%PDF-1.7\n"), randomBytes(size)]);
  const base64 = bytes.toString("base64");
  const b64 = `${base64.slice(0, 70)}\n${base64.slice(70, 200)}\r\n${base64.slice(200)}\n`;
  const artifacts = [{ name: "a.pdf", mime: "application/pdf", b64 }];
  const result = await call("raw", { result: { content: [], structuredContent: { results: {}, artifacts } } });
  expect(seen(result)).toMatchObject({ artifacts: [{ name: "a.pdf", size: bytes.length }] });
  expect(JSON.stringify(seen(result))).not.toContain(base64.slice(0, 30));
  expect(await userFiles.storage(ADA).list()).toMatchObject([{ name: "a.pdf", size_bytes: bytes.length }]);
});

const file = (name: string, text: string): object => ({ name, b64: btoa(text), mime: "text/plain" });

test("a file that is larger than the store takes is told with a warning, and the others are kept", async () => {
  const store = new MemoryArtifactStore({ retention: { max_artifact_bytes: 1000 } });
  const { call, userFiles, events } = await lab({ files: { store } });
  const artifacts = [file("large.txt", "x".repeat(1001)), file("small.txt", "x")];
  const result = await call("raw", { result: { structuredContent: { results: { done: true }, artifacts } } });
  expect(result.isError).toBe(false);
  expect(seen(result)).toMatchObject({
    results: { done: true },
    artifacts: [
      { name: "large.txt", warning: expect.stringContaining("1,000 bytes") as string },
      { name: "small.txt", ref: expect.any(String) as string },
    ],
  });
  expect(events).toContainEqual(expect.objectContaining({ kind: "failed", tool: "lab.raw" }) as object);
  expect((await userFiles.storage(ADA).list()).map(({ name }) => name)).toEqual(["small.txt"]);
});

/** What is done with a user's folder while a tool works in it. */

/** A call of ada's that has been given her file, and is not over. */
async function begun(userFiles: UserFiles, scope: ArtifactScope = ADA): Promise<{ path: string; done: () => void }> {
  const call = {
    tool: "length",
    namespace: "lab",
    takesUsername: true,
    isProgram: true,
    scope,
    signal: new AbortController().signal,
    onRefused: () => undefined,
  };
  const filed = await userFiles.prepare({ filename: "a.txt" }, call);
  if (filed.kind !== "call" || filed.done === undefined) throw new Error("The call is not made.");
  return { path: String(filed.args["filename"]), done: filed.done };
}

/** As many users come as are kept at hand, and more. */
function crowd(userFiles: UserFiles): void {
  for (let user = 0; user < 300; user += 1) userFiles.storage({ user_id: `u${user}` });
}

test("work alone waits for every call, and calls that come meanwhile wait for it", async () => {
  const underWay = new UnderWay();
  const order: string[] = [];
  const [first, second] = [await underWay.begin(), await underWay.begin()];
  const alone = underWay.alone(async () => void order.push("alone"));
  first();
  first();
  expect(underWay.isBusy).toBe(true);
  order.push("second ends");
  second();
  await alone;
  const failing = underWay.alone(() => Promise.reject(new Error("no")));
  const third = underWay.begin();
  await expect(failing).rejects.toThrow("no");
  const done = await third;
  order.push("third");
  done();
  expect(order).toEqual(["second ends", "alone", "third"]);
  expect(underWay.isBusy).toBe(false);
});

describe("the folder of a user", () => {
  test("stays as it is while a call is under way, however many others come", async () => {
    const { userFiles } = await lab();
    await userFiles.storage(ADA).put("a.txt", "x");
    const { path, done } = await begun(userFiles);
    crowd(userFiles);
    // A folder is emptied meanwhile: hers would be by now.
    await userFiles.endSession(BOB);
    await access(path);
    done();
    crowd(userFiles);
    await vi.waitFor(() => expect(access(path)).rejects.toMatchObject({ code: "ENOENT" }));
  });

  test("has the file of a call that comes while it is being emptied for others", async () => {
    const { userFiles } = await lab();
    await userFiles.storage(ADA).put("a.txt", "x");
    (await begun(userFiles)).done();
    crowd(userFiles);
    const { path, done } = await begun(userFiles);
    await access(path);
    done();
    await userFiles.endSession(ADA);
    await expect(access(path)).rejects.toMatchObject({ code: "ENOENT" });
  });

  test("is emptied at a session's end once the calls of all sessions are over", async () => {
    const { userFiles } = await lab();
    await userFiles.storage(ADA).put("a.txt", "x");
    const { path, done } = await begun(userFiles, { ...ADA, session_id: "another" });
    const ended = vi.fn<() => void>();
    const ending = userFiles.endSession(ADA).then(ended);
    await userFiles.endSession(BOB);
    expect(ended).not.toHaveBeenCalled();
    await access(path);
    done();
    await ending;
    await expect(access(path)).rejects.toMatchObject({ code: "ENOENT" });
  });

  test("is not held by calls that failed, were answered without being made, or were given up", async () => {
    const { userFiles, call, node } = await lab();
    await userFiles.storage(ADA).put("a.txt", "x");
    await call("echo", { filename: "unknown.txt" });
    await call("path", { path: "/etc/passwd" });
    const signal = AbortSignal.abort(new Error("given up"));
    await expect(node.call("echo", { filename: "a.txt" }, { scope: ADA, signal })).rejects.toThrow("given up");
    await expect(call("echo", { filename: "a.txt" }, { ...ADA, user_id: "" })).rejects.toThrow("no user is named");
    await userFiles.endSession(ADA);
  });
});

test("what a session's last call makes goes with it", async () => {
  const { userFiles, call } = await lab({ files: { persist_files_across_sessions: false } });
  await userFiles.storage(ADA).put("a.txt", "x");
  const { done } = await begun(userFiles);
  const ending = userFiles.endSession(ADA);
  await userFiles.storage(ADA).put("late.txt", "y");
  done();
  await ending;
  expect(await userFiles.storage(ADA).list()).toEqual([]);
  expect((await call("echo", {})).isError).toBe(false);
});
