import { expect, test } from "vitest";
import { decided, endUnlessAnswered, isOwnProcess } from "../../../web/src/tools/sessions.js";
import type { SourceConnection } from "../../../web/src/tools/source.js";
import type { ResolvedToolConfig } from "../../../web/src/tools/variables.js";
import { ManualClock } from "./resilience/manual.js";

function watched(terms: { isAnswered?: boolean; isOpen?: boolean; kill?: () => Promise<void> }) {
  const clock = new ManualClock();
  let killed = 0;
  const kill = async (): Promise<void> => {
    killed += 1;
    await terms.kill?.();
  };
  const connection = { isOpen: terms.isOpen ?? true, kill } as SourceConnection;
  const state = { isAnswered: terms.isAnswered ?? false };
  endUnlessAnswered(connection, () => state.isAnswered, clock);
  return { clock, state, killed: () => killed };
}

test("a program has two seconds to answer what was given up", () => {
  const { clock, killed } = watched({});
  clock.pass(1.9);
  expect(killed()).toBe(0);
  clock.pass(0.1);
  expect(killed()).toBe(1);
});

test("one that answers meanwhile goes on", () => {
  const { clock, state, killed } = watched({});
  clock.pass(1);
  state.isAnswered = true;
  clock.pass(5);
  expect(killed()).toBe(0);
});

test("whoever calls next waits until it is known whether it goes on", async () => {
  const clock = new ManualClock();
  const connection = { isOpen: true, kill: async () => undefined } as unknown as SourceConnection;
  await decided(connection);
  endUnlessAnswered(connection, () => false, clock);
  let isKnown = false;
  const waiting = decided(connection).then(() => (isKnown = true));
  clock.pass(1.9);
  await Promise.resolve();
  expect(isKnown).toBe(false);
  clock.pass(0.1);
  await waiting;
  expect(isKnown).toBe(true);
});

test("one that has gone is not ended again, and one that cannot be ended is no failure", () => {
  const gone = watched({ isOpen: false });
  gone.clock.pass(3);
  expect(gone.killed()).toBe(0);
  const stubborn = watched({ kill: () => Promise.reject(new Error("not allowed")) });
  stubborn.clock.pass(3);
  expect(stubborn.killed()).toBe(1);
});

test.each([
  [true, { kind: "stdio", argv: ["server"] }, true],
  [false, { kind: "stdio", argv: ["server"] }, false],
  [true, { kind: "http", url: "https://mcp.example.com/mcp" }, false],
  [true, null, false],
])("users' files %s, at %j: a process of each user's own is %s", (user_files, endpoint, isOwn) => {
  expect(isOwnProcess({ user_files, endpoint } as ResolvedToolConfig)).toBe(isOwn);
});
