import { mkdir, readdir, rm, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { inspect } from "node:util";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { TemporaryFolder } from "../../../web/src/artifacts/file/temporaries.js";
import { FileStateStore } from "../../../web/src/planner/file-state-store.js";
import { MemoryStateStore, type StateEvent } from "../../../web/src/planner/state-store.js";
import { emptyFolder } from "../../support/folder.js";
import { amount } from "../../support/full.js";
import { type Dying, dyingAtEach, linesIn, printed, programOf } from "../../support/program.js";
import { endedOwner } from "../artifacts/ended.js";
import { mounted, unmounted } from "../artifacts/small-disk.js";
import { describeStateStore } from "./state-store-contract.js";

describeStateStore("FileStateStore", async (bounds) => {
  const root = await emptyFolder();
  let now = Date.UTC(2026, 0, 1);
  const opened = (): FileStateStore => new FileStateStore(join(root, "state"), { ...bounds, clock: () => now });
  return {
    store: opened(),
    beside: opened,
    pass: (ms) => void (now += ms),
    dispose: async () => undefined,
  };
});

describe("the folder", () => {
  let root: string;
  let folder: string;
  beforeEach(async () => {
    root = await emptyFolder();
    folder = join(root, "some", "state");
  });
  const filled = async (options = {}): Promise<FileStateStore> => {
    const store = new FileStateStore(folder, options);
    await store.savePlannerState("token", { secret: "hush" });
    await store.saveOAuthState("nonce", { secret: "hush" }, 600);
    await store.saveEvent("trace", { kind: "a" });
    await store.saveRemoteBinding({ trace_id: "trace", context_id: null, task_id: "t", agent_url: "https://a.test" });
    return store;
  };
  const count = async (room: string): Promise<number> => (await readdir(join(folder, room))).length;
  const found = async (): Promise<string[]> => (await readdir(folder, { recursive: true })).sort();

  test("is made by the first that is saved, and not by looking", async () => {
    const store = new FileStateStore(folder);
    expect(await store.loadPlannerState("token")).toBeNull();
    expect(await store.claimPlannerState("token", "ada", 1)).toBe(false);
    await store.savePlannerState("token", null);
    expect(await store.loadOAuthState("nonce")).toBeNull();
    expect(await store.takeOAuthState("nonce")).toBeNull();
    expect(await store.loadHistory("trace")).toEqual([]);
    expect(await readdir(root)).toEqual([]);
    await filled();
    expect(await found()).toContain("sluice-state.json");
  });

  test("is for its owner alone, and nobody sees tokens or ids in it", async () => {
    const store = await filled();
    await store.claimPlannerState("token", "somebody", 10);
    const names = await found();
    expect(names.join("\n")).not.toMatch(/token|nonce|trace|somebody/);
    for (const name of ["", ...names]) {
      const { mode } = await stat(join(folder, name));
      expect([name, (mode & 0o777).toString(8)]).toEqual([name, mode & 0o040000 ? "700" : "600"]);
    }
  });

  test("has nothing left of what was forgotten or became too old", async () => {
    let now = Date.now();
    const store = await filled({ maxAgeSeconds: 5, clock: () => now });
    await store.claimPlannerState("token", "ada", 10);
    await store.releasePlannerState("token", "ada", "forget");
    now += 4_000_000;
    await store.saveEvent("other", { kind: "b" });
    const left = (await found()).filter((name) => /[0-9a-f]{64}/.test(name));
    expect(left).toHaveLength(2);
    expect(await readdir(join(folder, "moving"))).toEqual([]);
  });

  test("what a dead process left on its way is swept, and what lives is left alone", async () => {
    await filled();
    const moving = join(folder, "moving");
    const living = await new TemporaryFolder(moving).path();
    const dead = join(moving, `${await endedOwner(moving)}-${"0".repeat(16)}`);
    for (const path of [living.path, dead]) {
      await writeFile(path, "");
      await utimes(path, 1, 1);
    }
    await filled();
    expect((await readdir(moving)).toSorted()).toEqual([living.owner, basename(living.path)]);
    await living.release();
  });

  test("a run that is damaged says so", async () => {
    const store = await filled();
    const runs = await readdir(join(folder, "runs"), { recursive: true, withFileTypes: true });
    const file = runs.find((entry) => entry.isFile());
    await writeFile(join(file?.parentPath ?? "", file?.name ?? ""), '{"secret":');
    const failure: unknown = await store.loadPlannerState("token").catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: "E_STORE_CORRUPT" });
    expect(inspect(failure, { depth: 9, showHidden: true })).not.toContain("secret");
  });

  test("a store with a smaller bound says that it is that, takes nothing away, and sees the other events", async () => {
    const large = await filled();
    await large.savePlannerState("token", "x".repeat(100));
    await large.saveOAuthState("nonce", "x".repeat(100), 600);
    await large.saveEvent("trace", { kind: "x".repeat(100) });
    await large.saveEvent("trace", { kind: "c" });
    const small = new FileStateStore(folder, { maxBytes: 50 });
    for (const asked of [
      () => small.loadPlannerState("token"),
      () => small.loadOAuthState("nonce"),
      () => small.takeOAuthState("nonce"),
      () => small.loadRemoteBinding("trace", "t"),
    ]) {
      await expect(asked()).rejects.toMatchObject({
        code: "E_TOO_LARGE",
        message: expect.stringContaining("maxBytes"),
      });
    }
    expect((await small.loadHistory("trace")).map(({ event }) => event.kind)).toEqual(["a", "c"]);
    expect(await large.takeOAuthState("nonce")).toBe("x".repeat(100));
    const brief = new FileStateStore(folder, { maxHistoryBytes: 1 });
    expect((await brief.loadHistory("trace")).map(({ event }) => event.kind)).toEqual(["c"]);
  });

  test("a room that is full has room for a tenth more then, and only it is looked through", async () => {
    let now = Date.now();
    const store = await filled({ maxKept: 20, maxAgeSeconds: 50, clock: () => now });
    now += 60_000;
    for (let at = 0; at < 20; at++) await store.saveOAuthState(`nonce ${at}`, at, 600);
    // What is too old there is forgotten, and there is room again.
    expect(await count("oauth")).toBe(18);
    for (const room of ["runs", "events", "bindings"]) expect([room, await count(room)]).toEqual([room, 1]);
    for (const left of [19, 20, 18]) {
      await store.saveOAuthState(`another ${left}`, 1, 600);
      expect(await count("oauth")).toBe(left);
    }
    expect(await store.loadOAuthState("nonce 19")).toBe(19);
  });

  test("a state that is damaged says so, and is taken all the same", async () => {
    const store = await filled();
    const states = await readdir(join(folder, "oauth"), { recursive: true, withFileTypes: true });
    const file = states.find((entry) => entry.isFile());
    const path = join(file?.parentPath ?? "", file?.name ?? "");
    await writeFile(path, '{"secret":');
    await expect(store.loadOAuthState("nonce")).rejects.toMatchObject({ code: "E_STORE_CORRUPT" });
    await expect(store.takeOAuthState("nonce")).rejects.toMatchObject({ code: "E_STORE_CORRUPT" });
    expect(await store.takeOAuthState("nonce")).toBeNull();
  });

  test("one that was made before there were OAuth states takes them", async () => {
    const store = await filled();
    await rm(join(folder, "oauth"), { recursive: true });
    expect(await store.takeOAuthState("nonce")).toBeNull();
    const later = new FileStateStore(folder);
    expect(await later.loadOAuthState("nonce")).toBeNull();
    await later.saveOAuthState("nonce", 1, 60);
    expect(await store.takeOAuthState("nonce")).toBe(1);
  });

  test("a link in place of a state is not followed, and not taken for one", async () => {
    const store = await filled();
    const [name = ""] = await readdir(join(folder, "oauth"));
    await rm(join(folder, "oauth", name), { recursive: true });
    await mkdir(join(root, "elsewhere"));
    await writeFile(join(root, "elsewhere", `${"0".repeat(17)}-${Date.now() + 60_000}-${"0".repeat(16)}`), '"theirs"');
    await symlink(join(root, "elsewhere"), join(folder, "oauth", name));
    await expect(store.loadOAuthState("nonce")).rejects.toMatchObject({ code: "E_STORE_DENIED" });
    await expect(store.takeOAuthState("nonce")).rejects.toMatchObject({ code: "E_STORE_DENIED" });
    expect(await readdir(join(root, "elsewhere"))).toHaveLength(1);
  });

  test("links, folders of others and newer stores are refused, without a path in the sentence", async () => {
    await filled();
    await rm(join(folder, "runs"), { recursive: true });
    await symlink(tmpdir(), join(folder, "runs"));
    const linked = new FileStateStore(folder).savePlannerState("token", {});
    await expect(linked).rejects.toMatchObject({ code: "E_STORE_DENIED" });
    await expect(linked).rejects.not.toThrow(root);

    const others = join(root, "others");
    await mkdir(join(others, "runs"), { recursive: true });
    await expect(new FileStateStore(others).savePlannerState("t", {})).rejects.toMatchObject({
      code: "E_STORE_DENIED",
    });

    await writeFile(join(folder, "sluice-state.json"), '{"sluice":"state store","version":2}\n');
    await expect(new FileStateStore(folder).loadPlannerState("t")).rejects.toMatchObject({ code: "E_STORE_READ" });
    await writeFile(join(folder, "sluice-state.json"), "{}");
    await expect(new FileStateStore(folder).loadPlannerState("t")).rejects.toMatchObject({ code: "E_STORE_CORRUPT" });
  });

  test("a full disk is reported as full; what was kept stays, and nothing is left of the rest", async ({ skip }) => {
    const disk = mounted(1) ?? skip("mounting a small disk needs root");
    onTestFinished(() => unmounted(disk));
    const store = new FileStateStore(join(disk, "state"));
    const payload = "x".repeat(300_000);
    const saving = (token: string): Promise<void> => store.savePlannerState(token, payload);
    for (const token of ["a", "b", "c"]) await saving(token);
    await expect(saving("d")).rejects.toMatchObject({ code: "E_STORE_FULL" });
    expect(await readdir(join(disk, "state", "moving"))).toEqual([]);
    await expect(saving("a")).rejects.toMatchObject({ code: "E_STORE_FULL" });
    expect(await store.loadPlannerState("a")).toBe(payload);
    await store.savePlannerState("a", null);
    await saving("d");
    expect(await store.loadPlannerState("d")).toBe(payload);
  });
});

