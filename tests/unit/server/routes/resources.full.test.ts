import { fileURLToPath } from "node:url";
import * as fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import { MemoryArtifactStore } from "../../../../web/src/index.js";
import { FileArtifactStore } from "../../../../web/src/node.js";
import { memoryState } from "../../../../web/src/serve.js";
import {
  calledOnce,
  CHANGING,
  elsewhere,
  listening,
  overHttp,
  program,
  served,
  TROUBLED,
  visitor,
} from "../sources/serving.js";
import { isSilent, Telling } from "../sources/told.js";
import { refused } from "../visitor.js";

describe("resources", () => {
  const SOURCES = [program("lab"), program("bare", CHANGING)];
  const WATCHED = "test://watched-resource";
  const watched = `/resources/lab/${encodeURIComponent(WATCHED)}/subscription`;
  const words = (size: number): string => `/resources/lab/${encodeURIComponent(`test://words/${size}`)}/subscription`;
  const PUT = { method: "PUT" };
  const DELETE = { method: "DELETE" };
  const SECRET = "a secret of thirty-two characters";

  interface Contents {
    readonly contents: readonly {
      readonly kind: string;
      readonly uri: string;
      readonly text?: string;
      readonly id?: string;
      readonly artifact?: { readonly id: string };
    }[];
  }

  describe("reading", () => {
    test("resources and templates are listed, all of them", async () => {
      const ada = await visitor(served({ sources: SOURCES }));
      const { resources, complete } = await ada.json<{ resources: { uri: string }[]; complete: boolean }>(
        "/resources/lab",
      );
      expect([resources.map(({ uri }) => uri).slice(0, 2), complete]).toEqual([
        ["test://static-text", "test://static-binary"],
        true,
      ]);
      const listed = await ada.json<{ templates: { uri_template: string }[] }>("/resources/lab/templates");
      expect(listed).toMatchObject({ complete: true });
      expect(listed.templates.map(({ uri_template }) => uri_template)).toContain("test://file/{kind}/{bytes}");
    });

    test("a text is shown, and stored; bytes are stored for the session alone", async () => {
      const serving = served({ sources: SOURCES });
      const [ada, bob] = [await visitor(serving), await visitor(serving, "bob")];
      const read = (uri: string): Promise<Contents> => ada.json(`/resources/lab/${encodeURIComponent(uri)}`);
      const { contents: texts } = await read("test://static-text");
      expect(texts).toMatchObject([{ kind: "text", text: "This is the content of the static text resource." }]);
      const { contents: files } = await read("test://file/pdf/9000");
      expect(files).toMatchObject([{ kind: "artifact", mime_type: "application/pdf", size_bytes: 9000 }]);
      expect(JSON.stringify([texts, files])).not.toMatch(/"scope"|user_id/);
      for (const id of [texts[0]?.artifact?.id, files[0]?.id]) {
        expect((await ada.ask(`/artifacts/${id}`)).status).toBe(200);
        expect((await bob.ask(`/artifacts/${id}`)).status).toBe(404);
      }
      await using events = await listening(ada);
      expect(await events.next("artifact_stored")).toMatchObject({ artifact: { id: texts[0]?.artifact?.id } });
    });

    test("what is read within a trace is stored under it", async () => {
      const ada = await visitor(served({ sources: SOURCES }));
      const { contents } = await ada.json<Contents>(
        `/resources/lab/${encodeURIComponent("test://file/pdf/900")}?trace=r1`,
      );
      expect((await ada.ask(`/artifacts/${contents[0]?.id}`)).status).toBe(404);
      expect((await ada.ask(`/artifacts/${contents[0]?.id}?trace=r1`)).status).toBe(200);
    });

    test("values of a template's variable are offered", async () => {
      const ada = await visitor(served({ sources: SOURCES }));
      const query = new URLSearchParams({ template: "test://template/{id}/data", variable: "id", value: "" });
      const { values } = await ada.json<{ values: unknown }>(`/resources/lab/completions?${query.toString()}`);
      expect(Array.isArray(values)).toBe(true);
      expect(await refused(await ada.ask("/resources/lab/completions?template=a"))).toEqual([
        400,
        "E_INVALID_ARGUMENT",
      ]);
    });
  });

  describe("what cannot be read", () => {
    test.each([
      ["a source that there is not", "/resources/nowhere", 404, "E_NOT_FOUND"],
      ["a resource of such a source", "/resources/nowhere/a%3Ab", 404, "E_NOT_FOUND"],
      ["a source without resources", "/resources/bare", 404, "E_TOOL_UNSUPPORTED"],
      ["a resource that there is not", "/resources/lab/test%3A%2F%2Fnothing", 404, "E_NOT_FOUND"],
      ["dots that are encoded twice", "/resources/lab/%252e%252e", 404, "E_NOT_FOUND"],
      ["a path that leads out", `/resources/lab/${encodeURIComponent("../../etc/passwd")}`, 404, "E_NOT_FOUND"],
      ["NUL", "/resources/lab/test%3A%00", 400, "E_TOOL_CLIENT"],
      ["characters that turn a line around", "/resources/lab/%E2%80%AE", 400, "E_TOOL_CLIENT"],
      ["64 KB", `/resources/lab/${"x".repeat(65_536)}`, 400, "E_INVALID_ARGUMENT"],
      ["more than a URI may have", `/resources/lab/${"x".repeat(5000)}`, 400, "E_TOOL_CLIENT"],
      ["what is no UTF-8", "/resources/lab/%ff", 400, "E_INVALID_ARGUMENT"],
      ["a % alone", "/resources/lab/%zz", 400, "E_INVALID_ARGUMENT"],
      ["slashes that are not encoded", "/resources/lab/test://static-text", 404, "E_NOT_FOUND"],
      ["nothing", "/resources", 404, "E_NOT_FOUND"],
      ["a trace that names all", "/resources/lab/test%3Ax?trace=*", 400, "E_INVALID_ARGUMENT"],
    ])("%s", async (_, path, status, code) => {
      const ada = await visitor(served({ sources: SOURCES }));
      expect(await refused(await ada.ask(path))).toEqual([status, code]);
    });

    test("whatever a URI is made of, it is read or refused", async () => {
      const ada = await visitor(served({ sources: SOURCES }));
      await fc.assert(
        fc.asyncProperty(fc.string({ unit: "binary", minLength: 1 }), async (uri) => {
          const answer = await ada.ask(`/resources/lab/${encodeURIComponent(uri)}`);
          expect([400, 404]).toContain(answer.status);
          expect(await answer.json()).toMatchObject({ error: { message: expect.any(String) } });
        }),
      );
    });

    test("dots in an address lead nowhere else", async () => {
      const ada = await visitor(served({ sources: SOURCES }));
      expect(await refused(await ada.ask("/resources/lab/%2e%2e/%2e%2e/etc"))).toEqual([404, "E_NOT_FOUND"]);
    });

    test("a store that is gone: the text is shown, and the host is told", async () => {
      // No folder can be made below a file.
      const serving = served({ sources: SOURCES, store: new FileArtifactStore(fileURLToPath(import.meta.url)) });
      const ada = await visitor(serving);
      const answer = await ada.ask(`/resources/lab/${encodeURIComponent("test://static-text")}`);
      const text = await answer.text();
      expect([answer.status, JSON.parse(text)]).toMatchObject([200, { contents: [{ kind: "text" }] }]);
      expect(text).not.toContain("resources.test.ts");
      expect(serving.errors).toMatchObject([{ code: "E_STORE_READ" }]);
    });

    test("methods that are none say which are", async () => {
      const ada = await visitor(served({ sources: SOURCES }));
      const allowed = async (path: string): Promise<unknown> => {
        const answer = await ada.ask(path, { method: "PATCH" });
        return [answer.status, answer.headers.get("allow")];
      };
      expect(await allowed("/resources/lab")).toEqual([405, "GET, HEAD"]);
      expect(await allowed("/resources/lab/a%3Ab")).toEqual([405, "GET, HEAD"]);
      expect(await allowed(watched)).toEqual([405, "PUT, DELETE"]);
    });
  });

  describe("subscriptions", () => {
    const opened: AsyncDisposable[] = [];
    const heard: typeof listening = async (...of) => {
      const telling = await listening(...of);
      opened.push(telling);
      return telling;
    };

    afterEach(async () => {
      for (const each of opened.splice(0)) await each[Symbol.asyncDispose]();
    });

    test("a session is told of what it subscribed to, and no other is", async () => {
      const serving = served({ sources: SOURCES });
      const [ada, again, bob] = [await visitor(serving), await visitor(serving), await visitor(serving, "bob")];
      const [told, silent, others] = [await heard(ada), await heard(again), await heard(bob)];
      expect((await ada.ask(watched, PUT)).status).toBe(204);
      await calledOnce(bob, "lab.touch");
      expect(await told.next("resource_updated")).toEqual({ kind: "resource_updated", namespace: "lab", uri: WATCHED });
      expect(await Promise.all([silent, others].map((each) => isSilent(each, "resource_updated", 300)))).toEqual([
        true,
        true,
      ]);
    });

    test("who subscribed before listening is told, and who took it back is not", async () => {
      const ada = await visitor(served({ sources: SOURCES }));
      await ada.ask(watched, PUT);
      const told = await heard(ada);
      const first = told.next("resource_updated");
      // Asking the source takes a moment.
      await expect
        .poll(async () => {
          await calledOnce(ada, "lab.touch");
          return Promise.race([first, Promise.resolve(null)]);
        })
        .toMatchObject({ uri: WATCHED });
      expect((await ada.ask(watched, DELETE)).status).toBe(204);
      await new Promise((resolve) => setTimeout(resolve, 200));
      const [silent] = [await heard(ada, told.lastId)];
      await calledOnce(ada, "lab.touch");
      expect(await isSilent(silent, "resource_updated", 300)).toBe(true);
    });

    test("a subscription outlives its process: another tells when the listener comes back", async () => {
      const [state, store] = [memoryState(), new MemoryArtifactStore()];
      const shared = { state, store, secret: SECRET, sources: SOURCES };
      const first = served(shared);
      const ada = await visitor(first);
      await ada.ask(watched, PUT);
      await first.server[Symbol.asyncDispose]();
      const second = served(shared);
      const bob = await visitor(second, "bob");
      const events = await elsewhere(second, ada, "/events", { headers: { "last-event-id": "1-0" } });
      await using telling = new Telling(events);
      // What may have changed while nobody watched.
      expect(await telling.next("resource_updated")).toMatchObject({ uri: WATCHED });
      await calledOnce(bob, "lab.touch");
      expect(await telling.next("resource_updated")).toMatchObject({ uri: WATCHED });
    });

    test("a process is told of what is subscribed to in another", async () => {
      const shared = { state: memoryState(), store: new MemoryArtifactStore(), secret: SECRET, sources: SOURCES };
      const [first, second] = [served(shared), served(shared)];
      const ada = await visitor(first);
      const told = await heard(ada);
      const update = told.next("resource_updated");
      expect((await elsewhere(second, ada, watched, PUT)).status).toBe(204);
      await expect
        .poll(async () => {
          await calledOnce(ada, "lab.touch");
          return Promise.race([update, Promise.resolve(null)]);
        })
        .toMatchObject({ uri: WATCHED });
    });

    test("a session that listens in two processes is told by each of them, and not for ever", async () => {
      const sources = [program("lab", await overHttp())];
      const shared = { state: memoryState(), store: new MemoryArtifactStore(), secret: SECRET, sources };
      const [first, second] = [served(shared), served(shared)];
      const ada = await visitor(first);
      await ada.ask(watched, PUT);
      const [here, there] = [await heard(ada), new Telling(await elsewhere(second, ada, "/events"))];
      opened.push(there);
      // Both ask the source for it in a moment.
      await new Promise((resolve) => setTimeout(resolve, 1000));
      await calledOnce(ada, "lab.touch");
      for (const told of [here, there]) {
        expect(await told.next("resource_updated")).toMatchObject({ uri: WATCHED });
        expect(await told.next("resource_updated")).toMatchObject({ uri: WATCHED });
        expect(await isSilent(told, "resource_updated", 500)).toBe(true);
      }
    });

    test.each([
      ["a source that there is not", "/resources/nowhere/a%3Ab/subscription", 404, "E_NOT_FOUND"],
      ["a source without resources", "/resources/bare/a%3Ab/subscription", 404, "E_TOOL_UNSUPPORTED"],
      ["a URI that is long", `/resources/lab/${"x".repeat(3000)}/subscription`, 400, "E_TOOL_CLIENT"],
    ])("%s is not subscribed to", async (_, path, status, code) => {
      const serving = served({ sources: SOURCES });
      const ada = await visitor(serving);
      expect(await refused(await ada.ask(path, PUT))).toEqual([status, code]);
    });

    test("there are as many as a session may have", async () => {
      const ada = await visitor(served({ sources: SOURCES }));
      for (let index = 0; index < 100; index += 1) expect((await ada.ask(words(index), PUT)).status).toBe(204);
      expect(await refused(await ada.ask(words(100), PUT))).toEqual([507, "E_STORE_FULL"]);
      expect((await ada.ask(words(0), DELETE)).status).toBe(204);
      expect((await ada.ask(words(100), PUT)).status).toBe(204);
    });
  });
});

