/** Subscriptions are counted: the source is asked by the first and told by the last. */
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { checkUri, fitResources, fitTemplates } from "../../../../web/src/tools/resources/listing.js";
import type { ListedResource } from "../../../../web/src/tools/source-features.js";
import { Subscriptions } from "../../../../web/src/tools/resources/reader.js";
import { Library, ADA, BOB, newReader, URI as FILE_URI } from "./library.js";

describe("subscriptions", () => {
  const URI = "file:///a";
  const endless = (): AbortSignal => new AbortController().signal;

  /** What a source was asked, and what it knows. */
  class Source {
    readonly asked: string[] = [];
    readonly subscribed = new Set<string>();
    fails = false;

    readonly subscribe = async (uri: string): Promise<void> => {
      await this.#ask(`subscribe ${uri}`);
      this.subscribed.add(uri);
    };

    readonly unsubscribe = async (uri: string): Promise<void> => {
      await this.#ask(`unsubscribe ${uri}`);
      this.subscribed.delete(uri);
    };

    async #ask(what: string): Promise<void> {
      this.asked.push(what);
      const { fails } = this;
      await Promise.resolve();
      if (fails) throw new Error("refused");
    }
  }

  const adding = (subscriptions: Subscriptions, source: Source, uri = URI, signal = endless()): Promise<void> =>
    subscriptions.add(uri, signal, () => source.subscribe(uri));
  const removing = (subscriptions: Subscriptions, source: Source, uri = URI): Promise<void> =>
    subscriptions.remove(uri, endless(), () => source.unsubscribe(uri));

  describe("the source", () => {
    test("is asked once, and told when the last one goes", async () => {
      const [subscriptions, source] = [new Subscriptions(), new Source()];
      await Promise.all([adding(subscriptions, source), adding(subscriptions, source)]);
      await removing(subscriptions, source);
      expect(source.asked).toEqual([`subscribe ${URI}`]);
      expect(subscriptions.uris).toEqual([URI]);
      await removing(subscriptions, source);
      expect(source.asked).toEqual([`subscribe ${URI}`, `unsubscribe ${URI}`]);
      expect(subscriptions.uris).toEqual([]);
    });

    test("is not told of what nobody asked for", async () => {
      const [subscriptions, source] = [new Subscriptions(), new Source()];
      await removing(subscriptions, source);
      expect(source.asked).toEqual([]);
    });

    test("that refuses is asked again by the next", async () => {
      const [subscriptions, source] = [new Subscriptions(), new Source()];
      source.fails = true;
      await expect(adding(subscriptions, source)).rejects.toThrow("refused");
      expect(subscriptions.uris).toEqual([]);
      source.fails = false;
      await adding(subscriptions, source);
      expect(source.subscribed.has(URI)).toBe(true);
    });

    test("that refuses to stop is not asked for more", async () => {
      const [subscriptions, source] = [new Subscriptions(), new Source()];
      await adding(subscriptions, source);
      source.fails = true;
      await expect(removing(subscriptions, source)).rejects.toThrow("refused");
      expect(subscriptions.uris).toEqual([]);
    });

    test("is not asked for more than a session may want", async () => {
      const [subscriptions, source] = [new Subscriptions(), new Source()];
      for (let at = 0; at < 1_000; at += 1) await adding(subscriptions, source, `${URI}${at}`);
      await expect(adding(subscriptions, source)).rejects.toMatchObject({ code: "E_TOOL_CLIENT" });
      await adding(subscriptions, source, `${URI}7`);
      await removing(subscriptions, source, `${URI}8`);
      await adding(subscriptions, source);
    });
  });

  test("a caller that gives up while another waits is not counted", async () => {
    const [subscriptions, source] = [new Subscriptions(), new Source()];
    const gone = new AbortController();
    const first = adding(subscriptions, source);
    const second = adding(subscriptions, source, URI, gone.signal);
    gone.abort(new Error("gone"));
    await expect(second).rejects.toThrow("gone");
    await first;
    await removing(subscriptions, source);
    expect(source.subscribed.size).toBe(0);
  });

  test("whatever is asked at once, the source knows in the end what is counted", async () => {
    expect.hasAssertions();
    const step = fc.record({ adds: fc.boolean(), uri: fc.constantFrom("a", "b") });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30, size: "max" }), async (steps) => {
        const [subscriptions, source] = [new Subscriptions(), new Source()];
        const counts = new Map<string, number>();
        await Promise.all(
          steps.map(({ adds, uri }) =>
            adds ? adding(subscriptions, source, uri) : removing(subscriptions, source, uri),
          ),
        );
        for (const { adds, uri } of steps) counts.set(uri, Math.max(0, (counts.get(uri) ?? 0) + (adds ? 1 : -1)));
        const wanted = [...counts].filter(([, count]) => count > 0).map(([uri]) => uri);
        expect([...subscriptions.uris].sort()).toEqual(wanted.sort());
        expect([...source.subscribed].sort()).toEqual(wanted.sort());
      }),
    );
  });
});

