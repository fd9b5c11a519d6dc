/** Paths of a user's folder in texts of tools: a model is told names. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { pathHider } from "../../../web/src/files/tool-text.js";

const ROOT = "/var/tmp/a (b).ü";
const hide = pathHider(["/tmp/ada/", `${ROOT}/ada/`]);

/** As PHP writes slashes, and Python other letters. */
const slashed = (json: string): string => json.replaceAll("/", "\\/");
const ascii = (json: string): string =>
  json.replaceAll(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);

describe("a path in the user's folder", () => {
  test.each([
    ["/tmp/ada/out.csv", "out.csv"],
    ["Saved to /tmp/ada/charts/a.png, then /tmp/ada/b.", "Saved to charts/a.png, then b."],
    ["read '/tmp/ada/input_files/sales.csv'", "read 'sales.csv'"],
    ["/tmp//ada//out.csv", "out.csv"],
    [`${ROOT}/ada/out.csv`, "out.csv"],
    ["file:///tmp/ada/out.csv", "file:///out.csv"],
    ["--out=/tmp/ada/out.csv", "--out=out.csv"],
  ])("is a name: %s", (text, shown) => {
    expect(hide(text)).toBe(shown);
  });

  test.each(["/tmp/ada", "/tmp/ada/", "/tmp/ada/input_files/"])("is the folder itself: %s", (folder) => {
    expect(hide(folder)).toBe("/tmp/{username}/");
    expect(hide(`In ${folder}, or ${folder}.`)).toContain("In /tmp/{username}/, or ");
    expect(hide(JSON.stringify({ folder }))).toBe('{"folder":"/tmp/{username}/"}');
  });

  test.each([
    "/tmp/adam/out.csv",
    "/tmp/ada-2/out.csv",
    "/tmp/ada.bak/out.csv",
    "/home/tmp/ada/out.csv",
    "https://example.com/tmp/ada/out.csv",
    "aGVsbG8/tmp/ada/out",
    "/etc/passwd",
    "tmp/ada/out.csv",
  ])("is none of another's: %s", (text) => {
    expect(hide(text)).toBe(text);
  });
});

test("where there is no folder nothing is hidden", () => {
  expect(pathHider([])("/tmp/ada/out.csv")).toBe("/tmp/ada/out.csv");
});

test("a folder of Windows is hidden too", () => {
  const windows = pathHider(["C:\\sluice\\ada\\"]);
  expect(windows("C:\\sluice\\ada\\out\\a.csv")).toBe("out\\a.csv");
  expect(JSON.parse(windows(JSON.stringify(["C:\\sluice\\ada\\a.csv"])))).toEqual(["a.csv"]);
});

test("JSON stays JSON, however it spells a path and however deep it is quoted", () => {
  const text = fc.array(
    fc.oneof(
      fc.constantFrom("/tmp/ada/", `${ROOT}/ada/`, "/tmp/ada", "\\", "\n", "/", '"', "x", "u002f", "input_files/"),
      fc.string({ unit: "binary", maxLength: 3 }),
    ),
    { maxLength: 8 },
  );
  const spelled = fc.constantFrom(
    (json: string) => json,
    slashed,
    ascii,
    (json: string) => ascii(slashed(json)),
  );
  fc.assert(
    fc.property(text, fc.array(spelled, { minLength: 1, maxLength: 3 }), (parts, spellings) => {
      const json = spellings.reduce<string>((inner, spell) => spell(JSON.stringify(inner)), parts.join(""));
      expect(() => JSON.parse(hide(json)) as unknown).not.toThrow();
      const shown = spellings.reduce<string>((inner, spell) => spell(JSON.stringify(inner)), " /tmp/ada/a.csv ");
      expect(hide(shown)).not.toContain("ada");
    }),
    { numRuns: 2000 },
  );
});

test("time is linear in what is long and nearly a path", () => {
  for (const part of ["\\", "/", "/tmp/", "/tmp/ada", "\\n/tmp", "file:/", "\\u002f"]) {
    const text = part.repeat(Math.ceil(2_000_000 / part.length));
    const before = performance.now();
    hide(text);
    expect(performance.now() - before).toBeLessThan(5000);
  }
});
