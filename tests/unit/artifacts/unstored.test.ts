import { describe, expect, test } from "vitest";
import { sha256 } from "../../../web/src/artifacts/hash-node.js";
import { openUnstored } from "../../../web/src/artifacts/reference.js";
import { noise } from "./noise.js";

const WHY = "Content not stored (E_STORE_FULL): make room.";
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