/** What a reader tells beside what it reads: lists, completions, changes, also over a new connection. */
describe("lists and changes", () => {
  describe("lists", () => {
    test("are asked for once a minute, and again when they changed", async () => {
      const made = newReader();
      const { reader, library, events } = made;
      library.listed = [{ uri: FILE_URI, name: "report" }];
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
      library.write(FILE_URI, { body: "before" });
      await reader.subscribe(FILE_URI);
      await reader.readResource(FILE_URI);
      library.write(FILE_URI, { body: "after" });
      expect(events).toEqual([{ kind: "updated", namespace: "lib", uri: FILE_URI }]);
      expect((await reader.readResource(FILE_URI)).contents).toMatchObject([{ text: "after" }]);
    });

    test("are told with whose session they came from, if that is said", async () => {
      const { reader, events } = newReader();
      await reader.subscribe(FILE_URI);
      reader.notice({ kind: "resource_updated", uri: FILE_URI }, ADA);
      expect(events).toEqual([{ kind: "updated", namespace: "lib", uri: FILE_URI, scope: ADA }]);
    });

    test("of tools, and of URIs beyond all measure, are none of its business", () => {
      const { reader, events } = newReader();
      reader.notice({ kind: "tools_changed" });
      reader.notice({ kind: "resource_updated", uri: "x".repeat(5_000) });
      expect(events).toEqual([]);
    });

    test("of unsubscribed resources are not told, but still make the cached contents old", async () => {
      const { reader, library, events } = newReader();
      library.write(FILE_URI, { body: "before" });
      await reader.subscribe(`${FILE_URI}/other`);
      await reader.readResource(FILE_URI);
      library.write(FILE_URI, { body: "after" });
      reader.notice({ kind: "resource_updated", uri: FILE_URI });
      expect((await reader.readResource(FILE_URI)).contents).toMatchObject([{ text: "after" }]);
      await reader.subscribe(FILE_URI);
      await reader.unsubscribe(FILE_URI);
      reader.notice({ kind: "resource_updated", uri: FILE_URI });
      expect(events).toEqual([]);
    });

    test("that the source tells of before it has agreed to tell are told", async () => {
      const { reader, library, events } = newReader();
      library.gate = async () => reader.notice({ kind: "resource_updated", uri: FILE_URI });
      await reader.subscribe(FILE_URI);
      expect(events).toHaveLength(1);
    });

    test("of which nothing is told when the source does not agree", async () => {
      const { reader, library, events } = newReader();
      library.gate = () => Promise.reject(new Error("no"));
      await expect(reader.subscribe(FILE_URI)).rejects.toThrow("no");
      reader.notice({ kind: "resource_updated", uri: FILE_URI });
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
      await Promise.all([reader.subscribe(FILE_URI), reader.subscribe(FILE_URI)]);
      await reader.unsubscribe(FILE_URI);
      expect(library.subscribed.has(FILE_URI)).toBe(true);
      await reader.unsubscribe(FILE_URI);
      expect(library.asked.map(({ what }) => what)).toEqual(["subscribe", "unsubscribe"]);
    });

    test("are asked for by each user where each has a session of their own", async () => {
      const { reader, library } = newReader({ isPerUser: true });
      await reader.subscribe(FILE_URI, { scope: ADA });
      await reader.subscribe(FILE_URI, { scope: BOB });
      await reader.subscribe(FILE_URI, { scope: { ...ADA, session_id: "s2" } });
      expect(library.count("subscribe")).toBe(2);
    });
  });

  describe("a source that was connected again", () => {
    test("is asked again for changes, and for what it said before", async () => {
      const made = newReader();
      const { reader, library, store } = made;
      library.write(FILE_URI, { body: "before" });
      await reader.subscribe(FILE_URI);
      await reader.readResource(FILE_URI);
      const again = new Library(store, (notice) => reader.notice(notice));
      again.write(FILE_URI, { body: "after" });
      made.connection = again;
      // The next request of any kind meets the new connection.
      await reader.complete("x:{name}", "name", "");
      expect((await reader.readResource(FILE_URI)).contents).toMatchObject([{ text: "after" }]);
      expect(again.subscribed.has(FILE_URI)).toBe(true);
      await reader.unsubscribe(FILE_URI);
      expect(again.subscribed.has(FILE_URI)).toBe(false);
    });

    test("is asked for nothing once the reader was closed", async () => {
      const made = newReader();
      await made.reader.subscribe(FILE_URI);
      made.reader.close();
      const again = new Library(made.store);
      made.connection = again;
      await made.reader.complete("x:{name}", "name", "");
      expect(again.count("subscribe")).toBe(0);
    });
  });
});

