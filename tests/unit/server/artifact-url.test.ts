import { expect, test } from "vitest";
import { artifactUrl } from "../../../web/src/server/artifacts/service.js";
import { sessionKey } from "../../../web/src/server/artifacts/sessions.js";

const KEY = sessionKey();
const ID = "web_0123456789ab";

test("addresses are below where the service is, or relative", () => {
  expect(artifactUrl(KEY, ID)).toBe(`s/${KEY}/artifacts/${ID}`);
  expect(artifactUrl(KEY, ID, { download: true })).toBe(`s/${KEY}/artifacts/${ID}?download`);
  expect(artifactUrl(KEY, ID, { meta: true })).toBe(`s/${KEY}/artifacts/${ID}/meta`);
  expect(artifactUrl(KEY, ID, { base: "https://example.org/sub/path/" })).toBe(
    `https://example.org/sub/path/s/${KEY}/artifacts/${ID}`,
  );
});

test("what is no id stays one part of a path", () => {
  expect(artifactUrl(KEY, "../x?y#z", { base: "https://example.org/" })).toBe(
    `https://example.org/s/${KEY}/artifacts/..%2Fx%3Fy%23z`,
  );
});