/** Sources whose resources are in trouble: what is told of it, and what is not. */
describe("resources in trouble", () => {
  const SOURCES = [
    program("troubled", TROUBLED, { timeout_s: 5, retry_policy: { max_attempts: 1 } }),
    program("own", CHANGING),
  ];

  test.each([
    ["fails", 502, "E_TOOL_SERVER"],
    ["dies", 502, "E_TOOL_CONNECTION"],
    ["hangs", 504, "E_TOOL_TIMEOUT"],
  ])("a source that %s while it is read", async (what, status, code) => {
    const serving = served({ sources: SOURCES });
    const ada = await visitor(serving);
    const answer = await ada.ask(`/resources/troubled/trouble%3A${what}`);
    expect(await answer.clone().text()).not.toContain("/var/lib");
    expect(await refused(answer)).toEqual([status, code]);
    // The host is told, and others are served as before.
    expect(serving.errors).toMatchObject([{ code }]);
    expect((await calledOnce(ada, "own.echo", { message: "hello" })).status).toBe(200);
    expect((await ada.ask("/resources/troubled")).status).toBe(200);
  });

  test("bytes that are no base64 are an artifact of the text that came", async () => {
    const ada = await visitor(served({ sources: SOURCES }));
    const answer = await ada.ask("/resources/troubled/trouble%3Amalformed");
    expect([answer.status, await answer.json()]).toMatchObject([
      200,
      { contents: [{ kind: "artifact", mime_type: "text/plain" }] },
    ]);
  });

  test("many who read at the same time what hangs are all answered", async () => {
    const ada = await visitor(served({ sources: SOURCES }));
    const all = Array.from({ length: 20 }, async () => refused(await ada.ask("/resources/troubled/trouble%3Ahangs")));
    for (const answer of await Promise.all(all)) expect(answer[0]).toBeGreaterThanOrEqual(500);
  });

  test("that a list changed is told to whoever listens, and then it is listed anew", async () => {
    const serving = served({ sources: SOURCES });
    const ada = await visitor(serving);
    const before = await ada.json<{ resources: readonly unknown[] }>("/resources/troubled");
    await using events = await listening(ada);
    const told = events.next("resources_changed");
    await expect
      .poll(async () => {
        await calledOnce(ada, "troubled.change");
        return Promise.race([told, Promise.resolve(null)]);
      })
      .toEqual({ kind: "resources_changed", namespace: "troubled" });
    const after = await ada.json<{ resources: readonly unknown[] }>("/resources/troubled");
    expect(after.resources.length).toBeGreaterThan(before.resources.length);
  });

  test("of one user's own source no other user is told", async () => {
    const [troubled] = SOURCES;
    if (troubled === undefined) throw new Error("no source");
    const serving = served({ sources: [{ ...troubled, user_files: true }], filesStore: new MemoryArtifactStore() });
    const [ada, bob] = [await visitor(serving), await visitor(serving, "bob")];
    await using silent = await listening(bob);
    await using events = await listening(ada);
    const [told, isQuiet] = [events.next("resources_changed"), isSilent(silent, "resources_changed", 1000)];
    await expect
      .poll(async () => {
        await calledOnce(ada, "troubled.change");
        return Promise.race([told, Promise.resolve(null)]);
      })
      .toMatchObject({ namespace: "troubled" });
    expect(await isQuiet).toBe(true);
  });

  test("a list of all tools does not wait for ever for a source that hangs", { timeout: 30_000 }, async () => {
    const hanging = program("hanging", `"${process.execPath}" -e "setInterval(() => {}, 1000)"`, {
      timeout_s: 1,
      retry_policy: { max_attempts: 1 },
    });
    const ada = await visitor(served({ sources: [...SOURCES, hanging] }));
    const { tools, unavailable } = await ada.json<{ tools: readonly { source: string }[]; unavailable: unknown }>(
      "/tools",
    );
    expect(new Set(tools.map(({ source }) => source))).toEqual(new Set(["troubled", "own"]));
    expect(unavailable).toMatchObject([{ source: "hanging", error: { code: "E_TOOL_TIMEOUT" } }]);
  });
});
