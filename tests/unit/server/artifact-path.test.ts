import * as fc from "fast-check";
import { expect, test } from "vitest";
import { isArtifactId } from "../../../web/src/artifacts/reference.js";
import { askedArtifact } from "../../../web/src/server/artifacts/handler.js";
import { anyText } from "./any-text.js";

const ID = "web_0123456789ab";

test.each([
  [`/artifacts/${ID}`, "/", { id: ID, part: "bytes" }],
  [`/artifacts/${ID}/meta`, "/", { id: ID, part: "meta" }],
  [`/a/b/artifacts/${ID}`, "/a/b/", { id: ID, part: "bytes" }],
  [`/artifacts/${ID}`, "/a/", null],
  ["/artifacts", "/", null],
  ["/", "/", null],
  ["/index.html", "/", null],
  ["/artifacts/", "/", "unknown"],
  ["/artifacts//meta", "/", "unknown"],
  [`/artifacts/${ID}/`, "/", "unknown"],
  [`/artifacts/${ID}/meta/`, "/", "unknown"],
  [`/artifacts/${ID}/other`, "/", "unknown"],
  [`/artifacts//${ID}`, "/", "unknown"],
  [`/artifacts/web%5F0123456789ab`, "/", "unknown"],
  ["/artifacts/%", "/", "unknown"],
  ["/artifacts/%00%ff%2e%2e%2f", "/", "unknown"],
  ["/artifacts/...", "/", "unknown"],
  ["/artifacts/żółć_0123456789ab", "/", "unknown"],
  [`/artifacts/${"x".repeat(10_000)}`, "/", "unknown"],
])("%s below %s", (path, base, asked) => {
  expect(askedArtifact(path, base)).toEqual(asked);
});

test("whatever a path is, what it names has the form of an id", () => {
  fc.assert(
    fc.property(anyText(), (rest) => {
      const asked = askedArtifact(`/artifacts/${rest}`, "/");
      expect(asked === "unknown" || (asked !== null && isArtifactId(asked.id))).toBe(true);
    }),
  );
});
