/** The last that a program wrote to its standard error, for the host that has to find out why it is gone, and for nobody else. */
import { inspect } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import { ToolNode, type ExternalToolConfig, type ToolNodeError } from "../../../web/src/tools-node.js";
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
  expect(JSON.stringify([error, error.toDict(), Object.entries(error)])).not.toContain("Missing");
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
