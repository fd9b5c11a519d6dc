/** Contract: what happened in a trace, and which tasks work for it. */
import { describe, expect, test } from "vitest";
import type { StateEvent, StateStore } from "../../../../web/src/planner/state-store.js";
import type { Current } from "../state-store-contract.js";

export function contractOfEvents(current: () => Current): void {
  describe("events", () => {
    test("are given in the order in which they were saved, with the time, to whoever asks for their trace", async () => {
      const { store, other, pass } = current();
      expect(await store.loadHistory("one")).toEqual([]);
      await store.saveEvent("one", { kind: "a", more: { b: 1 } } as { kind: string });
      await store.saveEvent("one", { kind: "b" });
      await pass(5_000);
      await store.saveEvent("two", { kind: "c" });
      await store.saveEvent("one", { kind: "d" });
      const history = await other.loadHistory("one");
      expect(history.map(({ event }) => event)).toEqual([{ kind: "a", more: { b: 1 } }, { kind: "b" }, { kind: "d" }]);
      const [first = 0, second = 0, third = 0] = history.map(({ at }) => at);
      expect(second).toBeGreaterThanOrEqual(first);
      expect(third - first).toBeGreaterThanOrEqual(5_000);
      expect(await kinds(store, "two")).toEqual(["c"]);
    });

    test("none is lost where many save at once, here and elsewhere", async () => {
      const { store, other } = current();
      await Promise.all(["a", "b", "c", "d"].map((kind, at) => (at % 2 ? store : other).saveEvent("one", { kind })));
      expect((await kinds(store, "one")).toSorted()).toEqual(["a", "b", "c", "d"]);
    });

    test("of too many bytes in a trace the oldest go, and those of other traces stay", async () => {
      const { store, other } = current();
      await store.saveEvent("two", large("z"));
      for (const kind of "abc") await store.saveEvent("one", large(kind));
      expect(await kinds(other, "one")).toEqual(["a", "b", "c"]);
      await other.saveEvent("one", large("d"));
      expect(await kinds(store, "one")).toEqual(["b", "c", "d"]);
      expect(await kinds(store, "two")).toEqual(["z"]);
    });

    test("of too many in a trace the oldest go, and so does what is too old", async () => {
      const { store, pass } = current();
      for (const kind of "abcdef") await store.saveEvent("one", { kind });
      expect(await kinds(store, "one")).toEqual(["c", "d", "e", "f"]);
      await pass(50_000);
      await store.saveEvent("one", { kind: "g" });
      await pass(50_000);
      expect(await kinds(store, "one")).toEqual(["g"]);
      await pass(50_000);
      expect(await kinds(store, "one")).toEqual([]);
    });
  });
}

export function contractOfBindings(current: () => Current): void {
  describe("bindings", () => {
    const binding = { trace_id: "trace", context_id: null, task_id: "task", agent_url: "https://agent.test/" };

    test("are given by trace and task, the last that was saved", async () => {
      const { store, other, pass } = current();
      expect(await store.loadRemoteBinding("trace", "task")).toBeNull();
      await store.saveRemoteBinding(binding);
      await store.saveRemoteBinding({ ...binding, context_id: "talk" });
      await store.saveRemoteBinding({ ...binding, task_id: "other" });
      expect(await other.loadRemoteBinding("trace", "task")).toEqual({ ...binding, context_id: "talk" });
      expect(await other.loadRemoteBinding("trace", "other")).toEqual({ ...binding, task_id: "other" });
      expect(await store.loadRemoteBinding("task", "trace")).toBeNull();
      await pass(100_000);
      expect(await store.loadRemoteBinding("trace", "task")).toBeNull();
    });

    test("there is always one, while others save it anew", async () => {
      const { store, other } = current();
      await store.saveRemoteBinding(binding);
      const saving = Array.from({ length: 30 }, () => store.saveRemoteBinding(binding));
      for (let round = 0; round < 30; round++) expect(await other.loadRemoteBinding("trace", "task")).toEqual(binding);
      await Promise.all(saving);
    });
  });
}

async function kinds(store: StateStore, trace: string): Promise<readonly string[]> {
  return (await store.loadHistory(trace)).map(({ event }) => event.kind);
}

/** Of some 800 bytes. */
function large(kind: string): StateEvent {
  return { kind, text: "ü".repeat(400) } as StateEvent;
}
