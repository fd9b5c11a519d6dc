/** What a session stores, lists, reads and deletes over HTTP. */
import { expect, test } from "vitest";
import { MemoryArtifactStore } from "../../../../web/src/index.js";
import { SluiceServer } from "../../../../web/src/serve.js";
import { noise } from "../../artifacts/noise.js";
import { refused, Visitor, type ShownArtifact } from "../visitor.js";

const PNG = Uint8Array.from([
  0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, 73, 72, 68, 82, 0, 0, 0, 1, 0, 0, 0, 1,
]);

test("what is uploaded is listed, read whole and in part, described, and deleted", async () => {
  await using server = new SluiceServer({ store: new MemoryArtifactStore() });
  const ada = await Visitor.of(server);
  const data = noise(100_000);
  const posted = await ada.ask("/artifacts?filename=../a%2Fb.bin&namespace=mine", { method: "POST", body: data });
  expect(posted.status).toBe(201);
  const { artifact } = (await posted.json()) as { artifact: ShownArtifact };
  expect(artifact).toMatchObject({ filename: "a_b.bin", size_bytes: 100_000 });
  expect(artifact.id).toMatch(/^mine_[0-9a-f]{12}$/);
  expect(posted.headers.get("location")).toBe(`/artifacts/${artifact.id}`);
  const { artifacts } = await ada.list();
  expect(artifacts).toEqual([expect.objectContaining({ ...artifact })]);
  expect(JSON.stringify(artifacts)).not.toMatch(/scope|session_id|user_id/);

  const whole = await ada.ask(`/artifacts/${artifact.id}`);
  expect(new Uint8Array(await whole.arrayBuffer())).toEqual(data);
  expect(whole.headers.get("etag")).toBe(`"${artifact.sha256}"`);
  const part = await ada.ask(`/artifacts/${artifact.id}`, { headers: { range: "bytes=10-19" } });
  expect([part.status, new Uint8Array(await part.arrayBuffer())]).toEqual([206, data.subarray(10, 20)]);
  const head = await ada.ask(`/artifacts/${artifact.id}`, { method: "HEAD" });
  expect([head.status, head.headers.get("content-length"), await head.text()]).toEqual([200, "100000", ""]);
  const meta = await ada.json<ShownArtifact>(`/artifacts/${artifact.id}/meta`);
  expect(meta.expires_at).toBeGreaterThan(Date.now() + 3_500_000);

  const gone = await ada.ask(`/artifacts/${artifact.id}`, { method: "DELETE" });
  expect([gone.status, await gone.text()]).toEqual([204, ""]);
  expect(await refused(await ada.ask(`/artifacts/${artifact.id}`))).toEqual([410, "E_EXPIRED"]);
  expect(await refused(await ada.ask(`/artifacts/${artifact.id}`, { method: "DELETE" }))).toEqual([404, "E_NOT_FOUND"]);
  expect((await ada.list()).artifacts).toEqual([]);
});

test("a trace is apart from the session, and * lists all", async () => {
  await using server = new SluiceServer({ store: new MemoryArtifactStore() });
  const ada = await Visitor.of(server);
  const own = await ada.upload("own");
  const first = await ada.upload("first", "?trace=run%2F1");
  const second = await ada.upload("second", "?trace=2");
  expect((await ada.list()).artifacts.map(({ id }) => id)).toEqual([own.id]);
  expect((await ada.list("?trace=2")).artifacts.map(({ id }) => id)).toEqual([second.id]);
  const all = (await ada.list("?trace=*")).artifacts;
  expect(all.map(({ id, trace }) => [id, trace])).toEqual([
    [own.id, undefined],
    [first.id, "run/1"],
    [second.id, "2"],
  ]);
  expect((await ada.ask(`/artifacts/${first.id}`)).status).toBe(404);
  expect(await (await ada.ask(`/artifacts/${first.id}?trace=run%2F1`)).text()).toBe("first");
  expect((await ada.ask(`/artifacts/${first.id}`, { method: "DELETE" })).status).toBe(404);
  expect(await ada.end()).toBe(3);
});

test("the type is what the client says, else what the bytes are", async () => {
  await using server = new SluiceServer({ store: new MemoryArtifactStore() });
  const ada = await Visitor.of(server);
  const types = [
    (await ada.upload(PNG, "?filename=x")).mime_type,
    (await ada.upload("a,b\n1,2", "", "text/csv; charset=utf-8")).mime_type,
    (await ada.upload(PNG, "", "application/octet-stream")).mime_type,
    (await ada.upload(PNG, "", "application/x-www-form-urlencoded")).mime_type,
    (await ada.upload(PNG, "", "no type at all")).mime_type,
  ];
  expect(types).toEqual(["image/png", "text/csv", "image/png", "image/png", "image/png"]);
  expect((await ada.upload(PNG, "?filename=picture")).filename).toBe("picture.png");
  expect((await ada.upload("")).size_bytes).toBe(0);
});

test.each([
  ["/artifacts?limit=0", "limit"],
  ["/artifacts?limit=501", "limit"],
  ["/artifacts?limit=x", "limit"],
  ["/artifacts?after=nonsense", "after"],
  [`/artifacts?trace=${"x".repeat(201)}`, "trace"],
  ["/artifacts?trace=", "trace"],
  ["/artifacts/web_0123456789ab?trace=*", "trace"],
])("%s is refused, and %s is named", async (path, field) => {
  await using server = new SluiceServer({ store: new MemoryArtifactStore() });
  const response = await (await Visitor.of(server)).ask(path);
  expect(response.status).toBe(400);
  expect(((await response.json()) as { error: { message: string } }).error.message).toContain(field);
});

test.each([
  ["?namespace=a/b", {}, 400],
  [`?filename=${"x".repeat(1025)}`, {}, 400],
  ["?trace=*", {}, 400],
  ["", { "content-type": "multipart/form-data; boundary=x" }, 415],
  ["", { "content-encoding": "gzip" }, 415],
])("an upload to /artifacts%s with %o is refused with %i, and nothing is stored", async (query, headers, status) => {
  const store = new MemoryArtifactStore();
  await using server = new SluiceServer({ store });
  const ada = await Visitor.of(server);
  const response = await ada.ask(`/artifacts${query}`, { method: "POST", body: "x", headers });
  expect([response.status, (await ada.list("?trace=*")).artifacts]).toEqual([status, []]);
});

test("more than a thousand traces are refused", async () => {
  await using server = new SluiceServer({ store: new MemoryArtifactStore(), limits: { requestsPerMinute: 5000 } });
  const ada = await Visitor.of(server);
  for (let trace = 0; trace < 1000; trace++) await ada.upload("x", `?trace=${trace}`);
  expect(await refused(await ada.ask("/artifacts?trace=more", { method: "POST", body: "x" }))).toEqual([
    507,
    "E_STORE_FULL",
  ]);
  expect((await ada.upload("x", "?trace=7")).size_bytes).toBe(1);
  expect(await ada.end()).toBe(1000);
});
