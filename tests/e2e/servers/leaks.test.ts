/** The search for leaks finds what it is for, and nothing else. */
import { expect, test } from "vitest";
import { noise } from "../../unit/artifacts/noise.js";
import { leaksIn } from "./leaks.js";

const BYTES = Buffer.from(noise(600));

test.each<[string, unknown]>([
  ["base64", BYTES.toString("base64")],
  ["base64 for addresses", BYTES.toString("base64url")],
  ["base64 in a data URI in a text", `look: data:image/png;base64,${BYTES.toString("base64")}!`],
  ["base64 in lines", BYTES.toString("base64").replace(/.{76}/g, "$&\r\n")],
  ["base64 in lines, in JSON in a string", JSON.stringify(BYTES.toString("base64").replace(/.{76}/g, "$&\n"))],
  ["hex", BYTES.toString("hex")],
  ["hex with escapes", BYTES.toString("hex").replace(/../g, "\\x$&")],
  ["a list of bytes", [...BYTES]],
  ["a Buffer", BYTES.toJSON()],
  ["a Buffer in JSON in a string", JSON.stringify({ row: [{ blob: BYTES }] }, null, 2)],
])("%s", (_, value) => {
  expect(leaksIn({ result: { content: [value] } })).toHaveLength(1);
});

test("names, hashes, prose and short lists are none", () => {
  const hash = BYTES.toString("hex", 0, 32);
  const prose = "Line 12 says what happened on the way home. ".repeat(100);
  expect(leaksIn({ hash, prose, id: `artifact://everything_${hash}`, list: [1, 2, 3], path: "/tmp/a/b" })).toEqual([]);
});
