/** Whatever a source with users' files starts for a user, it starts as the user's folder wants it: in the sandbox, if there is one. */
import { mkdtemp, readdir, readFile, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { localWorkspaces } from "../../../../web/src/files/local-workspaces.js";
import { UserFiles } from "../../../../web/src/files/user-files.js";
import { MemoryArtifactStore } from "../../../../web/src/index.js";
import { ToolNode, type ExternalToolConfig } from "../../../../web/src/tools-node.js";
import { showFile, whyNoSandbox } from "../../files/sandboxes.js";

const noSandbox = await whyNoSandbox();
const scope = { user_id: "ada", session_id: "s" };

/** Copies a file to another place. */
const COPY = 'const fs = require("node:fs"); fs.copyFileSync(process.argv[1], process.argv[2]); console.log("copied")';

const LAB = fileURLToPath(new URL("../../files/lab-server.mjs", import.meta.url));

/** A source in the sandbox of ada, and a folder that the sandbox does not show. */
async function opened(
  source: (outside: string) => Partial<ExternalToolConfig>,
): Promise<{ node: ToolNode; outside: string }> {
  const root = await realpath(await mkdtemp(join(tmpdir(), "sluice-commands-")));
  const outside = await realpath(await mkdtemp("/var/tmp/sluice-outside-"));
  const store = new MemoryArtifactStore();
  const userFiles = new UserFiles({ store, ...localWorkspaces({ root, sandbox: true }) });
  const config = { name: "own", transport: "cli", connection: "", user_files: true, ...source(outside) } as const;
  const node = new ToolNode(config, { store, userFiles });
  onTestFinished(async () => {
    await node.close();
    await userFiles[Symbol.asyncDispose]();
    await Promise.all([root, outside].map((folder) => rm(folder, { recursive: true, force: true })));
  });
  await node.connect({ scope });
  return { node, outside };
}

test.skipIf(noSandbox !== undefined)("a command of the transport cli writes nowhere else", async () => {
  const { node, outside } = await opened((folder) => ({
    connection: `"${process.execPath}" -e '${COPY}' /etc/hostname ${join(folder, "copy.txt")}`,
  }));
  const [tool] = node.getTools();
  const { isError } = await node.call(tool?.name ?? "", {}, { scope });
  expect(isError).toBe(true);
  expect(await readdir(outside)).toEqual([]);
});

test.skipIf(noSandbox !== undefined)("nor does an MCP server that a UTCP manual starts", async () => {
  const server = { transport: "stdio", command: process.execPath, args: [await showFile(LAB)] };
  const call_template = { call_template_type: "mcp", name: "lab", config: { mcpServers: { lab: server } } };
  const properties = { path: { type: "string" } };
  const tool = {
    name: "overwrite",
    description: "",
    inputs: { type: "object", properties },
    tool_call_template: call_template,
  };
  const manual = { utcp_version: "1.0.0", manual_version: "1.0.0", tools: [tool] };
  const { node, outside } = await opened(() => ({
    transport: "utcp",
    connection: JSON.stringify(manual),
    allowed_communication_protocols: ["mcp"],
  }));
  const path = join(outside, "written.txt");
  const { text } = await node.call("own.overwrite", { path }, { scope });
  expect(text).not.toMatch(/came\W+written/);
  await expect(readFile(path)).rejects.toThrow("ENOENT");
});
