/** Subscriptions are counted: the source is asked by the first and told by the last. */
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Subscriptions } from "../../../../web/src/tools/resources/reader.js";

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

test("whoever gives up while another waits is not counted", async () => {
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
