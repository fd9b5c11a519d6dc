/** What is known of an artifact before anything of it is read. */
import { expect, test } from "vitest";
import { isStored, type ShownArtifact } from "../../../web/ui/shown.js";

const ID = "demo_6c0e06280000";

test.each<readonly [string, ShownArtifact, boolean]>([
  ["an id alone", { id: ID }, true],
  ["a ref without a hash, which says so", { id: ID, sha256: null }, false],
  ["a ref that is still to be fetched", { id: ID, sha256: null, deferred: true }, true],
  ["a ref that says that its bytes were cut", { id: ID, source: { truncated: true } }, false],
  ["an id of what was not stored", { id: "truncated_0123456789ab" }, false],
])("of %s it is known whether its bytes were kept", (_, artifact, expected) => {
  expect(isStored(artifact)).toBe(expected);
});
