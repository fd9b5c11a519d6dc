/** A question that a server puts in the middle of a call, and does not wait for. */
import { expect, test } from "vitest";
import { ToolNode } from "../../../web/src/tools-node.js";
import { serverScript } from "./sources/mcp/server-script.js";

const question = {
  message: "Go on?",
  requestedSchema: { type: "object", properties: { ok: { type: "boolean" } } },
};

/** `ask` puts the question and is done when `go` is called; `heard` gives what was answered. */
const SCRIPT = serverScript({
  prelude: `
    let go, hear;
    const gone = new Promise((resolve) => (go = resolve));
    const heard = new Promise((resolve) => (hear = resolve));
    const said = (value) => JSON.stringify({ content: [{ type: "text", text: typeof value === "string" ? value : JSON.stringify(value) }] });`,
  before: `if (message.id === "q") return hear(message.result ?? "no result"), true;`,
  tools: {
    ask: `
      write(JSON.stringify({ jsonrpc: "2.0", id: "q", method: "elicitation/create", params: ${JSON.stringify(question)} }));
      await gone;
      return said("done");`,
    go: `go(); return said("gone");`,
    heard: `return said(await heard);`,
  },
});

test("is declined when the call's result comes, however long a person would take, and ends nothing", async () => {
  const code = `data:text/javascript;base64,${Buffer.from(SCRIPT).toString("base64")}`;
  const connection = `"${process.execPath}" --input-type=module -e "await import('${code}')"`;
  await using node = new ToolNode({ name: "asking", transport: "mcp", connection });
  await node.connect();
  let ask: (() => void) | undefined;
  const asked = new Promise<void>((resolve) => (ask = resolve));
  const pause = async (): Promise<unknown> => {
    ask?.();
    return new Promise(() => undefined);
  };
  const call = node.call("ask", {}, { pause });
  await asked;
  await node.call("go");
  expect((await call).value).toBe("done");
  expect((await node.call("heard")).value).toEqual({ action: "decline" });
});
