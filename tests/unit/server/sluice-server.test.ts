import { expect, test } from "vitest";
import { MemoryArtifactStore } from "../../../web/src/index.js";
import { SluiceServer } from "../../../web/src/serve.js";

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
