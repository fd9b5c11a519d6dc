import { MemoryArtifactStore } from "mcp-sluice";
import { UserStorage } from "mcp-sluice/files";
import { describe, expect, test } from "vitest";
import { MyFiles } from "../../../../web/playground/engine/my-files.js";
import { linksIn } from "../../../../web/playground/engine/results.js";
import { fileCount, VISITOR } from "../../../../web/playground/engine/stores.js";

describe("links", () => {
  const kept = (text: string): Parameters<typeof linksIn>[0] => ({
    tool: "find_reports",
    server: "demo",
    reduced: { text, artifacts: [], failures: [], bytesIn: text.length },
  });
  const result = (...content: readonly unknown[]): ReturnType<typeof kept> => kept(JSON.stringify({ content }));

  test("a link is an artifact that is not there yet", () => {
    const link = {
      type: "resource_link",
      uri: "report://q1",
      name: "q1.pdf",
      title: "Q1",
      mimeType: "application/pdf",
    };
    expect(linksIn(result({ type: "text", text: "Reports:" }, { ...link, size: 4096 }))).toEqual([
      {
        id: "link-1",
        filename: "q1.pdf",
        mime_type: "application/pdf",
        namespace: "demo",
        size_bytes: 4096,
        source: { tool: "find_reports", uri: "report://q1", description: "Q1" },
        deferred: true,
      },
    ]);
  });

  test("a URI that is named twice is one link; what has no name is called by its URI", () => {
    const links = linksIn(
      result({ type: "resource_link", uri: "a:b" }, { type: "resource_link", uri: "a:b", name: "x" }),
    );
    expect(links.map(({ filename }) => filename)).toEqual(["a:b"]);
  });

  test.each([
    ["no JSON", '{"content":[{"type":"resource_link"'],
    ["no content", "{}"],
    ["content that is no list", '{"content":{"type":"resource_link","uri":"a:b"}}'],
    ["null", "null"],
    ["blocks that are nothing", '{"content":[null,1,"resource_link"]}'],
    ["a link without a URI", '{"content":[{"type":"resource_link","name":"x"}]}'],
    ["a URI that is none", '{"content":[{"type":"resource_link","uri":{}}]}'],
    ["a URI without an end", JSON.stringify({ content: [{ type: "resource_link", uri: "a".repeat(8193) }] })],
  ])("%s gives no links", (_, text) => {
    expect(linksIn(kept(text))).toEqual([]);
  });

  test("a server that says too much is cut short", () => {
    const many = Array.from({ length: 101 }, (_, i) => {
      return { type: "resource_link", uri: `a:${i}`, name: "n".repeat(600), size: "large", mimeType: 7 };
    });
    const links = linksIn(result(...many));
    expect(links).toHaveLength(100);
    expect(links[0]).toMatchObject({ filename: "n".repeat(500), mime_type: null });
    expect(links[0]).not.toHaveProperty("size_bytes");
  });
});

describe("a person's files", () => {
  const store = new MemoryArtifactStore();
  const storage = new UserStorage(store, VISITOR);
  const made: string[] = [];
  const files = new MyFiles(store, () => made.push("made"));
  const text = (name: string, body: string): File => new File([body], name, { type: "text/plain" });

  test("what is put under the same name is a version, the newest is listed, and all go together", async () => {
    await files.keep(text("a.txt", "one"));
    const second = await files.keep(text("../a.txt", "two"));
    expect(await files.list()).toMatchObject([{ id: second.id, filename: "a.txt", versions: 2, origin: "uploaded" }]);
    expect(await fileCount(store)).toBe(1);
    expect((await files.versions(second.id)).map(({ size_bytes }) => size_bytes)).toEqual([3, 3]);
    expect(await files.remove(second.id)).toBe(true);
    expect(await files.remove(second.id)).toBe(false);
    expect(await fileCount(store)).toBe(0);
  });

  test("a file that is gone is not renamed, and a name that there is is not given twice", async () => {
    const [a, b] = [await files.keep(text("a.txt", "a")), await files.keep(text("b.txt", "b"))];
    await expect(files.rename("nothing", "c.txt")).rejects.toMatchObject({ code: "E_NOT_FOUND" });
    await expect(files.rename(a.id, "b.txt")).rejects.toMatchObject({ code: "E_INVALID_ARGUMENT" });
    await files.rename(b.id, "c.txt");
    expect((await files.list()).map(({ filename }) => filename).toSorted()).toEqual(["a.txt", "c.txt"]);
  });

  test("what a result stored is kept as generated", async () => {
    const ref = await store.putText("of a tool", { filename: "result.md", mime_type: "text/markdown", scope: VISITOR });
    const [artifact, bytes] = [await store.stat(ref.id, VISITOR), await store.openReader(ref.id, { scope: VISITOR })];
    if (artifact === null || bytes === null) throw new Error("It was not stored.");
    expect(await files.save(artifact, bytes)).toMatchObject({ filename: "result.md", origin: "generated" });
  });

  test("a draft is listed with why it is one, and is gone when its time is over", async () => {
    const draft = { reason: "needs_editing", next_actions: ["Edit the greeting"] } as const;
    const soon = { ...draft, expires_at: Date.now() + 3_600_000 };
    await storage.put("letter.txt", "Dear all", { origin: "deferred", draft: soon });
    const before = new UserStorage(store, VISITOR, { now: () => Date.now() - 7_200_000 });
    const over = { ...draft, expires_at: Date.now() - 3_600_000 };
    await before.put("old.txt", "Dear nobody", { origin: "deferred", draft: over });
    const drafts = (await files.list()).filter(({ origin }) => origin === "deferred");
    expect(drafts).toMatchObject([{ filename: "letter.txt", draft: soon }]);
  });
});
