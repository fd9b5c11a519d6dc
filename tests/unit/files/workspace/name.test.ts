import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { workspaceName } from "../../../../web/src/files/names.js";

describe("the name of a user's folder", () => {
  test("is the id itself where that is a plain name", async () => {
    for (const id of ["ada", "ada.lovelace", "ada_99", "7"]) expect(await workspaceName({ user_id: id })).toBe(id);
  });

  test.each([
    "Ada",
    "ada@example.org",
    "../ada",
    "",
    ".",
    "..",
    ".ssh",
    "a/b",
    "a\0b",
    "nul",
    "com1.x",
    "ädä",
    "a.",
    "-a",
  ])("has a hash for %j", async (id) => {
    expect(await workspaceName({ user_id: id })).toMatch(/^[a-z0-9][a-z0-9-]*-[0-9a-f]{24}$/);
  });

  test("is another for another tenant, session or spelling, and cannot be taken by choosing an id", async () => {
    const hashed = await workspaceName({ user_id: "ada", tenant_id: "acme" });
    const names = await Promise.all([
      workspaceName({ user_id: "ada" }),
      workspaceName({ user_id: "Ada" }),
      workspaceName({ user_id: "ADA" }),
      workspaceName({ user_id: "ada", tenant_id: "acme2" }),
      workspaceName({ user_id: "ada", session_id: "acme" }),
      workspaceName({ user_id: hashed }),
    ]);
    expect(new Set([hashed, ...names]).size).toBe(7);
    expect(await workspaceName({ user_id: "ada", tenant_id: "acme" })).toBe(hashed);
    expect(await workspaceName({ user_id: "ada", tenant_id: null, session_id: null })).toBe("ada");
  });

  test("is one folder of any system, and nobody else's, whatever the ids are", async () => {
    const owner = fc.record({
      user_id: fc.oneof(fc.string({ unit: "binary" }), fc.stringMatching(/^[aA]{1,3}-?[0-9a-f]{0,24}$/)),
      tenant_id: fc.option(fc.string({ maxLength: 2 })),
    });
    const seen = new Map<string, string>();
    await fc.assert(
      fc.asyncProperty(owner, async (each) => {
        const name = await workspaceName(each);
        expect(name).toMatch(/^[a-z0-9][a-z0-9._-]{0,63}$/);
        const said = JSON.stringify([each.user_id, each.tenant_id]);
        expect(seen.get(name) ?? said).toBe(said);
        seen.set(name, said);
      }),
    );
  });
});
