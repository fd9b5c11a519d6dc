import fc from "fast-check";
import { expect, test, onTestFinished } from "vitest";
import { wireNames, listening, tool } from "../../../web/src/planner/tool.js";
import { z } from "zod";
import { MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import type { PlannerEvent } from "../../../web/src/planner/event.js";
import { ToolNode } from "../../../web/src/tools-node.js";
import type { ToolNodeEvent } from "../../../web/src/tools/options.js";
import { answered, once, planned } from "./planned.js";

test("names that every API takes stay, and dots become underscores", () => {
  expect([...wireNames(["look-up", "weather.map"]).values()]).toEqual(["look-up", "weather_map"]);
});

test("names that would be the same are told apart, the same way in every process", () => {
  const names = ["a.b", "a_b", "a b", `${"x".repeat(70)}1`, `${"x".repeat(70)}2`];
  const wire = [...wireNames(names).values()];
  expect(wire[1]).toBe("a_b");
  expect(wire).toEqual([...wireNames(names).values()]);
});

test("whatever tools are called, each has a name of its own that APIs take", () => {
  const property = fc.property(
    fc.uniqueArray(fc.string({ minLength: 1, maxLength: 80 }), { maxLength: 60 }),
    (names) => {
      const wire = [...wireNames(names).values()];
      expect(new Set(wire).size).toBe(names.length);
      for (const name of wire) expect(name).toMatch(/^[\w-]{1,64}$/);
    },
  );
  fc.assert(property);
});

const URI = "demo://resource/static/document/features.md";
const PATIENCE = 60_000;

const updated = (scope?: object): ToolNodeEvent => ({
  kind: "resource",
  event: { kind: "updated", namespace: "docs", uri: URI, ...(scope !== undefined && { scope }) },
});

test(
  "a run tells of resources that change at a real server while it goes on, and of none before or after",
  async () => {
    const store = new MemoryArtifactStore();
    const connection = "npx --no-install mcp-server-everything stdio";
    const docs = new ToolNode({ name: "docs", transport: "mcp", connection }, { store });
    onTestFinished(() => docs.close());
    await docs.connect();
    await docs.subscribe(URI);
    const events: PlannerEvent[] = [];
    const waiting: (() => void)[] = [];
    const heard = new Promise<void>((resolve) => void waiting.push(resolve));
    const waits = tool({ name: "waits", description: "", input: z.object({}), run: () => heard });
    const { planner } = planned(once({ name: "docs_toggle-subscriber-updates" }, { name: "waits" }), [], {
      catalog: [docs, waits],
      artifactStore: store,
      onEvent: (event) => {
        events.push(event);
        if (event.kind === "resource_updated") waiting.forEach((go) => go());
      },
    });
    answered(await planner.run("Watch it."));
    expect(events).toContainEqual({ kind: "resource_updated", source: "docs", uri: URI });
    expect(events.at(-1)?.kind).toBe("finished");
  },
  PATIENCE,
);

test("a run hears what is told to everybody or to its own user, and nothing once it is over", () => {
  const listeners = new Set<(event: ToolNodeEvent) => void>();
  const source = {
    getTools: () => [],
    listen: (listener: (event: ToolNodeEvent) => void) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
  const told: PlannerEvent[] = [];
  const end = listening([source, { getTools: () => [] }], { user_id: "ada", session_id: "s" }, (event) =>
    told.push(event),
  );
  const hear = (event: ToolNodeEvent): void => listeners.forEach((listener) => listener(event));
  const ours = { kind: "resource_updated", source: "docs", uri: URI };
  hear(updated());
  hear(updated({ user_id: "ada", trace_id: "t" }));
  expect(told).toEqual([ours, ours]);
  hear(updated({ user_id: "bob" }));
  hear(updated({ user_id: "ada", tenant_id: "other" }));
  hear({ kind: "recovered" });
  hear({ kind: "resource", event: { kind: "list_changed", namespace: "docs" } });
  expect(told).toHaveLength(2);
  end();
  expect(listeners.size).toBe(0);
});

test("whoever listens to a ToolNode is told beside the others, whatever those throw, until they end it", async () => {
  const kinds: string[] = [];
  const connection = `"${process.execPath}"`;
  const store = new MemoryArtifactStore();
  const node = new ToolNode(
    { name: "shell", transport: "cli", connection },
    {
      store,
      onEvent: () => {
        throw new Error("not mine");
      },
    },
  );
  onTestFinished(() => node.close());
  await node.connect();
  const end = node.listen(({ kind }) => kinds.push(kind));
  const args = { args: ["-e", "process.stdout.write(Buffer.alloc(9000, 7))"] };
  await node.call("shell.run", args);
  expect(kinds).toEqual(["stored"]);
  end();
  await node.call("shell.run", args);
  expect(kinds).toEqual(["stored"]);
});
