/** What a reader tells beside what it reads: lists, completions, changes, also over a new connection. */
import { describe, expect, test } from "vitest";
import { ADA, BOB, newReader, URI } from "./reader-setup.js";
import { Library } from "./library.js";

describe("lists", () => {
  test("are asked for once a minute, and again when they changed", async () => {
    const made = newReader();
    const { reader, library, events } = made;
    library.listed = [{ uri: URI, name: "report" }];
    library.listedTemplates = [{ uri_template: "x:{a}", name: "all" }];
    for (let time = 0; time < 2; time += 1) {
      expect((await reader.listResources()).items).toEqual(library.listed);
      expect((await reader.listResourceTemplates()).items).toEqual(library.listedTemplates);
    }
    expect(library.asked).toHaveLength(2);
    made.now += 60_000;
    await reader.listResources();
    expect(library.asked).toHaveLength(3);
    reader.notice({ kind: "resources_changed" });
    await reader.listResources();
    await reader.listResourceTemplates();
    expect(library.asked).toHaveLength(5);
    expect(events).toEqual([{ kind: "list_changed", namespace: "lib" }]);
  });

  test("that change while they are fetched are not kept", async () => {
    const { reader, library } = newReader();
    library.gate = async () => reader.notice({ kind: "resources_changed" });
    await reader.listResources();
    await reader.listResources();
    expect(library.count("list")).toBe(2);
  });

  test("are each user's own", async () => {
    const { reader, library } = newReader();
    await reader.listResources({ scope: ADA });
    await reader.listResources({ scope: BOB });
    expect(library.count("list")).toBe(2);
  });
});

describe("a variable of a template", () => {
  test("is completed where the source offers something", async () => {
    const { reader } = newReader();
    expect(await reader.complete("x:{name}", "name", "al")).toEqual(["alpha", "alps"]);
    expect(await reader.complete("x:{other}", "other", "al")).toEqual([]);
  });

  test("is not asked for where the template has none of that name", async () => {
    const { reader, library } = newReader();
    await expect(reader.complete("x:{name}", "nam", "")).rejects.toMatchObject({ code: "E_TOOL_CLIENT" });
    await expect(reader.complete("x:{", "x", "")).rejects.toMatchObject({ code: "E_TOOL_CLIENT" });
    expect(library.asked).toEqual([]);
  });
});

describe("changes", () => {
  test("of what was subscribed to are told, and what was kept is old", async () => {
    const { reader, library, events } = newReader();
    library.write(URI, { body: "before" });
    await reader.subscribe(URI);
    await reader.readResource(URI);
    library.write(URI, { body: "after" });
    expect(events).toEqual([{ kind: "updated", namespace: "lib", uri: URI }]);
    expect((await reader.readResource(URI)).contents).toMatchObject([{ text: "after" }]);
  });

  test("are told with whose session they came from, if that is said", async () => {
    const { reader, events } = newReader();
    await reader.subscribe(URI);
    reader.notice({ kind: "resource_updated", uri: URI }, ADA);
    expect(events).toEqual([{ kind: "updated", namespace: "lib", uri: URI, scope: ADA }]);
  });

  test("of tools, and of URIs beyond all measure, are none of its business", () => {
    const { reader, events } = newReader();
    reader.notice({ kind: "tools_changed" });
    reader.notice({ kind: "resource_updated", uri: "x".repeat(5_000) });
    expect(events).toEqual([]);
  });

  test("of what nobody subscribed to are not told, and make old what was kept all the same", async () => {
    const { reader, library, events } = newReader();
    library.write(URI, { body: "before" });
    await reader.subscribe(`${URI}/other`);
    await reader.readResource(URI);
    library.write(URI, { body: "after" });
    reader.notice({ kind: "resource_updated", uri: URI });
    expect((await reader.readResource(URI)).contents).toMatchObject([{ text: "after" }]);
    await reader.subscribe(URI);
    await reader.unsubscribe(URI);
    reader.notice({ kind: "resource_updated", uri: URI });
    expect(events).toEqual([]);
  });

  test("that the source tells of before it has agreed to tell are told", async () => {
    const { reader, library, events } = newReader();
    library.gate = async () => reader.notice({ kind: "resource_updated", uri: URI });
    await reader.subscribe(URI);
    expect(events).toHaveLength(1);
  });

  test("of which nothing is told when the source does not agree", async () => {
    const { reader, library, events } = newReader();
    library.gate = () => Promise.reject(new Error("no"));
    await expect(reader.subscribe(URI)).rejects.toThrow("no");
    reader.notice({ kind: "resource_updated", uri: URI });
    expect(events).toEqual([]);
  });

  test("cannot be asked for of what cannot be told", async () => {
    const { reader, library } = newReader();
    for (const uri of ["", "file:///\n", "file:///\u202e", "x".repeat(2049)]) {
      await expect(reader.subscribe(uri)).rejects.toMatchObject({ code: "E_TOOL_CLIENT" });
    }
    expect(library.asked).toEqual([]);
  });

  test("are asked for once, however many ask, until the last one has enough", async () => {
    const { reader, library } = newReader();
    await Promise.all([reader.subscribe(URI), reader.subscribe(URI)]);
    await reader.unsubscribe(URI);
    expect(library.subscribed.has(URI)).toBe(true);
    await reader.unsubscribe(URI);
    expect(library.asked.map(({ what }) => what)).toEqual(["subscribe", "unsubscribe"]);
  });

  test("are asked for by each user where each has a session of their own", async () => {
    const { reader, library } = newReader({ isPerUser: true });
    await reader.subscribe(URI, { scope: ADA });
    await reader.subscribe(URI, { scope: BOB });
    await reader.subscribe(URI, { scope: { ...ADA, session_id: "s2" } });
    expect(library.count("subscribe")).toBe(2);
  });
});

describe("a source that was connected again", () => {
  test("is asked again for changes, and for what it said before", async () => {
    const made = newReader();
    const { reader, library, store } = made;
    library.write(URI, { body: "before" });
    await reader.subscribe(URI);
    await reader.readResource(URI);
    const again = new Library(store, (notice) => reader.notice(notice));
    again.write(URI, { body: "after" });
    made.connection = again;
    // The next request of any kind meets the new connection.
    await reader.complete("x:{name}", "name", "");
    expect((await reader.readResource(URI)).contents).toMatchObject([{ text: "after" }]);
    expect(again.subscribed.has(URI)).toBe(true);
    await reader.unsubscribe(URI);
    expect(again.subscribed.has(URI)).toBe(false);
  });

  test("is asked for nothing once the reader was closed", async () => {
    const made = newReader();
    await made.reader.subscribe(URI);
    made.reader.close();
    const again = new Library(made.store);
    made.connection = again;
    await made.reader.complete("x:{name}", "name", "");
    expect(again.count("subscribe")).toBe(0);
  });
});
