/**
 * One server for the tests of a group: starting one takes longer than what they do with it.
 * @module
 */
import { afterAll, beforeAll } from "vitest";
import type { Conversation } from "./behind.js";

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
