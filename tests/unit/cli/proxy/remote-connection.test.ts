/** Event streams, read for where to go on. */
import { assert, integer, property } from "fast-check";
import { expect, test } from "vitest";
import { RemoteEvents } from "../../../../web/src/cli/proxy/remote-connection.js";

async function read(stream: string, size: number): Promise<{ messages: string[]; id?: string; retry?: number }> {
  const messages: string[] = [];
  const events = new RemoteEvents(() => {
    let message = "";
    return {
      write: async (bytes) => void (message += new TextDecoder().decode(bytes)),
      end: async () => void messages.push(message),
      [Symbol.asyncDispose]: async () => undefined,
    };
  });
  const bytes = new TextEncoder().encode(stream);
  for (let at = 0; at < bytes.length; at += size) await events.write(bytes.slice(at, at + size));
  await events[Symbol.asyncDispose]();
  const { lastEventId: id, retry } = events;
  return { messages, ...(id !== undefined && { id }), ...(retry !== undefined && { retry }) };
}

test("chunks of any size say the same", async () => {
  const stream =
    ':hi\r\nretry: 25\r\nid: 1\r\ndata: {"a":\r\ndata: 1}\r\n\r\ndata: {}\nid:2\nevent: message\n\nid: 3\ndata: {';
  await assertSizes(async (size) => {
    expect(await read(stream, size)).toEqual({ messages: ['{"a":\n1}', "{}"], id: "2", retry: 25 });
  });
});

test("only what was dispatched need not come again, and only what a header can say is asked for", async () => {
  expect(await read("id: 1\ndata:\n\nid: 2\n", 5)).toEqual({ messages: [""], id: "1" });
  expect(await read("id: \u0000\ndata: {}\n\n", 5)).toEqual({ messages: ["{}"] });
  expect(await read(`id: ${"x".repeat(10_000)}\ndata: {}\n\n`, 1000)).toEqual({ messages: ["{}"] });
  expect(await read("retry: 1e9\nretry: -1\n\n", 5)).toEqual({ messages: [] });
});

async function assertSizes(check: (size: number) => Promise<void>): Promise<void> {
  const sizes = new Set<number>();
  assert(property(integer({ min: 1, max: 100 }), (size) => void sizes.add(size)));
  for (const size of sizes) await check(size);
}
