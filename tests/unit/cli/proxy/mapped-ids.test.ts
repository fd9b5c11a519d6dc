/** Ids of several clients on one connection. */
import { constantFrom, oneof, assert, array, integer, property, string } from "fast-check";
import { expect, test } from "vitest";
import { MappedIds, IdSwap } from "../../../../web/src/cli/proxy/command-server.js";
import { JsonRpcScanner } from "../../../../web/src/jsonrpc/json-rpc-scanner.js";

const SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId";
const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (message: Uint8Array): string => new TextDecoder().decode(message);

/** Ids as somebody may spell them. */
const spelled = oneof(
  integer().map(String),
  string().map((value) => JSON.stringify(value)),
  constantFrom('"\\u0061"', "12345678901234567890", "1.0", '""'),
);

test("every answer gets its own id back, as it was spelled", () => {
  assert(
    property(array(spelled, { minLength: 1, maxLength: 8 }), (ids) => {
      const mapped = new MappedIds();
      const keys = ids.map((id) => mapped.request(`{"jsonrpc":"2.0","id": ${id} ,"method":"m"}`).key);
      expect(new Set(keys).size).toBe(ids.length);
      for (const [index, key] of keys.entries()) {
        const back = mapped.back(encode(`{"result":{"id":${key}},"jsonrpc":"2.0","id":${key}}`));
        expect(back.key).toBe(key);
        expect(text(back.bytes)).toBe(`{"result":{"id":${key}},"jsonrpc":"2.0","id":${ids[index] ?? ""}}`);
      }
    }),
  );
});

test("progress, cancellation and subscriptions are told of by the client's own names", () => {
  const mapped = new MappedIds();
  mapped.request('{"id":"x","method":"m"}');
  const { bytes: sent, key } = mapped.request(
    '{"id":"a","method":"m","params":{"_meta":{"progressToken":"t"},"n":1.0}}',
  );
  expect(text(sent)).toBe(`{"id":${key},"method":"m","params":{"_meta":{"progressToken":${key}},"n":1.0}}`);
  const told = [
    [`{"method":"notifications/progress","params":{"progressToken":${key},"progress":1}}`, `:${key},`, ':"t",'],
    [`{"method":"n","params":{"_meta":{"${SUBSCRIPTION}":${key}}}}`, `:${key}}`, ':"a"}'],
    [`{"method":"notifications/cancelled","params":{"requestId":${key}}}`, `:${key}}`, ':"a"}'],
  ] as const;
  for (const [message, own, theirs] of told) {
    const back = mapped.back(encode(message));
    expect(back.key).toBe(key);
    expect(text(back.bytes)).toBe(message.replace(own, theirs));
  }
  const cancelled = mapped.notification('{"method":"notifications/cancelled","params":{"requestId":"a"}}');
  expect(text(cancelled)).toBe(`{"method":"notifications/cancelled","params":{"requestId":${key}}}`);
});

test("what belongs to no request stays as it is", () => {
  const mapped = new MappedIds();
  for (const message of ['{"method":"n"}', '{"id":99,"result":{}}', '{"method":"n","params":{"progressToken":99}}']) {
    expect(mapped.back(encode(message)).bytes).toEqual(encode(message));
  }
});

/** Passes a message through in pieces that end at these places; `behind`: the message is known before. */
function swapped(message: string, places: readonly number[], behind: boolean): string {
  const bytes = new TextEncoder().encode(message);
  const ends = [...new Set([...places.map((place) => place % bytes.length), bytes.length])].toSorted((a, b) => a - b);
  const pieces = ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
  const about = new JsonRpcScanner();
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
