/** The last that a program wrote to its standard error, for the host that has to find out why it is gone, and for nobody else. */
import { inspect } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import { SluiceError } from "../../../web/src/errors/error.js";
import { type ExternalToolConfig, ToolNode } from "../../../web/src/tools-node.js";
import {
  ToolAuthError,
  ToolClientError,
  ToolConnectionError,
  ToolNodeError,
  ToolRateLimitError,
  ToolServerError,
  ToolTimeoutError,
} from "../../../web/src/tools/errors.js";
import { Room } from "../cli/command.js";
import { scripted } from "../cli/tools/sources.js";

const retry_policy = { max_attempts: 1 };

function nodeOf(connection: string, more: Partial<ExternalToolConfig> = {}): ToolNode {
  const config = { name: "own", transport: "mcp", connection, retry_policy, timeout_s: 5, ...more } as const;
  const node = new ToolNode(config, { store: new MemoryArtifactStore() });
  onTestFinished(() => node.close());
  return node;
}

/** A script as a command, whose quotes and backslashes no reader of commands sees. */
const program = (script: string): string =>
  `"${process.execPath}" -e "eval(Buffer.from('${Buffer.from(script).toString("hex")}', 'hex').toString())"`;

async function failureOf(work: Promise<unknown>): Promise<ToolNodeError> {
  return (await work.catch((error: unknown) => error)) as ToolNodeError;
}

test("a program that ends before it is connected to: its words are at the error, and in nothing that is sent on", async () => {
  const script = "console.error('starting\\n  \\u001b[31mMissing\\u202e API_KEY'); process.exit(1)";
  const error = await failureOf(nodeOf(program(script)).connect());
  expect(error).toMatchObject({ code: "E_TOOL_CONNECTION" });
  expect(error.errorOutput).toBe("starting\n  [31mMissing API_KEY");
  expect(error.message).not.toContain("Missing");
  expect(JSON.stringify([error, error.toJSON(), Object.entries(error)])).not.toContain("Missing");
  expect(inspect(error, { depth: 20 })).not.toContain("Missing");
});

test("one that dies under a call", async () => {
  await using room = await Room.open();
  const { connection } = await scripted(room, {
    tools: {
      die: 'process.stderr.write("out of memory\\n", () => process.exit(1));',
      fine: 'return `{"content":[]}`;',
    },
  });
  const node = nodeOf(connection);
  await node.connect();
  const error = await failureOf(node.call("die"));
  expect(error).toMatchObject({ code: "E_TOOL_CONNECTION", errorOutput: "out of memory" });
  expect((await node.call("fine")).isError).toBe(false);
  // It is another program by now, which wrote nothing.
  const again = await failureOf(node.call("nothing"));
  expect(again.errorOutput).toBeUndefined();
});

test("one that says nothing on its standard output, and why on the other", async () => {
  const script = "console.error('waiting for the database'); process.stdin.resume()";
  const error = await failureOf(nodeOf(program(script), { timeout_s: 1 }).connect());
  expect(error).toMatchObject({ code: "E_TOOL_TIMEOUT", errorOutput: "waiting for the database" });
});

test("what a program was told does not come back", async () => {
  const script = "console.error(process.env.KEY + ' and ' + process.env.TOKEN); process.exit(1)";
  const error = await failureOf(
    nodeOf(program(script), {
      env: { KEY: "s3cret-key" },
      auth_type: "bearer",
      auth_config: { token: "s3cret-token", env: "TOKEN" },
    }).connect(),
  );
  expect(error.errorOutput).toBe("*** and ***");
});

test("of much that is written the last 20 lines are kept, and 4,096 characters", async () => {
  const lines = "for (let at = 0; at < 100000; at += 1) text += 'line ' + at + '\\n'";
  const script = `let text = ''; ${lines}; process.stderr.write(text, () => process.exit(1))`;
  const error = await failureOf(nodeOf(program(script)).connect());
  expect(error.errorOutput?.split("\n")).toEqual(Array.from({ length: 20 }, (_, at) => `line ${99_980 + at}`));
  const long = "process.stderr.write('x'.repeat(1e6) + 's3cret-key', () => process.exit(1))";
  const other = await failureOf(nodeOf(program(long), { env: { KEY: "s3cret-key" } }).connect());
  expect(other.errorOutput).toBe(`${"x".repeat(4093)}***`);
});

test("an error that the program answers with has none of it", async () => {
  await using room = await Room.open();
  const refusal = "{ code: -32602, message: 'no' }";
  const { connection } = await scripted(room, {
    tools: { no: `console.error("a log"); write(JSON.stringify({ jsonrpc: "2.0", id, error: ${refusal} }));` },
  });
  const node = nodeOf(connection);
  await node.connect();
  expect((await failureOf(node.call("no"))).errorOutput).toBeUndefined();
});

test.each([
  [ToolNodeError, "ToolNodeError", "E_TOOL", "unknown", false],
  [ToolAuthError, "ToolAuthError", "E_TOOL_AUTH", "auth_required", false],
  [ToolTimeoutError, "ToolTimeoutError", "E_TOOL_TIMEOUT", "retryable_server", true],
  [ToolConnectionError, "ToolConnectionError", "E_TOOL_CONNECTION", "network", true],
  [ToolRateLimitError, "ToolRateLimitError", "E_TOOL_RATE_LIMIT", "retryable_rate", true],
  [ToolClientError, "ToolClientError", "E_TOOL_CLIENT", "non_retryable", false],
  [ToolServerError, "ToolServerError", "E_TOOL_SERVER", "retryable_server", true],
] as const)("%o has its code and its category", (Class, type, code, category, isRetryable) => {
  const error = new Class("The source failed.");
  expect(error).toBeInstanceOf(ToolNodeError);
  expect(error).toBeInstanceOf(SluiceError);
  expect(error).toMatchObject({ name: type, code, category, isRetryable });
  expect(error.toJSON()).toEqual({
    type,
    code,
    message: "The source failed.",
    status_code: null,
    category,
    is_retryable: isRetryable,
  });
});

test.each([
  [429, "retryable_rate"],
  [500, "retryable_server"],
  [504, "retryable_server"],
  [505, "unknown"],
  [401, "auth_required"],
  [403, "auth_required"],
  [400, "non_retryable"],
  [499, "non_retryable"],
  [302, "unknown"],
  [-32602, "unknown"],
] as const)("a status of %i means %s where nobody knows better", (status, category) => {
  expect(new ToolNodeError("x", { status }).toJSON()).toMatchObject({ status_code: status, category });
});

test("a class knows better than a status, and who throws knows better than both", () => {
  expect(new ToolClientError("x", { status: 503 }).category).toBe("non_retryable");
  expect(new ToolServerError("x", { status: 400 }).isRetryable).toBe(true);
  const error = new ToolServerError("x", { status: 500, category: "non_retryable", code: "E_TOOL_CONFIG" });
  expect(error).toMatchObject({ category: "non_retryable", code: "E_TOOL_CONFIG", isRetryable: false });
});

test("what is not known is no property, so that logs do not show it", () => {
  expect(Object.keys(new ToolServerError("x")).sort()).toEqual(["category", "code", "name"]);
  const cause = new Error("y");
  const error = new ToolServerError("x", { status: 503, retryAfterSeconds: 2, neverSent: true, cause });
  expect(error).toMatchObject({ status: 503, retryAfterSeconds: 2, neverSent: true, cause });
});
