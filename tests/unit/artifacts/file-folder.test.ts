/** What is particular to the file store: the folder it keeps, damage in it, and other processes. */
import { execFileSync } from "node:child_process";
import {
  chmod,
  chown,
  lstat,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
  truncate,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { FileArtifactStore } from "../../../web/src/artifacts/file/file-store.js";
import { Layout } from "../../../web/src/artifacts/file/folder.js";
import { scopeKey } from "../../../web/src/artifacts/scope.js";
import type { ArtifactRef } from "../../../web/src/artifacts/store.js";
import { listed, same, noise } from "./bytes.js";
import { emptyFolder } from "../../support/folder.js";
import { bundled, printed } from "../../support/program.js";

let root: string;
let folder: string;
let layout: Layout;
let store: FileArtifactStore;
beforeEach(async () => {
  root = await emptyFolder();
  folder = join(root, "store");
  layout = new Layout(folder);
  store = new FileArtifactStore(folder);
});

const refFolder = (ref: ArtifactRef): string => layout.refFolder(scopeKey(ref.scope), ref.id);
const entries = (): Promise<string[]> => readdir(folder, { recursive: true });

describe("the folder", () => {
  test("is named by its path", () => {
    for (const directory of [undefined, { folder }, 5, new URL("file:///tmp")]) {
      expect(() => new FileArtifactStore(directory as never)).toThrow(
        expect.objectContaining({ code: "E_INVALID_ARGUMENT", path: "directory" }),
      );
    }
  });

  test("is not made by looking into it", async () => {
    expect(await store.get("artifact_000000000000")).toBeNull();
    expect(await store.delete("artifact_000000000000")).toBe(false);
    expect(await listed(store.list())).toEqual([]);
    expect(await store.gc()).toEqual({ blobs: 0, bytes: 0, temporaries: 0 });
    await (await store.openWriter()).abort();
    expect(await readdir(root)).toEqual([]);
  });

  test("is made with those above it, by the first process", async () => {
    for (let round = 0; round < 40; round += 1) {
      const path = join(root, String(round), "above", "store");
      const stores = Array.from({ length: 8 }, () => new FileArtifactStore(path));
      await Promise.all(stores.map((each, at) => each.putText(`text ${at}`)));
      expect(await listed(new FileArtifactStore(path).list())).toHaveLength(8);
    }
  });

  test("is its owner's alone", async () => {
    await store.putBytes(noise(100_000), { scope: { user_id: "someone@example.org" } });
    await store.putText("small");
    for (const name of ["", ...(await entries())]) {
      const stat = await lstat(join(folder, name));
      expect([name, stat.mode & 0o777]).toEqual([name, stat.isDirectory() ? 0o700 : 0o600]);
      expect(name).not.toMatch(/someone/);
    }
  });

  test("of someone else is not taken over, and never purged", async () => {
    await mkdir(join(folder, "blobs"), { recursive: true });
    await writeFile(join(folder, "blobs", "precious"), "x");
    await expect(store.putText("x")).rejects.toMatchObject({ code: "E_STORE_DENIED" });
    await expect(store.purge()).rejects.toMatchObject({ code: "E_NOT_FOUND" });
    expect(await readFile(join(folder, "blobs", "precious"), "utf8")).toBe("x");
  });

  test("may hold other things, which a purge leaves", async () => {
    await mkdir(folder);
    await writeFile(join(folder, "notes.txt"), "mine");
    const { id } = await store.putText("x");
    await store.purge();
    expect(await entries()).toEqual(["notes.txt"]);
    expect(await store.get(id)).toBeNull();
    await store.putText("again");
    await rm(join(folder, "notes.txt"));
    await new FileArtifactStore(folder).purge();
    expect(await readdir(root)).toEqual([]);
  });

  test("may be purged under another process's feet", async () => {
    const other = new FileArtifactStore(folder);
    await store.putText("one");
    await other.purge();
    const ref = await store.putText("two");
    expect(await new FileArtifactStore(folder).get(ref.id)).toEqual(new TextEncoder().encode("two"));
  });

  test("that is purged during a write fails the write, and takes the next", async () => {
    const writer = await store.openWriter();
    await writer.write(noise(2_000_000));
    await new FileArtifactStore(folder).purge();
    await expect(writer.close()).rejects.toMatchObject({ code: "E_STORE_WRITE" });
    const ref = await store.putBytes(noise(2_000_000));
    expect(same(await store.get(ref.id), noise(2_000_000))).toBe(true);
    expect(await listed(store.list())).toEqual([ref]);
  });

  test("of a newer version, or with a marker that is none, is refused", async () => {
    await mkdir(folder);
    await writeFile(layout.marker, '{"sluice":"artifact store","version":2}');
    await expect(store.putText("x")).rejects.toMatchObject({ code: "E_STORE_READ" });
    await expect(store.purge()).rejects.toMatchObject({ code: "E_STORE_READ" });
    await writeFile(layout.marker, "{}");
    await expect(store.get("artifact_000000000000")).rejects.toMatchObject({ code: "E_STORE_CORRUPT" });
  });

  describe("that cannot be one is an error with a remedy and no path,", () => {
    test.each([
      ["a file", "file", "file", "E_STORE_WRITE", "The store path is a file, or lies inside one: use a folder."],
      ["below a file", "file", "file/below/it", "E_STORE_WRITE", "The store path is a file, or lies inside one"],
      [
        "a link to nothing",
        "nowhere",
        "link",
        "E_STORE_DENIED",
        "is a link that leads to a path that does not exist: create it",
      ],
      ["below one", "nowhere", "link/below/it", "E_STORE_DENIED", "is a link that leads to a path that does not exist"],
      ["a link to itself", "link", "link", "E_STORE_DENIED", "is a link that leads back to itself: remove it"],
      ["below that", "link", "link/below/it", "E_STORE_DENIED", "is a link that leads back to itself: remove it"],
    ])("%s", async (_, target, name, code, message) => {
      await writeFile(join(root, "file"), "x");
      await symlink(target, join(root, "link"));
      const failures = [
        await new FileArtifactStore(join(root, name)).putText("x").catch((error: unknown) => error),
        await new FileArtifactStore(join(root, name)).get("artifact_000000000000").catch((error: unknown) => error),
      ];
      for (const [at, failure] of failures.entries()) {
        expect(failure).toMatchObject({ code: at === 0 ? code : code.replace("WRITE", "READ") });
        expect(String(failure)).toContain(message);
        expect(String(failure)).toMatch(/use (a|another) folder\.$/);
        expect(String(failure)).not.toContain(root);
      }
      expect((await readdir(root)).toSorted()).toEqual(["file", "link"]);
    });
  });

  test("may be a link to one", async () => {
    await mkdir(join(root, "elsewhere"));
    await symlink("elsewhere", folder);
    const { id } = await store.putText("x");
    expect(await new FileArtifactStore(join(root, "elsewhere")).exists(id)).toBe(true);
  });

  describe.skipIf(process.platform === "win32")("that others may write to is refused,", () => {
    const refused = { code: "E_STORE_DENIED", message: expect.stringContaining("chmod 700") as string };

    test.each([0o777, 0o1777, 0o702])("whether it is a store already or not: %o", async (mode) => {
      const { id } = await store.putText("x");
      await chmod(folder, mode);
      await expect(new FileArtifactStore(folder).putText("y")).rejects.toMatchObject(refused);
      await expect(new FileArtifactStore(folder).get(id)).rejects.toMatchObject(refused);
      await chmod(folder, 0o700);
      expect(await new FileArtifactStore(folder).exists(id)).toBe(true);
      await mkdir(join(root, "shared"));
      await chmod(join(root, "shared"), mode);
      await expect(new FileArtifactStore(join(root, "shared")).putText("y")).rejects.toMatchObject(refused);
      expect(await readdir(join(root, "shared"))).toEqual([]);
      expect(await new FileArtifactStore(join(root, "shared", "own")).putText("y")).toMatchObject({ size_bytes: 1 });
    });

    test("also where it is only a folder in it", async () => {
      await store.putText("x");
      await chmod(join(folder, "refs"), 0o777);
      await expect(new FileArtifactStore(folder).putText("y")).rejects.toMatchObject(refused);
    });

    test.runIf(process.getuid?.() === 0)(
      "by a group of several users, or as its owner; not by one's own group",
      async () => {
        await store.putText("x");
        await chmod(folder, 0o770);
        expect(await new FileArtifactStore(folder).putText("y")).toMatchObject({ size_bytes: 1 });
        await chown(folder, 0, 100);
        await expect(new FileArtifactStore(folder).putText("y")).rejects.toMatchObject(refused);
        await chmod(folder, 0o750);
        expect(await new FileArtifactStore(folder).putText("y")).toMatchObject({ size_bytes: 1 });
        await chown(folder, 65_534, 65_534);
        const theirs = {
          code: "E_STORE_DENIED",
          message: expect.stringContaining("belongs to another user") as string,
        };
        await expect(new FileArtifactStore(folder).putText("y")).rejects.toMatchObject(theirs);
      },
    );
  });

  test("that may not be written is E_STORE_DENIED", async () => {
    await chmod(root, 0o755);
    await mkdir(folder, { mode: 0o555 });
    const program = await bundled(new URL("store-program.ts", import.meta.url), "denied");
    try {
      expect(await printed(program.start(folder))).toBe("E_STORE_DENIED");
    } finally {
      await program.dispose();
    }
  });
});

describe("links inside", () => {
  test.each(["blobs", "refs", "tmp"])("%s is refused", async (name) => {
    await store.putText("x");
    await rename(join(folder, name), join(root, "elsewhere"));
    const before = await readdir(join(root, "elsewhere"), { recursive: true });
    await symlink(join(root, "elsewhere"), join(folder, name));
    const fresh = new FileArtifactStore(folder);
    await expect(fresh.putText("y")).rejects.toMatchObject({ code: "E_STORE_DENIED" });
    await expect(listed(fresh.list())).rejects.toMatchObject({ code: "E_STORE_DENIED" });
    await expect(fresh.purge()).rejects.toMatchObject({ code: "E_STORE_DENIED" });
    expect(await readdir(join(root, "elsewhere"), { recursive: true })).toEqual(before);
  });

  test("a scope, a ref, what is said of it, its bytes, a blob's folder: none is followed", async () => {
    const ref = await store.putText("x");
    const blobFolder = layout.blobFolder(ref.sha256);
    const targets = [
      layout.scopeFolder(scopeKey({})),
      refFolder(ref),
      join(refFolder(ref), "ref.json"),
      join(refFolder(ref), "blob"),
    ];
    for (const target of targets) {
      await rename(target, join(root, "moved"));
      await symlink(join(root, "moved"), target);
      await expect(new FileArtifactStore(folder).get(ref.id)).rejects.toMatchObject({ code: "E_STORE_DENIED" });
      await rm(target);
      await rename(join(root, "moved"), target);
      expect(await store.get(ref.id)).not.toBeNull();
    }
    await rename(blobFolder, join(root, "moved"));
    await symlink(join(root, "moved"), blobFolder);
    const fresh = new FileArtifactStore(folder);
    await expect(fresh.putText("x", { namespace: "other" })).rejects.toMatchObject({ code: "E_STORE_DENIED" });
  });

  test("a pipe in place of bytes is refused, not waited for", async () => {
    const ref = await store.putText("x");
    await rm(join(refFolder(ref), "blob"));
    execFileSync("mkfifo", [join(refFolder(ref), "blob")]);
    await expect(store.get(ref.id)).rejects.toMatchObject({ code: "E_STORE_DENIED" });
  });
});

describe("damage", () => {
  test("changed, shortened and missing bytes are E_STORE_CORRUPT, and storing anew heals", async () => {
    const data = noise(70_000);
    const ref = await store.putBytes(data);
    const path = join(refFolder(ref), "blob");
    const damages = [
      (): Promise<void> => writeFile(path, noise(70_000, 2)),
      (): Promise<void> => truncate(path, 10),
      (): Promise<void> => rm(path),
    ];
    for (const damage of damages) {
      await damage();
      await expect(store.get(ref.id)).rejects.toMatchObject({ code: "E_STORE_CORRUPT" });
      expect(await store.delete(ref.id)).toBe(true);
      expect(await store.putBytes(data)).toEqual(ref);
      expect(same(await store.get(ref.id), data)).toBe(true);
    }
  });

  test("storing again repairs what is damaged without a delete", async () => {
    const data = noise(70_000);
    const ref = await store.putBytes(data);
    const damages = [
      (): Promise<void> => truncate(join(refFolder(ref), "blob"), 5),
      (): Promise<void> => rm(join(refFolder(ref), "blob")),
      (): Promise<void> => writeFile(join(refFolder(ref), "ref.json"), "{bad"),
      (): Promise<void> => truncate(join(refFolder(ref), "ref.json"), 0),
    ];
    for (const damage of damages) {
      await damage();
      expect(await new FileArtifactStore(folder).putBytes(data)).toMatchObject({ id: ref.id, sha256: ref.sha256 });
      expect(same(await store.get(ref.id), data)).toBe(true);
    }
  });

  test("a shared blob that a power cut shortened is not given to the next", async () => {
    for (const data of [noise(1000), noise(100_000)]) {
      const ref = await store.putBytes(data);
      await truncate(layout.blob(ref.sha256), 1);
      const other = await store.putBytes(data, { scope: { user_id: "u" } });
      expect(same(await store.get(other.id, other.scope), data)).toBe(true);
      await expect(store.get(ref.id)).rejects.toMatchObject({ code: "E_STORE_CORRUPT" });
      expect(same(await store.get(other.id, other.scope), data)).toBe(true);
      expect((await lstat(layout.blob(ref.sha256)).catch(() => null))?.size ?? data.length).toBe(data.length);
    }
  });

  test.each([
    ["nothing", () => ""],
    ["no JSON", () => "{"],
    ["another id", (text: string) => text.replace(/"id":"artifact/, '"id":"other')],
    ["another scope", (text: string) => text.replace('"user_id":null', '"user_id":"u"')],
    ["a hash that is a path", (text: string) => text.replace(/"sha256":"\w+"/, '"sha256":"../../../x"')],
    ["a size that is none", (text: string) => text.replace(/"size_bytes":\d+/, '"size_bytes":-1')],
    ["too much", (text: string) => text.padEnd(26 * 1024 * 1024)],
  ])("a ref that holds %s is E_STORE_CORRUPT, not listed, and can be deleted", async (_, damage) => {
    const ref = await store.putText("x");
    const sound = await store.putText("sound");
    const path = join(refFolder(ref), "ref.json");
    await writeFile(path, damage(await readFile(path, "utf8")));
    await expect(store.stat(ref.id)).rejects.toMatchObject({ code: "E_STORE_CORRUPT" });
    expect(await listed(store.list())).toEqual([sound]);
    expect(await store.delete(ref.id)).toBe(true);
    expect(await store.exists(ref.id)).toBe(false);
    expect((await store.gc()).blobs).toBe(1);
    expect(await store.get(sound.id)).not.toBeNull();
  });
});

describe("clearing up", () => {
  test("removes blobs that lost their refs, and says how much that was", async () => {
    const kept = await store.putBytes(noise(500));
    const lost = await store.putBytes(noise(700));
    await rm(refFolder(lost), { recursive: true });
    expect(await store.gc()).toEqual({ blobs: 1, bytes: 700, temporaries: 0 });
    expect(same(await store.get(kept.id), noise(500))).toBe(true);
    expect(await store.gc()).toEqual({ blobs: 0, bytes: 0, temporaries: 0 });
  });

  test("leaves a write that is under way", async () => {
    const writer = await store.openWriter();
    await writer.write(noise(3_000_000));
    await new FileArtifactStore(folder, { sweepAfter: 0 }).gc();
    const ref = await writer.close();
    expect(same(await store.get(ref.id), noise(3_000_000))).toBe(true);
  });
});

test("deletes in one scope never take the bytes of another, whoever is between which two steps", async () => {
  const others = [new FileArtifactStore(folder), new FileArtifactStore(folder)];
  const data = noise(70_000);
  const churn = async (name: string, other: FileArtifactStore): Promise<void> => {
    for (let turn = 0; turn < 60; turn++) {
      const scope = { session_id: name };
      const { id } = await other.putBytes(data, { scope });
      expect(same(await other.get(id, scope), data)).toBe(true);
      if (turn % 7 === 0) await other.gc();
      expect(await other.delete(id, scope)).toBe(true);
    }
  };
  await Promise.all(others.map((other, turn) => churn(String(turn), other)));
  expect((await entries()).toSorted()).toEqual(expect.arrayContaining(["blobs", "refs", "tmp"]));
  await store.gc();
  expect((await entries()).filter((name) => /[0-9a-f]{40}/.test(name))).toEqual([]);
});

test("puts and deletes of one ref at once leave it whole or gone", async () => {
  const others = [store, new FileArtifactStore(folder), new FileArtifactStore(folder)];
  const data = noise(5000);
  const { id } = await store.putBytes(data);
  await Promise.all(
    others.map(async (other, turn) => {
      for (let round = 0; round < 60; round++) {
        if (turn === 0) await other.delete(id);
        else await other.putBytes(data, { filename: `${turn}-${round}` });
        const bytes = await other.get(id);
        expect(bytes === null || same(bytes, data)).toBe(true);
      }
    }),
  );
  const ref = await store.putBytes(data);
  expect(ref.id).toBe(id);
  expect(same(await store.get(id), data)).toBe(true);
  expect(await listed(store.list())).toEqual([ref]);
});
