/** The server as its maker sees it: its options, its state, a store that keeps nothing or is missing. */
import { expect, test } from "vitest";
import { discoverArtifactStore, MemoryArtifactStore, NoOpArtifactStore } from "../../../web/src/index.js";
import { memoryState, SluiceServer, type SluiceServerOptions } from "../../../web/src/serve.js";
import { MemoryRateLimit } from "../../../web/src/server/http/rate-limit.js";
import { describeRateLimit } from "./rate-limit-contract.js";
import { calledOnce, CHANGING, listening, program, served, visitor } from "./sources/serving.js";
import { refused, type ShownArtifact } from "./visitor.js";

const HERE = "http://127.0.0.1:8080";

test("a session is begun, stores, downloads, and ends", async () => {
  const store = new MemoryArtifactStore();
  await using server = new SluiceServer({ store });
  const begun = await server.fetch(
    new Request(`${HERE}/sessions`, { method: "POST", body: "{}", headers: { "content-type": "application/json" } }),
  );
  expect(begun.status).toBe(201);
  const { id } = (await begun.json()) as { id: string };
  const cookie = begun.headers.getSetCookie()[0] ?? "";
  expect(cookie).toMatch(/^sluice_session_8080=.*HttpOnly; SameSite=Lax/);
  const headers = { cookie: cookie.split(";", 1)[0] ?? "" };
  const ref = await store.putText("hello", { scope: { user_id: "local", session_id: id } });
  const got = await server.fetch(new Request(`${HERE}/artifacts/${ref.id}`, { headers }));
  expect([got.status, await got.text()]).toEqual([200, "hello"]);
  const ended = await server.fetch(new Request(`${HERE}/sessions/${id}`, { method: "DELETE", headers }));
  expect(await ended.json()).toEqual({ deleted_artifacts: 1 });
  const after = await server.fetch(new Request(`${HERE}/artifacts/${ref.id}`, { headers }));
  expect(after.status).toBe(401);
});

describeRateLimit("MemoryRateLimit", async () => {
  const rates = new MemoryRateLimit();
  return { rates, beside: () => rates, dispose: () => Promise.resolve() };
});

interface Result {
  readonly observation: string;
  readonly artifacts: readonly (ShownArtifact & { readonly source: Readonly<Record<string, unknown>> })[];
}

test("a call is answered, says what was not stored, and names nothing that could be had", async () => {
  const warnings: string[] = [];
  const store = new NoOpArtifactStore({ warn: (sentence) => void warnings.push(sentence) });
  const serving = served({ store, sources: [program("other", CHANGING)] });
  const ada = await visitor(serving);
  await using events = await listening(ada);
  const answer = await calledOnce(ada, "other.pdf");
  const { observation, artifacts } = (await answer.json()) as Result;
  expect([answer.status, artifacts.length]).toEqual([200, 1]);
  const [{ id, source } = { id: "", source: {} }] = artifacts;
  expect(source).toMatchObject({ truncated: true, warning: expect.stringContaining("not stored") as string });
  expect(observation).toContain("not stored");
  expect(await refused(await ada.ask(`/artifacts/${id}`))).toEqual([404, "E_NOT_FOUND"]);
  expect((await ada.list("?trace=*")).artifacts).toEqual([]);
  expect([warnings.length, await ada.end()]).toEqual([1, 0]);
  expect((await events.rest()).map(({ kind }) => kind)).toEqual(["session_ended"]);
});

test("what is small is shown as it is", async () => {
  const store = new NoOpArtifactStore({ warn: () => undefined });
  const ada = await visitor(served({ store, sources: [program("other", CHANGING)] }));
  const answer = await calledOnce(ada, "other.echo", { message: "hello" });
  expect(await answer.json()).toMatchObject({ observation: '"hello"', artifacts: [] });
});

const store = new MemoryArtifactStore();
/** The basic methods of a store, and no more. */
const five = {
  putBytes: store.putBytes.bind(store),
  putText: store.putText.bind(store),
  get: store.get.bind(store),
  delete: store.delete.bind(store),
  exists: store.exists.bind(store),
};

test.each([
  ["without a store", {}, "store", "must be an artifact store"],
  ["with null for a store", { store: null }, "store", "it has no putBytes"],
  ["with a store that cannot do all that stores do", { store: { get: () => null } }, "store", "it has no putBytes"],
  ["with a store that knows no scopes", { store: five }, "store", "known to this process"],
  ["with one that was found", { store: discoverArtifactStore({ artifactStore: five }) }, "store", "openWriter"],
  ["with such a store for files", { store, filesStore: five }, "filesStore", "known to this process"],
  ["with an option that there is not", { store, sorces: [] }, "sorces", "did you mean sources?"],
  ["with a limit that is none", { store, limits: { runs: 0 } }, "limits.runs", "a whole number above 0"],
  ["with a limit that there is not", { store, limits: { run: 1 } }, "limits.run", "did you mean runs?"],
  ["with a base that is no path", { store, base: "sluice" }, "base", "begins and ends with /"],
  ["with a public URL that is none", { store, publicUrl: "sluice.example" }, "publicUrl", "https://sluice.example"],
  ["with an origin that has a path", { store, origins: ["https://app.example/"] }, "origins", "without a path"],
  ["with a secret that can be guessed", { store, secret: "secret" }, "secret", "32"],
  ["with sources that are no list", { store, sources: {} }, "sources", "must be a list"],
  [
    "with state that others share, and a secret that they do not",
    { store, state: { ...memoryState(), isShared: true } },
    "secret",
    "give each the same one",
  ],
])("a server %s is not made, and the option is named", (_, options, path, sentence) => {
  const made = (): SluiceServer => new SluiceServer(options as unknown as SluiceServerOptions);
  expect(made).toThrow(
    expect.objectContaining({ code: "E_INVALID_ARGUMENT", path, message: expect.stringContaining(sentence) as string }),
  );
});

test("a retention that is wrong is named by its key", () => {
  expect(() => new SluiceServer({ store, retention: { ttl: 1 } as object })).toThrow(
    expect.objectContaining({ code: "E_CONFIG_KEY", path: "retention.ttl" }),
  );
});