const program = programOf(new URL("state-crash-program.ts", import.meta.url));

/** What is wrong with a store whose process died before its call number `call`; through when it did not die. */
async function dying(call: number): Promise<Dying> {
  const folder = join(await emptyFolder(), "store");
  const lines = linesIn(await printed(program.start(folder, String(call))));
  const said = new Set(lines);
  const wrong = lines.filter((line) => line.startsWith("failed"));
  const store = new FileStateStore(folder, { clock: () => Date.now() + 61_000 });
  const check = (holds: boolean, what: string): void => void (holds || wrong.push(what));

  const [kept, done] = [await store.loadPlannerState("kept"), await store.loadPlannerState("done")];
  check(JSON.stringify(kept) === '{"run":"kept"}' || (kept === null && !said.has("kept")), "what was kept is lost");
  const mayBeGone = !said.has("saved") || said.has("event 2");
  const run = done === null ? null : (done as { readonly run: string }).run;
  check(["done", "updated", "updated again"].includes(run ?? "") || (run === null && mayBeGone), "a run is lost");
  check(run !== "done" || !said.has("updated"), "an update is lost");
  check(run !== "updated" || !said.has("updated again"), "another update is lost");
  check(done === null || !said.has("forgotten"), "what was forgotten is there");
  check((await store.claimPlannerState("done", "other", 60)) === (done !== null), "the run cannot be claimed");
  check((await store.releasePlannerState("done", "other", "forget")) === (done !== null), "it cannot be forgotten");
  const kinds = (await store.loadHistory<StateEvent>("trace")).map(({ event }) => event.kind);
  check(!said.has("event 1") || kinds[0] === "1", "an event is lost");
  check(!said.has("event 2") || kinds[1] === "2", "another event is lost");
  check(!said.has("bound") || (await store.loadRemoteBinding("trace", "task")) !== null, "a binding is lost");
  const takenFirst = await store.takeOAuthState("asked");
  check(!said.has("asked") || takenFirst !== null || said.has("waits"), "a request is lost");
  check(!said.has("asked again") || takenFirst !== "one", "an old request is there");
  check(!said.has("answered") || takenFirst === null, "a request can be answered twice");
  check((await store.takeOAuthState("asked")) === null, "what was replaced comes back");
  check(!said.has("waits") || (await store.takeOAuthState("waits")) === "still", "another request is lost");
  // Whatever was left must not be in the way of the next.
  await store.savePlannerState("done", { run: "new" });
  check(await store.claimPlannerState("done", "other", 60), "nothing can be kept");
  await store.saveEvent("trace", { kind: "3" });
  check((await store.loadHistory<StateEvent>("trace")).at(-1)?.event.kind === "3", "nothing can be said");
  await rm(folder, { recursive: true });
  return { through: said.has("through"), wrong };
}

