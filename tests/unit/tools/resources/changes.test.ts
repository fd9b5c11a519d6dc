/** Changes of resources as a host hears of them. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Changes } from "../../../../web/src/tools/keyed-work.js";
import type { ResourceEvent } from "../../../../web/src/tools/options.js";

const updated = (uri: string): ResourceEvent => ({ kind: "updated", namespace: "lib", uri });
const LISTS: ResourceEvent = { kind: "list_changed", namespace: "lib" };

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("one that is told over and over is told at once, and now and then", () => {
  const events: ResourceEvent[] = [];
  const changes = new Changes<ResourceEvent>((event) => events.push(event));
  for (let time = 0; time < 1000; time += 1) changes.tell(updated("a"));
  expect(events).toEqual([updated("a")]);
  vi.advanceTimersByTime(100);
  expect(events).toHaveLength(2);
  changes.tell(updated("a"));
  expect(events).toHaveLength(2);
  vi.advanceTimersByTime(1000);
  expect(events).toHaveLength(3);
  changes.tell(updated("a"));
  expect(events).toHaveLength(4);
});

test("different ones do not wait for one another", () => {
  const events: ResourceEvent[] = [];
  const changes = new Changes<ResourceEvent>((event) => events.push(event));
  const all = [updated("a"), updated("b"), LISTS, { ...LISTS, scope: { user_id: "ada" } }];
  for (const event of [...all, ...all]) changes.tell(event);
  expect(events).toEqual(all);
  vi.advanceTimersByTime(100);
  expect(events).toEqual([...all, ...all]);
});

test("none is told once it is closed", () => {
  const events: ResourceEvent[] = [];
  const changes = new Changes<ResourceEvent>((event) => events.push(event));
  changes.tell(LISTS);
  changes.tell(LISTS);
  changes.close();
  vi.advanceTimersByTime(1000);
  expect(events).toEqual([LISTS]);
});
