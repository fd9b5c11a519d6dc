/** Bodies that are too large to be passed on, as HTTP answers them. */
import { expect, test } from "vitest";
import { PassThrough } from "../../../../web/src/mcp/pass-through.js";
import { exchange } from "../../../../web/src/mcp/http/exchange.js";
import { BoundedMessage } from "../../../../web/src/mcp/stdio/lines.js";

const SIZE = 12_000_000;
const TOO_LARGE = { error: { code: -32_600, message: expect.stringContaining("larger than 8 MiB") } };
const NO_MESSAGE = { id: null, error: { code: -32_700, message: expect.stringContaining("no JSON-RPC message") } };

/** Bytes of no meaning, the same each time. */
function noise(): Uint8Array {
  let state = 1;
  return Uint8Array.from({ length: SIZE }, () => (state = (state * 48_271) % 2_147_483_647) & 0xff);
}

async function answered(body: Uint8Array): Promise<readonly [number, unknown, readonly string[]]> {
  const held = new BoundedMessage();
  for (let at = 0; at < body.length; at += 65_536) held.push(body.subarray(at, at + 65_536));
  const sent: string[] = [];
  const send = (bytes?: Uint8Array): Promise<Response> => {
    sent.push(new TextDecoder().decode(bytes));
    return Promise.resolve(new Response(null, { status: 202 }));
  };
  const response = await exchange(new PassThrough(), held.whole() ?? held.members, { send });
  const text = await response.text();
  return [response.status, text === "" ? null : (JSON.parse(text) as unknown), sent];
}

const text = (begin: string, filling: string, end = ""): Uint8Array =>
  new TextEncoder().encode(begin + filling.repeat(SIZE / filling.length) + end);

test.each<[string, Uint8Array, number, object]>([
  ["noise", noise(), 400, NO_MESSAGE],
  ["nothing but spaces", text("", " "), 400, NO_MESSAGE],
  ["nothing but zeros", new Uint8Array(SIZE), 400, NO_MESSAGE],
  ["one list in the other", text("", "["), 400, NO_MESSAGE],
  ["a text", text('"', "a", '"'), 400, NO_MESSAGE],
  ["an object of something else", text('{"a":"', "a", '"}'), 400, NO_MESSAGE],
  ["a notification", text('{"jsonrpc":"2.0","method":"notifications/x","params":{"a":"', "a", '"}}'), 400, TOO_LARGE],
  ["a request", text('{"jsonrpc":"2.0","id":7,"method":"x","params":{"a":"', "a", '"}}'), 200, { ...TOO_LARGE, id: 7 }],
])("12 MB of %s are answered, and not sent on", async (_, body, status, said) => {
  expect(await answered(body)).toEqual([status, expect.objectContaining(said), []]);
});

test("12 MB in answer to the server: the server is told in its place", async () => {
  const [status, said, sent] = await answered(text('{"jsonrpc":"2.0","id":"s1","result":{"a":"', "a", '"}}'));
  expect([status, said]).toEqual([202, null]);
  expect(sent.map((each) => JSON.parse(each) as unknown)).toEqual([
    expect.objectContaining({ ...TOO_LARGE, id: "s1" }),
  ]);
});