test("a process may die before any of its calls to the file system", async () => {
  const { wrong, through, died } = await dyingAtEach(dying);
  expect(wrong).toEqual({});
  expect(through).toBe(true);
  expect(died).toBeGreaterThan(amount(5, 50));
}, 120_000);

describeStateStore("MemoryStateStore", async (bounds) => {
  let now = Date.UTC(2026, 0, 1);
  const store = new MemoryStateStore({ ...bounds, clock: () => now });
  return { store, beside: () => store, pass: (ms) => void (now += ms), dispose: async () => undefined };
});

test("shows nothing of what it keeps", async () => {
  const store = new MemoryStateStore();
  await store.savePlannerState("token", { answer: "hush" });
  await store.saveOAuthState("state", { verifier: "hush" }, 60);
  expect(inspect(store, { showHidden: true, depth: null })).not.toMatch(/token|hush/);
  expect(JSON.stringify(store)).toBe("{}");
});

test.each(["maxKept", "maxEvents", "maxBytes", "maxHistoryBytes", "maxAgeSeconds"])(
  "a bound %s that is none",
  (name) => {
    expect(() => new MemoryStateStore({ [name]: 0 })).toThrow(expect.objectContaining({ code: "E_INVALID_ARGUMENT" }));
  },
);

test("a run is kept for a day unless told otherwise", async () => {
  let now = 0;
  const store = new MemoryStateStore({ clock: () => now });
  await store.savePlannerState("t", "run");
  now = 24 * 60 * 60 * 1000 - 1;
  expect(await store.loadPlannerState("t")).toBe("run");
  now += 1;
  expect(await store.loadPlannerState("t")).toBeNull();
});

test("the newest event of a trace is kept, though it is too large for a history", async () => {
  const store = new MemoryStateStore({ maxHistoryBytes: 1 });
  for (const kind of ["a", "b"]) await store.saveEvent("trace", { kind });
  expect((await store.loadHistory("trace")).map(({ event }) => event.kind)).toEqual(["b"]);
});

test("a claim holds to its last millisecond", async () => {
  let now = 0;
  const store = new MemoryStateStore({ clock: () => now });
  await store.savePlannerState("t", "run");
  await store.claimPlannerState("t", "ada", 0.5);
  now = 499;
  expect(await store.claimPlannerState("t", "eve", 1)).toBe(false);
  now = 500;
  expect(await store.releasePlannerState("t", "ada", "wait")).toBe(false);
  expect(await store.claimPlannerState("t", "eve", 1)).toBe(true);
});
