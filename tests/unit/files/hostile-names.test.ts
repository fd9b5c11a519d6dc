/** Whatever files are called, by whom: names are kept, found and told. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import { nameShownAs, withFileContext } from "../../../web/src/files/context.js";
import { fileName } from "../../../web/src/files/names.js";
import type { UserFile } from "../../../web/src/files/user-file.js";
import { UserStorage } from "../../../web/src/files/user-storage.js";
import { hostileName } from "./hostile-names.js";
import { amount } from "../../support/full.js";

/** In the full run together 10,000. */
const [USERS, NAMES] = [amount(200, 2000), 5];

/** Whatever somebody takes for the end of a line. */
const BREAK = /[\n\r\v\f\u0085\u2028\u2029]/;
const LINE = /^- ([^[\]]+) \(uploaded \d{4}-\d\d-\d\d, \dB\)$/;

/** The names that the session context shows, as they are meant. */
function namesShown(files: readonly UserFile[]): readonly string[] {
  const [question, empty, first, ...lines] = withFileContext("?", files, { maxChars: 100_000 }).split(BREAK);
  expect([question, empty, first]).toEqual(["?", "", "[SYSTEM: Available files in current session:"]);
  expect([lines.length, lines.pop()]).toEqual([files.length + 1, "End available files]"]);
  const shown = lines.map((line) => LINE.exec(line)?.[1] ?? "");
  return shown.map((name) => (files.some((file) => file.name === name) ? name : nameShownAs(name)));
}

test("of hostile names each keeps a file that is found by it, and has a line of the session context", async () => {
  const hostileNames = fc.array(hostileName, { minLength: NAMES, maxLength: NAMES });
  const property = fc.asyncProperty(hostileNames, async (names) => {
    const files = new UserStorage(new MemoryArtifactStore(), { user_id: "ada" });
    // Sizes tell files apart.
    const sizes = new Map<string, number>();
    for (const [at, name] of names.entries()) {
      await files.put(name, new Uint8Array(at + 1));
      sizes.set(fileName(name), at + 1);
    }
    const list = await files.list();
    expect(list.map(({ name }) => name)).toEqual([...sizes.keys()].toSorted());
    for (const name of names) {
      const kept = fileName(name);
      expect(await files.find(name)).toMatchObject({ name: kept, size_bytes: sizes.get(kept) });
    }
    expect([...namesShown(list)].sort()).toEqual(list.map(({ name }) => name));
  });
  await fc.assert(property, { numRuns: USERS });
});
