/** A source that is silent when it is asked for a resource: told, and given up, as in a call of its own tools. */
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { MemoryArtifactStore } from "../../../../web/src/artifacts/memory.js";
import { ToolTimeoutError } from "../../../../web/src/tools/errors.js";
import type { ToolNodeEvent, ToolWait } from "../../../../web/src/tools/options.js";
import { overAfter, timeoutResult, waitNotices } from "../../../../web/src/tools/tool-call.js";
import { ToolNode } from "../../../../web/src/tools-node.js";

const SERVER = fileURLToPath(new URL("../../server/sources/troubled-server.mjs", import.meta.url));
const HANGS = "trouble:hangs";

/** The source, and what it tells, retries among it. */
async function silent(): Promise<{ readonly node: ToolNode; readonly events: ToolNodeEvent[] }> {
  const events: ToolNodeEvent[] = [];
  const config = {
    name: "lab",
    transport: "mcp",
    connection: `"${process.execPath}" "${SERVER}"`,
    timeout_s: 2,
    notify_after_s: [1, 10, 20],
  } as const;
  const node = new ToolNode(config, { store: new MemoryArtifactStore(), onEvent: (event) => events.push(event) });
  onTestFinished(() => node.close());
  await node.connect();
  events.length = 0;
  return { node, events };
}

test("a call of resources_read is told while it waits, given up once, and answered with an error", async () => {
  const { node, events } = await silent();
  const waits: ToolWait[] = [];
  const { value, isError } = await node.call(
    "resources_read",
    { uri: HANGS },
    { onWait: (wait) => void waits.push(wait) },
  );
  expect({ value, isError }).toEqual({ value: timeoutResult(2, null), isError: true });
  expect(waits).toEqual([waitNotices([1], 2)[0], overAfter(2)]);
  expect(events.map(({ kind }) => kind)).toEqual(["waiting", "waiting"]);
  // The source goes on.
  expect(await node.call("resources_list", {})).toMatchObject({ isError: false });
});

test("all who wait for the same are told, and nobody is given up by another's limit", async () => {
  const { node } = await silent();
  const read = async (timeoutSeconds: number): Promise<unknown> => {
    const waits: ToolWait[] = [];
    const onWait = (wait: ToolWait): unknown => waits.push(wait);
    const { value } = await node.call("resources_read", { uri: HANGS }, { timeoutSeconds, onWait });
    return { value, waits: waits.map(({ after_s }) => after_s) };
  };
  expect(await Promise.all([read(1), read(2), read(2)])).toEqual([
    { value: timeoutResult(1, null), waits: [1] },
    { value: timeoutResult(2, null), waits: [1, 2] },
    { value: timeoutResult(2, null), waits: [1, 2] },
  ]);
});

test("a caller who gives up hears no more of it", async () => {
  const { node } = await silent();
  const waits: ToolWait[] = [];
  const caller = new AbortController();
  const given = { signal: caller.signal, onWait: (wait: ToolWait): unknown => waits.push(wait) };
  const call = node.call("resources_read", { uri: HANGS }, given);
  caller.abort(new Error("no longer wanted"));
  await expect(call).rejects.toThrow("no longer wanted");
  await node.call("resources_read", { uri: HANGS });
  expect(waits).toEqual([]);
});

test("a host that reads gets the error", async () => {
  const { node } = await silent();
  await expect(node.readResource(HANGS, { timeoutSeconds: 1 })).rejects.toThrow(ToolTimeoutError);
});
