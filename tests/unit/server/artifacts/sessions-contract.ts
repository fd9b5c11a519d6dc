/**
 * What all registries of sessions must do, wherever they keep them.
 * @module
 */
import { expect, test } from "vitest";
import {
  isSessionKey,
  MAX_SESSIONS,
  sessionKey,
  type ArtifactSessions,
} from "../../../../web/src/server/artifacts/sessions.js";
import { MAX_SEEN } from "../../../../web/src/server/artifacts/handler.js";

const SCOPE = { tenant_id: null, user_id: "ada", session_id: "s1", trace_id: null };
const ID = "web_0123456789ab";

function idOf(n: number): string {
  return `web_${String(n).padStart(12, "0")}`;
}

/** @param fresh a registry that knows no session, and whose clock never says the same twice */
export function sessionsContract(fresh: () => ArtifactSessions): void {
  test("a key opens the scope that its session began with", async () => {
    const sessions = fresh();
    const key = await sessions.begin({ user_id: "ada", session_id: "s1" });
    expect(isSessionKey(key)).toBe(true);
    expect(await sessions.find(key)).toEqual(SCOPE);
    const other = await sessions.begin({});
    expect(other).not.toBe(key);
    expect(await sessions.find(key)).toEqual(SCOPE);
  });

  test("a malformed scope begins nothing", async () => {
    await expect(fresh().begin({ user_id: 7 } as never)).rejects.toMatchObject({ code: "E_INVALID_ARGUMENT" });
  });

  test("only the whole key opens anything", async () => {
    const sessions = fresh();
    const key = await sessions.begin(SCOPE);
    for (const wrong of ["", key.slice(0, -1), `${key}x`, key.toLowerCase() + key, sessionKey(), "__proto__"]) {
      expect(await sessions.find(wrong)).toBeNull();
      expect(await sessions.end(wrong)).toBeNull();
      expect(await sessions.noted(wrong, ID)).toBe(false);
      await sessions.note(wrong, ID);
      expect(await sessions.noted(wrong, ID)).toBe(false);
      await sessions.forget(wrong);
    }
    expect(await sessions.find(key)).toEqual(SCOPE);
  });

  test("an ended session opens nothing, and gives its scope until it is forgotten", async () => {
    const sessions = fresh();
    const key = await sessions.begin(SCOPE);
    const other = await sessions.begin(SCOPE);
    expect(await sessions.end(key)).toEqual(SCOPE);
    expect(await sessions.find(key)).toBeNull();
    expect(await sessions.end(key)).toEqual(SCOPE);
    await sessions.forget(key);
    expect(await sessions.end(key)).toBeNull();
    expect(await sessions.find(other)).toEqual(SCOPE);
  });

  test("what was noted is noted for one session, until it is forgotten", async () => {
    const sessions = fresh();
    const key = await sessions.begin(SCOPE);
    const other = await sessions.begin(SCOPE);
    await sessions.note(key, ID);
    await sessions.note(key, ID);
    expect(await sessions.noted(key, ID)).toBe(true);
    expect(await sessions.noted(other, ID)).toBe(false);
    expect(await sessions.noted(key, `${ID}cd`)).toBe(false);
    await sessions.forget(key);
    expect(await sessions.noted(key, ID)).toBe(false);
  });

  test("of what was noted, the first is forgotten first", async () => {
    const sessions = fresh();
    const key = await sessions.begin(SCOPE);
    await Promise.all(Array.from({ length: MAX_SEEN + 1 }, (_, n) => sessions.note(key, idOf(n))));
    expect(await sessions.noted(key, idOf(0))).toBe(false);
    expect(await sessions.noted(key, idOf(1))).toBe(true);
    expect(await sessions.noted(key, idOf(MAX_SEEN))).toBe(true);
  });

  test("of sessions, the first is forgotten first", async () => {
    const sessions = fresh();
    const keys = await Promise.all(Array.from({ length: MAX_SESSIONS + 1 }, () => sessions.begin(SCOPE)));
    const [first = "", second = ""] = keys;
    expect(await sessions.find(first)).toBeNull();
    expect(await sessions.find(second)).toEqual(SCOPE);
    expect(await sessions.find(keys.at(-1) ?? "")).toEqual(SCOPE);
  });
}
