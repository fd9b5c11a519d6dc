/** The id of a message that comes in pieces. */
import { array, assert, constantFrom, integer, property } from "fast-check";
import { expect, test } from "vitest";
import { IdSwap } from "../../../../web/src/cli/proxy/mapped-ids.js";
import { MessageMembers } from "../../../../web/src/transports/members.js";

/** Passes a message through in pieces that end at these places; `behind`: the message is known before. */
function swapped(message: string, places: readonly number[], behind: boolean): string {
  const bytes = new TextEncoder().encode(message);
  const ends = [...new Set([...places.map((place) => place % bytes.length), bytes.length])].toSorted((a, b) => a - b);
  const pieces = ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
  const about = new MessageMembers();
  if (behind) for (const piece of pieces) about.push(piece);
  const swap = new IdSwap((key) => (key === "17" ? '"its own"' : undefined));
  const out = pieces.flatMap((piece) => {
    if (!behind) about.push(piece);
    return swap.pieces(piece, about);
  });
  return Buffer.concat(out).toString();
}

const MESSAGES: readonly (readonly [message: string, expected: string])[] = [
  ['{"jsonrpc":"2.0","id":17,"result":{"id":17}}', '{"jsonrpc":"2.0","id":"its own","result":{"id":17}}'],
  ['{"result":{"id":17},"id" : 17 }', '{"result":{"id":17},"id" : "its own"}'],
  ['{"result":{},"id":18}', '{"result":{},"id":18}'],
  ['{"result":{},"id":"17"}', '{"result":{},"id":"17"}'],
  ['{"result":{}}', '{"result":{}}'],
];

test("is replaced wherever it stands and however it is cut", () => {
  assert(
    property(array(integer({ min: 0, max: 60 })), constantFrom(...MESSAGES), constantFrom(true, false), (...given) => {
      const [places, [message, expected], behind] = given;
      expect(swapped(message, places, behind)).toBe(expected);
    }),
  );
});
