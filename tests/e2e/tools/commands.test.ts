/** Commands as tools, through a ToolNode. */
import { expect, test } from "vitest";
import type { ExternalToolConfig } from "../../../web/src/tools-node.js";
import { FILES, useFolder } from "../servers/folder.js";
import { inFront, kept, seen, type Fronted } from "./in-front.js";

const folder = useFolder();

const script = (code: string): string => `"${process.execPath}" -e "${code}" --`;
const tool = (name: string, command: string, inputs: object = {}): object => ({
  name,
  description: "",
  inputs: { type: "object", properties: inputs },
  tool_call_template: { call_template_type: "cli", commands: [{ command }] },
});
const COPY = "fs.createReadStream(process.argv.at(-1)).pipe(process.stdout)";
const FAIL = "console.error('no such view'); process.exitCode = 3";
const HANG = "setTimeout(() => {}, 60000)";

const manual = (): string =>
  JSON.stringify({
    utcp_version: "1.1.0",
    tools: [
      tool("copy", `${script(COPY)} UTCP_ARG_path_UTCP_END`, { path: { type: "string" } }),
      tool("fail", script(FAIL)),
      tool("hang", script(HANG)),
      tool("env", script("process.stdout.write(JSON.stringify(process.env))")),
    ],
  });
const open = (more: Partial<ExternalToolConfig> = {}): Promise<Fronted> =>
  inFront({ name: "here", transport: "cli", connection: manual(), ...more });

test("files arrive byte for byte, whatever they are", async () => {
  await using front = await open();
  for (const [name, original] of Object.entries(FILES)) {
    expect(await seen(front, await front.call("copy", { path: folder.path(name) }))).toEqual(kept(original));
  }
});

test("an argument is one argument, whatever a shell would make of it", async () => {
  await using front = await open();
  const failed = await front.call("copy", { path: `nothing"; cat ${folder.path("photo.png")} #` });
  expect(failed.isError).toBe(true);
  expect(failed.artifacts).toEqual([]);
});

test("one that fails is a result, one that hangs is ended", async () => {
  await using front = await open({ timeout_s: 3 });
  const failed = await front.call("fail");
  expect(failed.isError).toBe(true);
  expect(failed.text).toMatch(/exit code 3.*no such view/s);
  expect((await front.call("hang")).value).toMatchObject({ meta_data: { error_code: "E_TIMEOUT" } });
  expect(front.events.some(({ kind }) => kind === "retry")).toBe(false);
});

test("they are not told what is in the environment", async () => {
  process.env["SLUICE_TEST_SECRET"] = "hunter2";
  await using front = await open({ env: { GIVEN: "yes" } });
  const { text: told } = await front.call("env");
  delete process.env["SLUICE_TEST_SECRET"];
  expect(told).toContain('"GIVEN":"yes"');
  expect(told).not.toContain("hunter2");
});
