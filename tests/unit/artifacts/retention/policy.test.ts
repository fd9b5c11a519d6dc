import { expect, test } from "vitest";
import { NO_LIMITS, readRetention } from "../../../../web/src/artifacts/retention/policy.js";

test("what is given takes the place of a default, null of a limit", () => {
  const given = { ttl_seconds: null, max_trace_bytes: 1, cleanup_strategy: "fifo", ttl_from: "used" };
  expect(readRetention(given)).toEqual({ ...readRetention({}), ...given });
});

test("no limits are no limits", () => {
  const { cleanup_strategy, ttl_from, min_age_seconds, min_free_disk, ...limits } = readRetention(NO_LIMITS);
  expect(Object.values(limits).every((limit) => limit === null)).toBe(true);
  expect([cleanup_strategy, ttl_from, min_age_seconds, min_free_disk]).toEqual(["none", "stored", 0, 0]);
});

test.each([
  [{ ttl_second: 1 }, "E_CONFIG_KEY", "retention.ttl_second"],
  [{ __proto__: null, constructor: 1 }, "E_CONFIG_KEY", "retention.constructor"],
  [{ ttl_seconds: 0 }, "E_CONFIG_VALUE", "retention.ttl_seconds"],
  [{ ttl_seconds: 1.5 }, "E_CONFIG_VALUE", "retention.ttl_seconds"],
  [{ ttl_seconds: "60" }, "E_CONFIG_VALUE", "retention.ttl_seconds"],
  [{ max_artifact_bytes: -1 }, "E_CONFIG_VALUE", "retention.max_artifact_bytes"],
  [{ max_session_bytes: Infinity }, "E_CONFIG_VALUE", "retention.max_session_bytes"],
  [{ min_age_seconds: null }, "E_CONFIG_VALUE", "retention.min_age_seconds"],
  [{ min_free_disk: null }, "E_CONFIG_VALUE", "retention.min_free_disk"],
  [{ min_free_disk: 0.91 }, "E_CONFIG_VALUE", "retention.min_free_disk"],
  [{ min_free_disk: -0.1 }, "E_CONFIG_VALUE", "retention.min_free_disk"],
  [{ min_free_disk: Number.NaN }, "E_CONFIG_VALUE", "retention.min_free_disk"],
  [{ cleanup_strategy: "LRU" }, "E_CONFIG_VALUE", "retention.cleanup_strategy"],
  [{ ttl_from: null }, "E_CONFIG_VALUE", "retention.ttl_from"],
  [[], "E_CONFIG_VALUE", "retention"],
  [null, "E_CONFIG_VALUE", "retention"],
  ["lru", "E_CONFIG_VALUE", "retention"],
])("%j is refused with its path", (config, code, path) => {
  expect(() => readRetention(config)).toThrow(expect.objectContaining({ code, path }));
});
