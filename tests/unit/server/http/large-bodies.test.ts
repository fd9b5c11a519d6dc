/** Bodies that are held in memory: how many there may be at a time, of one user and of all. */
import { setTimeout as sleep } from "node:timers/promises";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MemoryArtifactStore } from "../../../../web/src/index.js";
import { SluiceServer } from "../../../../web/src/serve.js";
import { heldOf, LargeBodies } from "../../../../web/src/server/http/admission.js";
import { byHeaders, refused, Visitor } from "../visitor.js";

const MIB = 1024 * 1024;

const asked = (method: string, body: string | null, length?: number): Request =>
  new Request("http://x/", { method, body, headers: length === undefined ? {} : { "content-length": `${length}` } });

describe("room", () => {
  test("is for 8 MiB of one user and 32 MiB of all, and always for what is small", () => {
    const bodies = new LargeBodies();
    const leave = bodies.enter("ada", 8 * MIB);
    expect([leave, bodies.enter("ada", 65_537), bodies.enter("ada", 65_536)]).toEqual([
      expect.any(Function),
      null,
      expect.any(Function),
    ]);
    for (const user of ["bob", "cy", "dan"]) expect(bodies.enter(user, 8 * MIB)).not.toBeNull();
    expect([bodies.enter("eve", 65_537), bodies.enter("eve", 65_536)]).toEqual([null, expect.any(Function)]);
    leave?.();
    leave?.();
    expect([bodies.enter("eve", 8 * MIB), bodies.enter("fay", 65_537)]).toEqual([expect.any(Function), null]);
  });

  test("is there again when all have left, in whatever order", () => {
    const entry = fc.record({ user: fc.constantFrom("a", "b", "c", "d", "e"), bytes: fc.nat(9 * MIB) });
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 40 }), fc.infiniteStream(fc.nat()), (entries, picks) => {
        const bodies = new LargeBodies();
        const leaves = entries.flatMap(({ user, bytes }) => bodies.enter(user, bytes) ?? []);
        while (leaves.length > 0) leaves.splice((picks.next().value as number) % leaves.length, 1)[0]?.();
        for (const user of ["a", "b", "c", "d"]) expect(bodies.enter(user, 8 * MIB)).not.toBeNull();
      }),
    );
  });
});

describe("what is held of a request", () => {
  test.each([
    ["nothing of one without a body", asked("POST", null, 5), "tools/a", 0],
    ["nothing where none is read", asked("DELETE", "x"), "sessions/current", 0],
    ["nothing of an upload", asked("POST", "x", 5_000_000), "artifacts", 0],
    ["nothing of a file", asked("POST", "x", 5_000_000), "files/", 0],
    ["what it says", asked("PATCH", "x", 70_000), "files/id", 70_000],
    ["no more than is read", asked("POST", "x", 5_000_000), "tools/a", MIB],
    ["as much as may be where it does not say", asked("POST", "x"), "chat", MIB],
    ["more of a message for a source", asked("POST", "x", 5_000_000), "mcp/a", 5_000_000],
    ["and of one that does not say", asked("POST", "x"), "mcp/a", 8 * MIB],
  ])("is %s", (_, request, path, bytes) => {
    expect(heldOf(request, path)).toBe(bytes);
  });
});

test("a user of many sessions is refused more large requests, and others are not", async () => {
  await using server = new SluiceServer({ store: new MemoryArtifactStore(), authenticate: byHeaders });
  const sessions = await Promise.all(Array.from({ length: 10 }, () => Visitor.of(server, { user: "ada" })));
  const bob = await Visitor.of(server, { user: "bob" });
  const ends: (() => void)[] = [];
  const endless = (visitor: Visitor): Promise<Response> => {
    const body = new ReadableStream<Uint8Array>({ start: (controller) => void ends.push(() => controller.close()) });
    const init = { method: "POST", body, duplex: "half", headers: { "content-type": "application/json" } };
    return visitor.ask("/tools/none.none", init);
  };
  const held = sessions.slice(0, 8).map(endless);
  await sleep(50);
  const [ada] = sessions.slice(8);
  expect(await refused(await (ada as Visitor).ask("/tools/a.b", large()))).toEqual([429, "E_RATE_LIMIT"]);
  expect((await (ada as Visitor).ask("/artifacts")).status).toBe(200);
  expect(await refused(await bob.ask("/tools/a.b", large()))).toEqual([404, "E_NOT_FOUND"]);
  for (const end of ends) end();
  await Promise.all(held.map(async (response) => (await response).text()));
  expect(await refused(await (ada as Visitor).ask("/tools/a.b", large()))).toEqual([404, "E_NOT_FOUND"]);
});

function large(): RequestInit {
  const body = JSON.stringify({ args: { text: "x".repeat(100_000) } });
  const headers = {
    "content-type": "application/json",
    accept: "application/json",
    "content-length": `${body.length}`,
  };
  return { method: "POST", body, headers };
}
