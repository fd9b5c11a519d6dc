/** What is done with a user's folder while a tool works in it. */
import { access } from "node:fs/promises";
import { describe, expect, test, vi } from "vitest";
import type { ArtifactScope } from "../../../web/src/artifacts/store.js";
import { UnderWay } from "../../../web/src/files/owners.js";
import type { UserFiles } from "../../../web/src/files/user-files.js";
import { ADA, BOB, lab } from "./lab.js";

const PATIENCE = { timeout: 20_000 };

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
    await vi.waitFor(() => expect(access(path)).rejects.toMatchObject({ code: "ENOENT" }), PATIENCE);
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
