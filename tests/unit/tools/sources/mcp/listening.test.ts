import type { McpSubscription, SubscriptionFilter } from "@modelcontextprotocol/client";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { McpListener } from "../../../../../web/src/tools/sources/mcp/notices.js";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A server's side: what is listened to, and what ends it. */
function serverSide() {
  const open: { filter: SubscriptionFilter; end: (how: "graceful" | "remote") => void }[] = [];
  const state = { refuses: 0, open };
  const listen = async (filter: SubscriptionFilter): Promise<McpSubscription> => {
    if (state.refuses > 0) {
      state.refuses -= 1;
      throw new Error("refused");
    }
    let resolve!: (how: "local" | "graceful" | "remote") => void;
    const closed = new Promise<"local" | "graceful" | "remote">((settle) => (resolve = settle));
    const entry = {
      filter,
      end: (how: "local" | "graceful" | "remote") => {
        open.splice(open.indexOf(entry), 1);
        resolve(how);
      },
    };
    open.push(entry);
    return { honoredFilter: filter, closed, close: async () => entry.end("local") };
  };
  return { state, listen, filters: () => open.map(({ filter }) => filter) };
}

const A = { toolsListChanged: true };
const B = { resourcesListChanged: true };
const never = new AbortController().signal;

it("listens to one filter in place of the one before", async () => {
  const { listen, filters } = serverSide();
  const listening = new McpListener(listen, () => undefined);
  await listening.to(A, never);
  await listening.to(B, never);
  expect(filters()).toEqual([B]);
  await listening.close();
  expect(filters()).toEqual([]);
});

it("keeps what it had where the server does not agree", async () => {
  const { listen, filters } = serverSide();
  const listening = new McpListener(listen, () => undefined);
  await listening.to(A, never);
  const refused = new Error("not that");
  await expect(
    listening.to(B, never, () => {
      throw refused;
    }),
  ).rejects.toBe(refused);
  expect(filters()).toEqual([A]);
});

it("listens again when the server ends it, and says that something may have been missed", async () => {
  const { listen, filters, state } = serverSide();
  let missed = 0;
  const listening = new McpListener(listen, () => (missed += 1));
  await listening.to(A, never);
  state.refuses = 2;
  state.open[0]?.end("remote");
  await vi.advanceTimersByTimeAsync(60_000);
  expect(filters()).toEqual([A]);
  expect(missed).toBe(1);
});

it("gives up in the end, and does not go on once it is closed", async () => {
  const { listen, filters, state } = serverSide();
  const listening = new McpListener(listen, () => undefined);
  await listening.to(A, never);
  state.refuses = 1000;
  state.open[0]?.end("graceful");
  await vi.advanceTimersByTimeAsync(1_000_000);
  expect(state.refuses).toBe(994);
  expect(vi.getTimerCount()).toBe(0);
  state.refuses = 0;
  await listening.to(B, never);
  state.open[0]?.end("remote");
  await listening.close();
  await vi.advanceTimersByTimeAsync(1_000_000);
  expect(filters()).toEqual([]);
});
