/**
 * What holds for every server behind the proxy.
 * @module
 */
import { afterAll, beforeAll, expect } from "vitest";
import { sha256 } from "../../unit/core/samples.js";
import type { Conversation, Result, Stored } from "./behind.js";
import { leaksIn } from "./leaks.js";

/** Every artifact that a result names, as URIs without what they say of themselves. */
export function urisIn(result: Result): readonly string[] {
  return [...new Set(JSON.stringify(result).match(/artifact:\/\/[\w.-]+/g) ?? [])];
}

/** The only artifact that a result names. */
export function uriIn(result: Result): string {
  const [uri, ...more] = urisIn(result);
  if (uri === undefined || more.length > 0) throw new Error(`One artifact was expected: ${JSON.stringify(result)}`);
  return uri;
}

/** The stored bytes behind the only artifact of a result. */
export async function bytesOf(conversation: Conversation, result: Result): Promise<Buffer> {
  return behind(await conversation.stored(), uriIn(result)).bytes;
}

/**
 * The result names exactly these files, they are stored byte for byte, each can be read, and no message that reached
 * the client since this was asked last holds encoded bytes.
 */
export async function expectStored(
  conversation: Conversation,
  result: Result,
  originals: readonly Uint8Array[],
): Promise<void> {
  expect(result.isError ?? false).toBe(false);
  const stored = await conversation.stored();
  const hashes = urisIn(result).map((uri) => sha256(behind(stored, uri).bytes));
  expect(new Set(hashes)).toEqual(new Set(originals.map(sha256)));
  expect(leaksIn(conversation.heard())).toEqual([]);
  for (const uri of urisIn(result)) await expectReadable(conversation, uri, behind(stored, uri));
}

/** The first tool that was added tells of an artifact, and shows its first bytes. */
async function expectReadable(conversation: Conversation, uri: string, { bytes }: Stored): Promise<void> {
  const name = conversation.tools.at(-2)?.name ?? "";
  expect(name).toMatch(/_artifact_read$/);
  const about = await conversation.call(name, { uri });
  expect(about.isError ?? false).toBe(false);
  expect(about.content[0]?.text).toContain(bytes.length.toLocaleString("en"));
  const head = await conversation.call(name, { uri, bytes: "0-7" });
  const shown = head.content.map(({ text = "" }) => text).join("\n");
  const hex = bytes
    .subarray(0, 8)
    .toString("hex")
    .replace(/..(?=.)/g, "$& ");
  expect(shown.includes(hex) || shown.includes(bytes.toString("utf8", 0, 8))).toBe(true);
}

function behind(stored: readonly Stored[], uri: string): Stored {
  const found = stored.find(({ ref }) => uri === `artifact://${ref.id}`);
  if (found === undefined) throw new Error(`${uri} is not in the store.`);
  return found;
}

/** Opens it before the tests, and closes it after them. */
export function useServer(open: () => Promise<Conversation>): () => Conversation {
  let server: Conversation | undefined;
  beforeAll(async () => {
    server = await open();
  });
  afterAll(() => server?.[Symbol.asyncDispose]());
  return () => {
    if (server === undefined) throw new Error("The server is used before the tests.");
    return server;
  };
}
