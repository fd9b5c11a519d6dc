/** Drafts, what a tool would have shown, and how long files stay. */
import { MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import { SluiceError } from "../../../web/src/errors/error.js";
import { UserFiles } from "../../../web/src/files/user-files.js";
import { describe, expect, test } from "vitest";
import { ADA, lab, seen } from "./lab.js";

describe("deferred artifacts", () => {
  test("are drafts, told with their reason and next actions, reachable by later calls, and gone after 72 hours", async () => {
    let now = Date.UTC(2026, 0, 1);
    const { call, userFiles } = await lab({ files: { now: () => now } });
    const result = await call("draft");
    expect(seen(result)).toMatchObject({
      results: { done: "half" },
      deferred_artifacts: [
        {
          name: "draft.docx",
          reason: "needs_editing",
          next_actions: ["Edit the greeting"],
          category: "draft",
          expires: "2026-01-04T00:00:00.000Z",
        },
      ],
    });
    const [file] = await userFiles.storage(ADA).list();
    expect(file).toMatchObject({
      origin: "deferred",
      draft: { reason: "needs_editing", next_actions: ["Edit the greeting"], expires_at: now + 72 * 3_600_000 },
    });
    expect(await userFiles.prompt("?", ADA)).toContain("- draft.docx (deferred, needs editing)");
    expect(seen(await call("length", { filename: "draft.docx" }))).toEqual({ results: { length: 8 } });
    now += 72 * 3_600_000 - 1;
    expect(await userFiles.storage(ADA).list()).toHaveLength(1);
    now += 1;
    expect(await userFiles.storage(ADA).list()).toEqual([]);
    expect((await call("length", { filename: "draft.docx" })).isError).toBe(true);
  });

  test("are gone in time by their ids too, whether anybody has looked or not", async () => {
    let now = 0;
    const { call, userFiles, store } = await lab({ files: { now: () => now } });
    await call("draft", { hours: 1 });
    const [{ id } = { id: "" }] = await userFiles.storage(ADA).list();
    const within = userFiles.within(store, "lab");
    expect(await within.exists(id, ADA)).toBe(true);
    now = 3_600_000;
    expect([await within.exists(id, ADA), await within.stat(id, ADA), await within.get(id, ADA)]).toEqual([
      false,
      null,
      null,
    ]);
    expect(await within.openReader(id, { scope: ADA })).toBeNull();
  });

  test("last as long as the tool says", async () => {
    let now = 0;
    const { call, userFiles } = await lab({ files: { now: () => now } });
    await call("draft", { hours: 1 });
    now = 3_600_000;
    expect(await userFiles.storage(ADA).list()).toEqual([]);
  });
});

describe("display", () => {
  test("goes to the host with the files that it speaks of, and not to the model", async () => {
    const { call, userFiles } = await lab();
    const display = {
      open_canvas: true,
      primary_file: "page.html",
      mode: "split",
      storage_action: "store_and_open",
      category_hint: "report",
      notification: "Your page is ready",
    };
    const result = await call("show", { display });
    const [file] = await userFiles.storage(ADA).list();
    expect(result.display).toEqual({
      ...display,
      files: [{ name: "page.html", id: file?.id, viewer: "html", auto_open: true }],
    });
    expect(file?.category).toBe("report");
    expect(Object.keys(seen(result))).toEqual(["results", "artifacts"]);
    expect(result.text).not.toContain("notification");
  });

  test("has a category hint only for files without a category", async () => {
    const { call, userFiles } = await lab();
    await call("show", { display: { category_hint: "report" }, category: "visualization" });
    expect((await userFiles.storage(ADA).list())[0]?.category).toBe("visualization");
  });

  test("may want a file not to be kept: then it is the call's alone", async () => {
    const { call, userFiles, store } = await lab();
    const result = await call("show", { display: { storage_action: "temporary" } });
    expect(await userFiles.storage(ADA).list()).toEqual([]);
    expect(result.display?.files).toMatchObject([{ name: "page.html", id: expect.stringMatching(/^lab_/) as string }]);
    expect(await store.get(result.display?.files[0]?.id ?? "", ADA)).toEqual(new TextEncoder().encode("<h1>Hi</h1>"));
  });
});

describe("persist_files_across_sessions", () => {
  test("true: files outlive a session, whose folder is emptied", async () => {
    const { call, userFiles } = await lab();
    await call("write", { name: "a.txt", content: "x" });
    await userFiles.endSession(ADA);
    expect(await userFiles.storage({ ...ADA, session_id: "another" }).list()).toHaveLength(1);
    expect(seen(await call("length", { filename: "a.txt" }))).toEqual({ results: { length: 1 } });
  });

  test("false: they are those of one session, and go with it, deferred ones too", async () => {
    const { call, userFiles } = await lab({ files: { persist_files_across_sessions: false } });
    await call("bytes");
    await call("show");
    expect(await userFiles.storage({ ...ADA, session_id: "another" }).list()).toEqual([]);
    expect(await userFiles.storage(ADA).list()).toHaveLength(2);
    await userFiles.endSession(ADA);
    expect(await userFiles.storage(ADA).list()).toEqual([]);
    expect(() => userFiles.storage({ user_id: "ada" })).toThrow("no session is named");
  });

  test("false: they go also where the folder of the user cannot be emptied", async () => {
    const refused = new SluiceError("E_STORE_DENIED", "Something else has the name of the workspace.");
    const openWorkspace = (): Promise<never> => Promise.reject(refused);
    const flags = { persist_files_across_sessions: false, openWorkspace };
    const userFiles = new UserFiles({ store: new MemoryArtifactStore(), ...flags });
    await userFiles.storage(ADA).put("a.txt", "x");
    await expect(userFiles.endSession(ADA)).rejects.toBe(refused);
    expect(await userFiles.storage(ADA).list()).toEqual([]);
  });
});
