import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { lstat, mkdir, readdir, readFile, rename, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { FileArtifactStore } from "../../../web/src/artifacts/file/file-store.js";
import { TemporaryFolder } from "../../../web/src/artifacts/file/temporaries.js";
import { emptyFolder } from "../../support/folder.js";
import { amount } from "../../support/full.js";
import {
  type Dying,
  dyingAtEach,
  killed as killedWriter,
  printed,
  type Program,
  programOf,
} from "../../support/program.js";
import { listed, same, noise } from "./bytes.js";

const STORE_PROGRAM = new URL("store-program.ts", import.meta.url);

describe("a process that dies", () => {
  const program = programOf(new URL("crash-program.ts", import.meta.url));

  /** What is wrong with a store whose process died before its call number `call`; through when it did not die. */
  async function dying(call: number): Promise<Dying> {
    const folder = join(await emptyFolder(), "store");
    const done = (await printed(program.start(folder, String(call)))) === "done";
    const store = new FileArtifactStore(folder);
    const wrong = await damagesOf(store);
    await store.gc();
    wrong.push(...(await damagesOf(store)));
    const refs = await listed(store.list());
    const left = await readdir(folder, { recursive: true }).catch(() => []);
    if (left.some((name) => /^tmp./.test(name))) wrong.push("temporaries were left");
    const blobs = left.filter((name) => /^blobs.*[0-9a-f]{64}$/.test(name)).length;
    if (blobs !== new Set(refs.map((ref) => ref.sha256)).size) wrong.push("blobs and refs do not match");
    // Whatever was left must not be in the way of the next.
    const again = await store.putBytes(new Uint8Array(100));
    if (!(await store.exists(again.id))) wrong.push("nothing can be stored");
    await rm(folder, { recursive: true });
    return { through: done, wrong };
  }

  async function damagesOf(store: FileArtifactStore): Promise<string[]> {
    const wrong: string[] = [];
    for (const { id, scope, filename } of await listed(store.list())) {
      const named = filename === null ? [] : await listed(store.list(scope, { filename }));
      if (filename !== null && !named.some((each) => each.id === id)) wrong.push(`${id}: not found by its name`);
      const failure = await store.get(id, scope).then(
        (bytes) => (bytes ? null : "gone"),
        (error: unknown) => String(error),
      );
      if (failure !== null) wrong.push(`${id}: ${failure}`);
    }
    return wrong;
  }

  test("a process may die before any of its calls to the file system", async () => {
    const { wrong, through, died } = await dyingAtEach(dying);
    expect(wrong).toEqual({});
    expect(through).toBe(true);
    expect(died).toBeGreaterThan(amount(12, 50));
  }, 120_000);
});

describe("a process that is killed", () => {
  const ROUNDS = amount(4, 8);
  const program = programOf(STORE_PROGRAM, "churn");

  async function blobNames(folder: string): Promise<string[]> {
    const entries = await readdir(join(folder, "blobs"), { recursive: true, withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  }

  test("two writers at once, killed over and over, never leave anything torn or lose what they stored", async () => {
    const folder = join(await emptyFolder(), "store");
    const stored = new Set<string>();
    for (let round = 1; round <= ROUNDS; round++) {
      const seeds = [round, round + ROUNDS];
      const dying = seeds.map((seed) => killedWriter(program, [folder, String(seed)], (seed * 37) % 120));
      for (const lines of await Promise.all(dying)) {
        // The last line may have been cut by the kill.
        const ids = lines.filter((line) => /_[0-9a-f]{12}$/.test(line));
        for (const id of ids) stored.add(id);
      }
      const store = new FileArtifactStore(folder);
      const refs = await listed(store.list());
      for (const { id, scope, size_bytes } of refs) expect((await store.get(id, scope))?.byteLength).toBe(size_bytes);
      const kept = await listed(store.list({ session_id: "kept" }));
      expect(kept.map((ref) => ref.id)).toEqual(expect.arrayContaining([...stored]));
      for (const path of await blobNames(folder)) {
        const hash = createHash("sha256").update(await readFile(path));
        expect(basename(path)).toBe(hash.digest("hex"));
      }
    }
    expect(stored.size).toBeGreaterThan(3);

    const store = new FileArtifactStore(folder);
    const before = await listed(store.list());
    await store.gc();
    expect(await readdir(join(folder, "tmp"))).toEqual([]);
    expect(await listed(store.list())).toEqual(before);
    for (const { id, scope } of before) expect(await store.get(id, scope)).not.toBeNull();
    expect(await blobNames(folder)).toHaveLength(new Set(before.map((ref) => ref.sha256)).size);
    expect(await store.gc()).toEqual({ blobs: 0, bytes: 0, temporaries: 0 });
  }, 120_000);
});

/** What processes leave behind that are killed while they write, and what those keep that are not. */
describe("what a dead process left behind", () => {
  const HOUR = 3_600_000;
  const MB = 1024 * 1024;
  /** Of an artifact that is half-written; the last 4 MB of it may be in memory. */
  const BYTES = 8 * MB;

  const program = programOf(STORE_PROGRAM, "half");
  let root: string;
  let folder: string;
  beforeEach(async () => {
    root = await emptyFolder();
    folder = join(root, "store");
  });

  interface Writer {
    readonly child: ChildProcess;
    /** All that it prints, when it has ended. */
    readonly output: Promise<string>;
  }

  /** Starts a process and waits until it has written the half. */
  async function half(seed: number, start = program.start): Promise<Writer> {
    const child = start(folder, String(seed), String(BYTES));
    const output = printed(child);
    await new Promise((resolve) => child.stdout?.once("data", resolve));
    return { child, output };
  }

  async function killed({ child, output }: Writer): Promise<void> {
    child.kill("SIGKILL");
    await output;
  }

  /** Lets it write the rest; whether the artifact is whole. */
  async function completes(writer: Writer, seed: number): Promise<boolean> {
    writer.child.kill("SIGUSR2");
    const id = (await writer.output).split("\n")[1] ?? "";
    return same(await new FileArtifactStore(folder).get(id), noise(BYTES, seed));
  }

  const temporaries = (): Promise<string[]> => readdir(join(folder, "tmp"));

  /** Bytes on the disk in a folder. */
  async function bytesIn(path: string): Promise<number> {
    const names = await readdir(path, { recursive: true });
    const files = await Promise.all(names.map((name) => lstat(join(path, name))));
    return files.reduce((sum, file) => sum + (file.isFile() ? file.size : 0), 0);
  }

  describe("of processes that were killed", () => {
    test("the next write leaves nothing, also that of a store that was open before", async () => {
      const open = new FileArtifactStore(folder);
      await open.putText("before");
      await Promise.all((await Promise.all([1, 2, 3].map((seed) => half(seed)))).map(killed));
      expect(await bytesIn(folder)).toBeGreaterThan(3 * BYTES - 13 * MB);
      await open.putText("after");
      expect(await temporaries()).toEqual([]);
      expect(await bytesIn(folder)).toBeLessThan(10_000);
    });

    test("gc leaves nothing, and says how many bytes that freed", async () => {
      await Promise.all((await Promise.all([1, 2].map((seed) => half(seed)))).map(killed));
      const before = await bytesIn(folder);
      const { bytes, ...swept } = await new FileArtifactStore(folder).gc();
      expect(swept).toEqual({ blobs: 0, temporaries: 2 });
      expect(bytes).toBe(before - (await bytesIn(folder)));
      expect(bytes).toBeGreaterThan(2 * BYTES - 9 * MB);
      expect(await temporaries()).toEqual([]);
    });

    test("a content goes with them that only they had shared", async () => {
      const store = new FileArtifactStore(folder);
      const { id, sha256 } = await store.putBytes(noise(BYTES));
      await killed(await half(2));
      // As if it had been killed between sharing its content and publishing the ref.
      const [left = ""] = (await temporaries()).filter((name) => name.length > 40);
      await rm(join(folder, "tmp", left), { recursive: true });
      const scope = (await readdir(join(folder, "refs")))[0] ?? "";
      await rename(join(folder, "refs", scope, id), join(folder, "tmp", left));
      expect(await store.gc()).toMatchObject({ blobs: 1, temporaries: 1 });
      expect(await bytesIn(folder)).toBeLessThan(10_000);
      expect(await readdir(join(folder, "blobs", sha256.slice(0, 2)))).toEqual([]);
    });
  });

  describe("of processes that live", () => {
    test("nothing is taken, however long they are stopped and whatever the clock says", async () => {
      const writers = await Promise.all([1, 2, 3].map((seed) => half(seed)));
      for (const { child } of writers) child.kill("SIGSTOP");
      for (const name of await temporaries()) await utimes(join(folder, "tmp", name), 1, 1);
      for (let turn = 0; turn < 3; turn++) {
        const other = new FileArtifactStore(folder, { sweepAfter: 0 });
        await other.putText("x");
        expect((await other.gc()).temporaries).toBe(0);
      }
      for (const { child } of writers) child.kill("SIGCONT");
      expect(await Promise.all(writers.map((writer, at) => completes(writer, at + 1)))).toEqual([true, true, true]);
      expect(await temporaries()).toEqual([]);
    });

    test("nothing is taken where a process was asked more often than it can answer", async () => {
      const writer = await half(1);
      writer.child.kill("SIGSTOP");
      const other = new FileArtifactStore(folder, { sweepAfter: 0 });
      // More than a socket keeps waiting.
      for (let turn = 0; turn < 600; turn++) expect((await other.gc()).temporaries).toBe(0);
      writer.child.kill("SIGCONT");
      expect(await completes(writer, 1)).toBe(true);
    });

    test("nothing is taken while others are killed and swept at random", async () => {
      const random = noise(1000, 5);
      const writers = new Map<number, Writer>();
      for (let seed = 1; seed <= 12; seed++) writers.set(seed, await half(seed));
      const sweeper = new FileArtifactStore(folder, { sweepAfter: 0 });
      for (const [seed, writer] of writers) {
        const dice = (random[seed] ?? 0) % 3;
        if (dice === 0) writer.child.kill("SIGSTOP");
        if (dice === 1) {
          await killed(writer);
          writers.delete(seed);
        }
        await sweeper.gc();
      }
      expect(writers.size).toBeGreaterThan(3);
      expect(writers.size).toBeLessThan(12);
      for (const { child } of writers.values()) child.kill("SIGCONT");
      const whole = await Promise.all([...writers].map(([seed, writer]) => completes(writer, seed)));
      expect(whole).toEqual(whole.map(() => true));
      expect(await listed(sweeper.list())).toHaveLength(writers.size);
      await sweeper.putText("x");
      expect(await temporaries()).toEqual([]);
    });

    test("nothing is taken of this process, and a path may be longer than one of a socket", async () => {
      folder = join(root, "long".repeat(40), "store");
      const store = new FileArtifactStore(folder);
      const writer = await store.openWriter();
      await writer.write(noise(BYTES));
      await new FileArtifactStore(folder, { sweepAfter: 0 }).gc();
      await store.gc();
      const dead = await half(2);
      await killed(dead);
      expect((await store.gc()).temporaries).toBe(1);
      const ref = await writer.close();
      expect(same(await store.get(ref.id), noise(BYTES))).toBe(true);
      expect(await temporaries()).toEqual([]);
    });
  });

  /** Process ids of its own, as a container has them: no id there says anything here. */
  const CONTAINER = ["--pid", "--fork", "--mount-proc", "--kill-child", process.execPath];
  const hasContainers = spawnSync("unshare", [...CONTAINER, "--version"]).status === 0;

  const contained: Program["start"] = (...words) =>
    spawn("unshare", [...CONTAINER, program.path, "half", ...words], { stdio: ["ignore", "pipe", "inherit"] });

  test.runIf(hasContainers)(
    "of processes in other containers, those that live are told from those that do not",
    async () => {
      const [dead, stopped] = [await half(1, contained), await half(2, contained)];
      await killed(dead);
      // The first process that unshare started.
      const [pid = ""] = (
        await readFile(`/proc/${stopped.child.pid}/task/${stopped.child.pid}/children`, "utf8")
      ).split(" ");
      process.kill(Number(pid), "SIGSTOP");
      const store = new FileArtifactStore(folder, { sweepAfter: 0 });
      expect((await store.gc()).temporaries).toBe(1);
      process.kill(Number(pid), "SIGCONT");
      process.kill(Number(pid), "SIGUSR2");
      const id = (await stopped.output).split("\n")[1] ?? "";
      expect(same(await store.get(id), noise(BYTES, 2))).toBe(true);
    },
  );

  /** As if it had been written so many milliseconds ago. */
  async function write(name: string, age: number): Promise<void> {
    const path = join(folder, "tmp", name);
    await mkdir(path, { recursive: true });
    await writeFile(join(path, "blob"), "x");
    const then = new Date(Date.now() - age);
    for (const each of [join(path, "blob"), path]) await utimes(each, then, then);
  }

  describe("of processes that cannot be asked", () => {
    test("only what is a day old is taken, by whatever clock", async () => {
      await new FileArtifactStore(folder).putText("x");
      const ages = { old: 25 * HOUR, ahead: -25 * HOUR, young: 23 * HOUR };
      const [old, ahead, young] = ["1", "2", "3"].map(
        (each) => `${each.repeat(12)}-${each.repeat(16)}-${each.repeat(16)}`,
      );
      await write(old ?? "", ages.old);
      await write(ahead ?? "", ages.ahead);
      await write(young ?? "", ages.young);
      await write("foreign", 99 * HOUR);
      await new FileArtifactStore(folder).putText("y");
      expect((await temporaries()).toSorted()).toEqual([young, "foreign"]);
      expect(await new FileArtifactStore(folder, { sweepAfter: 0 }).gc()).toMatchObject({ temporaries: 1, bytes: 1 });
      expect(await temporaries()).toEqual(["foreign"]);
    });

    test("a process in a folder without sockets is one of them", async () => {
      await mkdir(folder);
      await symlink(join(root, "nowhere"), join(root, "link"));
      const here = new TemporaryFolder(join(root, "link"));
      const { owner, release } = await here.path();
      expect(await here.stateOf(owner)).toBe("running");
      expect(await new TemporaryFolder(join(root, "link")).stateOf(owner)).toBe("unknown");
      await release();
    });
  });
});
