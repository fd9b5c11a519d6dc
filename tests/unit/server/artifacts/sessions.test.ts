import { describe, expect, test } from "vitest";
import { MemoryArtifactSessions, isSessionKey, sessionKey } from "../../../../web/src/server/artifacts/sessions.js";
import { sessionsContract } from "./sessions-contract.js";

describe("sessions in memory", () => {
  sessionsContract(() => new MemoryArtifactSessions());
});

test("keys are 22 characters that addresses take as they are, and no two are the same", () => {
  const keys = new Set(Array.from({ length: 1000 }, sessionKey));
  expect(keys.size).toBe(1000);
  for (const key of keys) {
    expect(isSessionKey(key)).toBe(true);
    expect(encodeURIComponent(key)).toBe(key);
  }
});

test.each(["", "x".repeat(21), "x".repeat(23), `${"x".repeat(21)}/`, `${"x".repeat(22)}\n`, null, 7])(
  "%j is no key",
  (key) => {
    expect(isSessionKey(key)).toBe(false);
  },
);
