/** The fixture says the same when it is asked the same, so that a difference behind the proxy is the proxy's. */
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { bytesOf, KINDS, sha256Of } from "./fixture/bytes.mjs";
import { messagesIn, record, type Command } from "./record.js";
import { SCENARIOS } from "./scenarios/all.js";
import { call, closing, opening } from "./script.js";
import { sha256 } from "../unit/core/samples.js";

const FIXTURE = fileURLToPath(new URL("fixture/stdio.mjs", import.meta.url));

const fixture = (args: readonly string[] = []): Command => ({ program: process.execPath, args: [FIXTURE, ...args] });

test.each(SCENARIOS)("twice the same: $name", async ({ server, steps, changes, strays = [] }) => {
  const [first, second] = await Promise.all([record(fixture(server), steps), record(fixture(server), steps)]);
  expect(second.lines.map(String)).toEqual(first.lines.map(String));
  expect({ ...second, lines: 0, rest: String(second.rest) }).toEqual({ ...first, lines: 0, rest: String(first.rest) });

  const answered = first.lines.flatMap(messagesIn).filter(({ method }) => method === undefined);
  const ids = answered.map(({ id }) => id);
  for (const { at, how } of changes) expect([at, ids.includes(at)]).toEqual([at, how !== "refused"]);
  const stray = first.lines.filter((line) => messagesIn(line).length === 0);
  expect(stray.map(String)).toEqual(strays);
});

test.each(KINDS)("the tool sha256 tells the hash of what the others give: %s", async (kind) => {
  const bytes = 2_000_000;
  const steps = [
    ...opening("2025"),
    ...call("2025", 1, "sha256", { kind, bytes }),
    ...call("2025", 2, "large", { kind, bytes }),
    ...closing,
  ];
  const { lines } = await record(fixture(), steps);
  const results = lines.flatMap(messagesIn).map(({ result }) => result as { content?: Block[] });
  const [hash, file] = results.flatMap(({ content = [] }) => content);
  expect(hash?.text).toBe(sha256Of(kind, bytes));
  expect(sha256(Buffer.from(file?.resource?.blob ?? "", "base64"))).toBe(hash?.text);
  expect(sha256(bytesOf(kind, bytes))).toBe(hash?.text);
});

interface Block {
  readonly text?: string;
  readonly resource?: { readonly blob: string };
}