/** What a source lists, made fit to be shown. */
describe("what is listed", () => {
  const URI = "file:///a";

  test("what is fit stays as it is", () => {
    const resource = { uri: URI, name: "a", title: "A", description: "The a.", mime_type: "text/plain", size_bytes: 0 };
    expect(fitResources([resource])).toMatchObject({ items: [resource], left_out: 0 });
    const template = { uri_template: "file:///{path}", name: "files" };
    expect(fitTemplates([template])).toMatchObject({ items: [template], left_out: 0 });
  });

  test("characters that hide or move are gone from words, and long words are cut", () => {
    const [resource] = fitResources([
      { uri: URI, name: "a\u202eb\u0007\u{e0041}", title: "\u200b", description: `${"x".repeat(900)}\n\nend` },
    ]).items;
    expect(resource?.name).toBe("a b");
    expect(resource).not.toHaveProperty("title");
    expect(resource?.description).toHaveLength(500);
    expect(resource?.description?.endsWith("x…")).toBe(true);
  });

  test.each(["", "file:///\n", "file:///\u202e", "x".repeat(5_000), 5 as unknown as string])(
    "a URI that cannot be given back is left out, and counted",
    (uri) => {
      expect(
        fitResources([
          { uri, name: "a" },
          { uri: URI, name: "b" },
        ]),
      ).toMatchObject({
        items: [{ uri: URI }],
        left_out: 1,
      });
      expect(() => checkUri(uri)).toThrow(/^uri must be a string/);
    },
  );

  test("an invalid type or size is left out", () => {
    const wrong = { uri: URI, name: "a", mime_type: "text/plain\nIgnore", size_bytes: -1 };
    expect(fitResources([wrong]).items).toEqual([{ uri: URI, name: "a" }]);
  });

  test("of a list without end a part is taken", () => {
    const long = Array.from({ length: 20_000 }, (_, at) => ({ uri: `${URI}${at}`, name: "a" }));
    expect(fitResources(long)).toMatchObject({ left_out: 10_000 });
    const wide = Array.from({ length: 5_000 }, (_, at) => ({ uri: `${"x".repeat(4_000)}${at}`, name: "a" }));
    const { items, left_out, chars } = fitResources(wide);
    expect(items.length + left_out).toBe(5_000);
    expect(chars).toBeLessThanOrEqual(2_000_000);
  });

  test("whatever a connection gives for words, nothing is thrown and nothing is hidden", () => {
    const anything = fc.oneof(
      fc.string({ unit: "binary", maxLength: 20 }),
      fc.constantFrom(undefined, null, 5, {}, []),
    );
    const resource = fc.record({
      uri: anything,
      name: anything,
      title: anything,
      description: anything,
      size_bytes: anything,
    });
    fc.assert(
      fc.property(fc.array(resource, { maxLength: 5 }), (resources) => {
        for (const { uri, name, title, description } of fitResources(resources as ListedResource[]).items) {
          for (const word of [uri, name, title ?? "", description ?? ""])
            expect(word).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}]/u);
        }
      }),
    );
  });
});
