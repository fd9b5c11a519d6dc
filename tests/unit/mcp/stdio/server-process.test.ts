/** Programs that are started, and their ends. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const BUILT = new URL("../../../../dist/mcp/stdio/server-process.js", import.meta.url).href;

/** Reads a piece of what a program writes, and waits until it has gone by itself. */
const HOST = `
import { ServerProcess } from ${JSON.stringify(BUILT)};
const server = await ServerProcess.start("sh", { args: ["-c", process.argv[1]], stderr: "ignore" });
await server.output[Symbol.asyncIterator]().next();
await server.ended;
console.log("ended");`;

test("waiting for the end of one whose output somebody else holds open, and nobody reads, settles", async () => {
  const script = "setsid yes & sleep 0.2";
  // With exit code 13 Node would say that it did not.
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", HOST, script]);
  expect(stdout).toBe("ended\n");
});
