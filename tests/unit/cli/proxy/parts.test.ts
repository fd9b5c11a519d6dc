import { access, mkdtemp, readFile, stat } from "node:fs/promises";
import { spawnSync } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, test } from "vitest";
import { Copies } from "../../../../web/src/cli/proxy/copies.js";
import { namespaceOfCommand, namespaceOfUrl } from "../../../../web/src/cli/proxy/namespace.js";
import { PrivateFolder } from "../../../../web/src/cli/proxy/private-folder.js";
import { MemoryArtifactStore } from "../../../../web/src/index.js";

test.each([
  ["npx -y @modelcontextprotocol/server-filesystem@1.2.3 /data", "filesystem"],
  ["uvx mcp-server-git --repository .", "git"],
  ["node /srv/server-everything/dist/index.js stdio", "everything"],
  ["python -m weather_mcp", "weather"],
  ["docker run -i --rm mcp/github", "github"],
  ["./my.server.py", "my_server"],
  ["C:\\tools\\notes-mcp.exe", "notes"],
  ["node index.js", "index"],
])("%s is called %s", (command, name) => {
  expect(namespaceOfCommand(command.split(" "))).toBe(name);
});

test.each([
  ["https://mcp.example.com/mcp", "example"],
  ["https://example.com/", "example"],
  ["http://127.0.0.1:8080/mcp", "127_0_0_1_8080"],
  ["http://localhost:3000/mcp", "localhost_3000"],
  ["http://[::1]:8080/", "1_8080"],
])("the server at %s is called %s", (url, name) => {
  expect(namespaceOfUrl(new URL(url))).toBe(name);
});

describe("copies for tools that want a path", () => {
  it("are read-only, named like the artifact as far as that is safe, and go at the end", async () => {
    const store = new MemoryArtifactStore();
    const { id } = await store.putText("hello", { filename: "../../etc/pass wd;.txt" });
    const ref = await store.stat(id);
    if (ref === null) throw new Error("not stored");
    let path: string;
    {
      await using copies = new Copies(store);
      path = await copies.write(ref);
      expect(path).toMatch(/sluice-copies-\d+-\w+[/\\]file-\w+[/\\]_.._etc_pass_wd_.txt$|etc_pass_wd_\.txt$/);
      expect(await readFile(path, "utf8")).toBe("hello");
      expect((await stat(path)).mode & 0o777).toBe(0o400);
      expect(await copies.write(ref)).not.toBe(path);
    }
    await expect(access(path)).rejects.toThrow("ENOENT");
  });
});

test("what a killed process left is removed by the next", async () => {
  const { pid } = spawnSync(process.execPath, ["-e", ""]);
  const left = await mkdtemp(join(tmpdir(), `sluice-copies-${pid}-`));
  await using folder = await PrivateFolder.open("session");
  await expect(access(left)).rejects.toThrow("ENOENT");
  await access(folder.path);
});
