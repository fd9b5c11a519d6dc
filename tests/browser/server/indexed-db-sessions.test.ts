import { deleteDB, openDB } from "idb";
import { afterEach, describe, expect, test } from "vitest";
import { IndexedDbArtifactSessions } from "../../../web/src/server/artifacts/indexed-db-sessions.js";
import { sessionsContract } from "../../unit/server/artifacts/sessions-contract.js";

const NAME = "test-sessions";
const SCOPE = { tenant_id: null, user_id: null, session_id: "s1", trace_id: null };
const opened: IndexedDbArtifactSessions[] = [];
let now = 0;

function open(): IndexedDbArtifactSessions {
  const sessions = new IndexedDbArtifactSessions({ name: NAME, clock: () => ++now });
  opened.push(sessions);
  return sessions;
}

afterEach(async () => {
  for (const sessions of opened.splice(0)) await sessions[Symbol.asyncDispose]();
  await deleteDB(NAME);
});

describe("sessions in IndexedDB", () => {
  sessionsContract(open);

  test("are the same for all who open them, and ended for all", async () => {
    const [page, worker] = [open(), open()];
    const key = await page.begin(SCOPE);
    await page.note(key, "web_0123456789ab");
    expect(await worker.find(key)).toEqual(SCOPE);
    expect(await worker.noted(key, "web_0123456789ab")).toBe(true);
    await page.end(key);
    expect(await worker.find(key)).toBeNull();
  });

  test("outlive who began them", async () => {
    const first = open();
    const key = await first.begin(SCOPE);
    await first[Symbol.asyncDispose]();
    expect(await open().find(key)).toEqual(SCOPE);
    expect(await first.find(key)).toEqual(SCOPE);
  });

  test("give way to who deletes the database, and begin anew", async () => {
    const sessions = open();
    const key = await sessions.begin(SCOPE);
    await deleteDB(NAME);
    expect(await sessions.find(key)).toBeNull();
    expect(await sessions.find(await sessions.begin(SCOPE))).toEqual(SCOPE);
  });

  test("in a database that a newer version wrote are a coded error", async () => {
    (await openDB(NAME, 99)).close();
    const sessions = open();
    await expect(sessions.begin(SCOPE)).rejects.toMatchObject({ code: "E_STORE_WRITE" });
    await expect(sessions.find("x".repeat(22))).rejects.toMatchObject({ code: "E_STORE_READ" });
  });
});
