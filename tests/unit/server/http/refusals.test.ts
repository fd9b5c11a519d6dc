import { expect, test } from "vitest";
import { SluiceError, type ErrorCode } from "../../../../web/src/errors/error.js";
import { StoreLate } from "../../../../web/src/server/http/time-limit.js";
import { failed } from "../../../../web/src/server/http/refusals.js";
import { refused } from "../visitor.js";

// What is told of an error over HTTP: its status, its code, and no word that is not for whoever asked.

async function told(error: unknown): Promise<readonly [...(readonly [number, string]), isReported: boolean]> {
  const reported: unknown[] = [];
  const [status, code] = await refused(failed(error, (each) => void reported.push(each)));
  expect(reported.every((each) => each === error)).toBe(true);
  return [status, code, reported.length === 1];
}

/** What clients can mend, which the host is not told: one of each status. */
const THEIRS: readonly (readonly [ErrorCode, number])[] = [
  ["E_INVALID_ARGUMENT", 400],
  ["E_NOT_FOUND", 404],
  ["E_EXPIRED", 410],
  ["E_TOO_LARGE", 413],
];

/** What a store, a source or the model failed at, of which the host is told too: one of each status. */
const OURS: readonly (readonly [ErrorCode, number])[] = [
  ["E_STORE_READ", 503],
  ["E_STORE_FULL", 507],
  ["E_TOOL", 502],
  ["E_LLM_TIMEOUT", 504],
];

test.each(THEIRS)("%s is answered with %i, and is nobody else's business", async (code, status) => {
  expect(await told(new SluiceError(code, "A sentence."))).toEqual([status, code, false]);
});

test.each(OURS)("%s is answered with %i, and the host is told", async (code, status) => {
  expect(await told(new SluiceError(code, "A sentence."))).toEqual([status, code, true]);
});

test("a store that does not answer in time is told from one that cannot be read", async () => {
  expect(await told(new StoreLate())).toEqual([504, "E_STORE_READ", true]);
});

test.each([
  ["an error of a library", new Error("/home/ada/secret at 10.0.0.1")],
  ["an error whose code is for the host alone", new SluiceError("E_CONFIG_KEY", "/home/ada/secret at 10.0.0.1")],
  ["a text", "/home/ada/secret at 10.0.0.1"],
  ["nothing", undefined],
  ["an object with a code of ours", { code: "E_NOT_FOUND", message: "/home/ada/secret at 10.0.0.1" }],
])("%s is a fault here, of which whoever asked is told no word", async (_, error) => {
  expect(await told(error)).toEqual([500, "E_INTERNAL", true]);
  const text = await failed(error, () => undefined).text();
  expect(text).not.toMatch(/secret|10\.0\.0\.1/);
});
