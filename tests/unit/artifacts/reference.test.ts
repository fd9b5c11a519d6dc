/** Ids, namespaces, and the refs of what is not stored. */
import * as fc from "fast-check";
import { describe, expect, expectTypeOf, test } from "vitest";
import { toId, toFileName } from "../../../web/src/artifacts/file/folder.js";
import { sha256 } from "../../../web/src/artifacts/hash-node.js";
import {
  cleanNamespace,
  idsFor,
  isArtifactId,
  openUnstored,
  type TruncatedRef,
} from "../../../web/src/artifacts/reference.js";
import type { ArtifactInfo, ArtifactRef } from "../../../web/src/artifacts/store.js";
import { checkNamespace } from "../../../web/src/errors/arguments.js";
import { createSluice } from "../../../web/src/index.js";
import { noise } from "./bytes.js";

test("ids start with 12 digits and grow by four to the whole hash", () => {
  const sha = "0123456789abcdef".repeat(4);
  const ids = [...idsFor("ns", sha)];
  expect(ids[0]).toBe("ns_0123456789ab");
  expect(ids[1]).toBe("ns_0123456789abcdef");
  expect(ids.at(-1)).toBe(`ns_${sha}`);
  expect(ids).toHaveLength(14);
  expect(ids.every(isArtifactId)).toBe(true);
});

test("a namespace is kept or refused, with the rule", () => {
  expect(checkNamespace()).toBe("artifact");
  expect(checkNamespace("My.Server-1_x")).toBe("My.Server-1_x");
  expect(() => checkNamespace("a/b")).toThrow(/1 to 64 characters, each an ASCII letter, a digit/);
});

test.each([
  ["My Server!", "My_Server"],
  ["../../etc", ".._.._etc"],
  ["", "artifact"],
  ["🌊🌊", "artifact"],
  ["x".repeat(100), "x".repeat(64)],
])("cleanNamespace(%j)", (name, cleaned) => {
  expect(cleanNamespace(name)).toBe(cleaned);
});

test("a cleaned name is always a namespace", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (name) => {
      expect(checkNamespace(cleanNamespace(name))).toBe(cleanNamespace(name));
    }),
  );
});

test("names of folders are one to one, and never differ in case only", () => {
  const id = fc.stringMatching(/^[A-Za-z0-9._-]{1,10}_[0-9a-f]{12}$/);
  fc.assert(
    fc.property(id, id, (one, two) => {
      expect(toId(toFileName(one))).toBe(one);
      expect(toFileName(one)).toBe(toFileName(one).toLowerCase());
      expect(toFileName(one) === toFileName(two)).toBe(one === two);
    }),
  );
});

const WHY = "Content not stored. Make room (E_STORE_FULL).";
const data = noise(5_000);

describe("a content that is not stored", () => {
  test("is named by its hash when all of it passes by", async () => {
    const unstored = await openUnstored({ namespace: "n", filename: "a", source: { tool: "t" } }, WHY);
    unstored.write(data.subarray(0, 999));
    unstored.write(data.subarray(999));
    const hash = await sha256.whole(data);
    expect(unstored.ref({ filename: "b" })).toEqual({
      id: `truncated_${hash.slice(0, 12)}`,
      mime_type: null,
      size_bytes: 5_000,
      filename: "b",
      sha256: hash,
      scope: { tenant_id: null, user_id: null, session_id: null, trace_id: null },
      namespace: "n",
      source: { tool: "t", warning: WHY, truncated: true, original_size: 5_000 },
    });
  });

  test("counts what a store had taken, and hashes it where it is still there", async () => {
    const passed = { size_bytes: 1_000, bytes: [data.subarray(0, 400), data.subarray(400, 1_000)] };
    const unstored = await openUnstored({}, WHY, passed);
    unstored.write(data.subarray(1_000));
    expect(unstored.ref()).toMatchObject({ size_bytes: 5_000, sha256: await sha256.whole(data) });
  });

  test("claims no hash of bytes that nobody has, and an id of its own", async () => {
    const refs = await Promise.all([1, 2].map(() => openUnstored({}, WHY, { size_bytes: 1_000 })));
    const [one, other] = refs.map((unstored) => unstored.ref());
    expect(one).toMatchObject({
      size_bytes: 1_000,
      sha256: null,
      id: expect.stringMatching(/^truncated_[0-9a-f]{12}$/),
    });
    expect(one?.id).not.toBe(other?.id);
  });

  test.each([
    ["namespace", { namespace: "../x" }],
    ["scope.user_id", { scope: { user_id: 7 } }],
    ["scope.user", { scope: { user: "u" } }],
    ["source", { source: { n: 1n } }],
  ])("is refused for the reason any is: %s", async (path, info) => {
    const refused = { code: "E_INVALID_ARGUMENT", path };
    await expect(openUnstored(info as never, WHY)).rejects.toMatchObject(refused);
  });
});

test("what Sluice writes into the source of a ref has its type; the rest is a host's own", async () => {
  const sluice = await createSluice({ store: "memory" });
  const { artifacts } = await sluice.transform({ text: "many words ".repeat(5_000) }, { tool: "read" });
  const [source] = artifacts.map((ref) => ref.source);
  expectTypeOf(source!.tool).toEqualTypeOf<string | undefined>();
  expectTypeOf(source!.description).toEqualTypeOf<string | undefined>();
  expect([source?.tool, source?.description]).toEqual(["read", expect.stringContaining("53.7 KB")]);
  const own: ArtifactInfo = { source: { origin: "camera", tool: "photo" } };
  expectTypeOf<NonNullable<typeof own.source>["origin"]>().toEqualTypeOf<unknown>();
  // @ts-expect-error: a tool is named.
  expectTypeOf({ source: { tool: 5 } }).toExtend<ArtifactInfo>();
  expectTypeOf<TruncatedRef["source"]["warning"]>().toEqualTypeOf<string>();
  expectTypeOf<ArtifactRef["source"]["truncated"]>().toEqualTypeOf<boolean | undefined>();
});
