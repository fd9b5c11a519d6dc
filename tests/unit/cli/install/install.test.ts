/** `sluice install` and `sluice uninstall` on the configurations of each host. */
import { chmod, lstat, mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { describe, expect, test } from "vitest";
import { parseConfig, type ConfigData } from "../../../../web/src/cli/install/config-text.js";
import { HOSTS, type Host } from "../../../../web/src/cli/install/hosts.js";
import { findProgram } from "../../../../web/src/cli/install/program.js";
import { namespaceFor, listServers } from "../../../../web/src/cli/install/servers.js";
import { findHost } from "../../../../web/src/mcp/host-profiles.js";
import { SAMPLES, SECRET, type Sample } from "./configurations.js";
import { COMMAND } from "../command.js";
import { Home, PROGRAM } from "./home.js";

const hostOf = ({ host }: Sample): Host => HOSTS.find(({ id }) => id === host) as Host;

async function homeWith(sample: Sample): Promise<Home> {
  const home = await Home.open();
  await home.write(sample.place, sample.text);
  return home;
}

const dataOf = async (home: Home, sample: Sample): Promise<ConfigData> =>
  parseConfig(await home.read(sample.place), hostOf(sample).format, sample.place);

test("there is a configuration of every host to try", () => {
  expect(SAMPLES.map(({ host }) => host)).toEqual(HOSTS.map(({ id }) => id));
});

const sampleOf = (host: string): Sample => SAMPLES.find((sample) => sample.host === host) as Sample;

describe("a list of tools that a host offers", () => {
  test.each([
    ["qwen", '"includeTools"', "git_artifact_read"],
    ["codex", "enabled_tools", "filesystem_artifact_read"],
    ["copilot", '"tools"', "context7_artifact_read"],
  ])("of %s gets the tool that reads artifacts, and loses it again", async (host, key, tool) => {
    const sample = sampleOf(host);
    const home = await homeWith(sample);
    // Programs that are there.
    const program = [process.execPath, COMMAND];
    const dry = await home.run(["install", "--dry-run"], { program });
    expect(dry.stdout).toMatch(new RegExp(`^    [+] ${key}.*"${tool}"`, "m"));
    await home.run(["install", "--yes"], { program });
    const text = await home.read(sample.place);
    expect(text.match(/\w+_artifact_\w+/g)).toEqual([tool]);
    expect((await home.run(["doctor"])).stdout).not.toContain("lacks");

    await home.write(sample.place, text.replace(new RegExp(`"${tool}",?\\s*`), ""));
    const found = await home.run(["doctor"]);
    expect(found.stdout).toContain(`lacks ${tool}, so no model can read what is stored: add it there`);
    expect(found.code).toBe(1);
    // The file has changed, so that no backup is what it was before.
    await home.write(sample.place, text.replace("get-library-docs", "get-docs").replace("git_diff", "git_show"));
    await home.run(["uninstall", "--yes"]);
    expect(await home.read(sample.place)).not.toMatch(/artifact_read|main\.js|required/);
  });
});

test("Codex waits for a server behind Sluice, and Cline has more patience with one; what they had said stays", async () => {
  for (const [host, line, count] of [
    ["codex", "required = true", 3],
    ["cline", '"timeout": 60', 1],
  ] as const) {
    const home = await homeWith(sampleOf(host));
    await home.run(["install", "--yes"]);
    expect((await home.read(sampleOf(host).place)).split(line)).toHaveLength(count + 1);
  }
});

describe.each(SAMPLES.map((sample) => [sample.host, sample] as const))("%s", (_, sample) => {
  const { host, place, platform, text, servers, skipped, stays } = sample;

  test("is found; a dry run shows the change, without secrets, and writes nothing", async () => {
    const home = await homeWith(sample);
    const { code, stdout, stderr } = await home.run(["install", "--dry-run"], { platform });
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toContain(home.path(place));
    for (const name of servers) {
      expect(stdout).toMatch(new RegExp(`^  ${name}\\b.* install$`, "m"));
      expect(stdout).toMatch(new RegExp(`^    @@ .*${name} @@$`, "m"));
    }
    for (const [name, reason] of Object.entries(skipped)) {
      const line = stdout.split("\n").find((each) => each.startsWith(`  ${name} `));
      expect(line).toContain("skipped: ");
      expect(line).toMatch(reason);
    }
    expect(stdout.match(/^    [+] .*main\.js", "proxy", "--namespace"/gm)).toHaveLength(servers.length);
    expect(stdout).not.toContain(SECRET);
    expect(await home.read(place)).toBe(text);
    expect(await readdir(dirname(home.path(place)))).toEqual([basename(place)]);
  });

  test("has Sluice in front of each command and each server with headers; the rest of the text stays", async () => {
    const home = await homeWith(sample);
    const before = listServers(hostOf(sample), await dataOf(home, sample));
    const { code, stdout, stderr } = await home.run(["install", "--yes"], { platform });
    expect([code, stderr]).toEqual([0, ""]);
    const after = await home.read(place);
    for (const each of stays) expect(after).toContain(each);
    expect(stdout).not.toContain(SECRET);
    const found = listServers(hostOf(sample), await dataOf(home, sample));
    expect(found.map(({ name }) => name)).toEqual(before.map(({ name }) => name));
    expect(found.filter(({ standing }) => standing.kind === "behind").map(({ name }) => name)).toEqual(servers);
    const skippedAfter = found.filter(({ standing }) => standing.kind !== "behind");
    expect(skippedAfter.map(({ entry }) => entry)).toEqual(
      before.filter(({ standing }) => standing.kind === "skipped").map(({ entry }) => entry),
    );
    const { env: envKey } = hostOf(sample).shape;
    for (const [index, { entry, standing }] of found.entries()) {
      const was = before[index]?.standing;
      if (standing.kind !== "behind" || was === undefined) continue;
      const env = (entry[envKey] ?? {}) as Record<string, string>;
      const { SLUICE_PROXY_URL: url, SLUICE_PROXY_HEADERS: lines } = env;
      const called = /\{server\}/.test(findHost(host)?.toolNames ?? "") ? [`--server-name=${found[index]?.name}`] : [];
      const words = [...PROGRAM, "proxy", "--namespace", standing.words[4], ...called];
      expect({ words: standing.words, url, lines, type: entry["type"] }).toEqual(
        was.kind === "remote"
          ? {
              words,
              url: was.url,
              lines: Object.entries(was.headers)
                .map(([header, value]) => `${header}: ${value}`)
                .join("\n"),
              type:
                { opencode: "local", kilo: "local", copilot: "local" }[host] ?? ("type" in entry ? "stdio" : undefined),
            }
          : {
              words: [...words, "--", ...standing.inner],
              url: undefined,
              lines: undefined,
              type: before[index]?.entry["type"],
            },
      );
      expect(standing.inner).toEqual(was.kind === "command" ? was.words : []);
      expect(standing.words.join(" ")).not.toContain(SECRET);
      expect(Object.keys(entry)).not.toContain("headers");
    }
  });

  test("is kept as it was beside itself; a second run changes nothing", async () => {
    const home = await homeWith(sample);
    await home.run(["install", "--yes"], { platform });
    const after = await home.read(place);
    const files = await readdir(dirname(home.path(place)));
    const backups = files.filter((name) => name.endsWith(".sluice-backup"));
    expect(backups).toHaveLength(1);
    expect(await readFile(`${dirname(home.path(place))}/${String(backups[0])}`, "utf8")).toBe(text);
    const again = await home.run(["install", "--yes"], { platform });
    expect(again).toMatchObject({ code: 0, stderr: "sluice: there is nothing to put Sluice in front of\n" });
    expect(await home.read(place)).toBe(after);
    expect(await readdir(dirname(home.path(place)))).toEqual(files);
  });

  test("gets its bytes back", async () => {
    const home = await homeWith(sample);
    await home.run(["install", "--yes"], { platform });
    const { code, stdout, stderr } = await home.run(["uninstall", "--yes"], { platform });
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toContain("byte for byte");
    expect(stdout).not.toContain(SECRET);
    expect(await home.read(place)).toBe(text);
    expect(await readdir(dirname(home.path(place)))).toEqual([basename(place)]);
  });

  test("gets its bytes back also after one server at a time", async () => {
    const home = await homeWith(sample);
    for (const name of servers) await home.run(["install", host, "--server", name, "--yes"], { platform });
    expect((await home.run(["uninstall", "--yes"], { platform })).code).toBe(0);
    expect(await home.read(place)).toBe(text);
  });

  test("that changed since keeps the change, and only the entries are taken back", async () => {
    const home = await homeWith(sample);
    const data = await dataOf(home, sample);
    await home.run(["install", "--yes"], { platform });
    const comment = { json: "// since then\n", toml: "# since then\n", yaml: "# since then\n" }[hostOf(sample).format];
    await home.write(place, comment + (await home.read(place)));
    const { code, stdout } = await home.run(["uninstall", "--yes"], { platform });
    expect(code).toBe(0);
    expect(stdout).toContain("kept, since the configuration has changed");
    expect(stdout).not.toContain(SECRET);
    const after = await home.read(place);
    expect(after.startsWith(comment)).toBe(true);
    for (const each of stays) expect(after).toContain(each);
    // Also when nobody knows any more how it was, each server is reached as before.
    expect(await dataOf(home, sample)).toEqual(data);
  });
});

const CURSOR = SAMPLES.find(({ host }) => host === "cursor") as Sample;

test("without backups a server is reached as before", async () => {
  for (const sample of SAMPLES) {
    const home = await homeWith(sample);
    await home.run(["install", "--yes"], { platform: sample.platform });
    const text = await home.read(sample.place);
    const elsewhere = await Home.open();
    await elsewhere.write(sample.place, text);
    const before = listServers(hostOf(sample), await parseConfig(sample.text, hostOf(sample).format, sample.place));
    expect((await elsewhere.run(["uninstall", "--yes"], { platform: sample.platform })).code).toBe(0);
    const after = listServers(hostOf(sample), await dataOf(elsewhere, sample));
    expect(after.map(({ standing }) => standing)).toEqual(before.map(({ standing }) => standing));
  }
});

describe("asking", () => {
  test("without a terminal --yes is needed", async () => {
    const home = await homeWith(CURSOR);
    for (const command of ["install", "uninstall"]) {
      if (command === "uninstall") await home.run(["install", "--yes"]);
      const text = await home.read(CURSOR.place);
      const { code, stderr } = await home.run([command]);
      expect(code).toBe(2);
      expect(stderr).toContain("cannot ask you here; add --yes to confirm, or --dry-run to see the change");
      expect(await home.read(CURSOR.place)).toBe(text);
    }
  });

  test.each([
    ["y", true],
    ["yes", true],
    ["", false],
    ["n", false],
    ["yo", false],
  ])("the answer %j", async (answer, isAgreed) => {
    const home = await homeWith(CURSOR);
    const questions: string[] = [];
    const person = async (question: string): Promise<string> => {
      questions.push(question);
      return answer;
    };
    expect((await home.run(["install"], { person })).code).toBe(0);
    expect(questions).toEqual(["Put Sluice in front of 2 servers of Cursor?"]);
    expect((await home.read(CURSOR.place)) !== CURSOR.text).toBe(isAgreed);
  });

  test("a file that changed meanwhile is not overwritten", async () => {
    const home = await homeWith(CURSOR);
    const person = async (): Promise<string> => {
      await home.write(CURSOR.place, "{}");
      return "y";
    };
    const { code, stderr } = await home.run(["install"], { person });
    expect(code).toBe(73);
    expect(stderr).toContain(`${home.path(CURSOR.place)} changed meanwhile and was left as it is: quit Cursor`);
    expect(await home.read(CURSOR.place)).toBe("{}");
    expect(await readdir(home.path(".cursor"))).toEqual(["mcp.json"]);
  });
});

describe("which servers", () => {
  test("--server takes those, and hosts take theirs", async () => {
    const home = await homeWith(CURSOR);
    const codex = SAMPLES.find(({ host }) => host === "codex") as Sample;
    await home.write(codex.place, codex.text);
    await home.run(["install", "cursor", "--server", "docs", "--yes"]);
    expect(await home.read(codex.place)).toBe(codex.text);
    const found = listServers(hostOf(CURSOR), await dataOf(home, CURSOR));
    expect(found.map(({ name, standing }) => [name, standing.kind])).toEqual([
      ["files", "command"],
      ["docs", "behind"],
      ["linear", "skipped"],
    ]);
  });

  test("one without headers is taken when it is named; one that signs in is not", async () => {
    const home = await Home.open();
    const entries = { open: { url: "http://127.0.0.1:3000/mcp" }, signs: { url: "https://a.example/mcp", oauth: {} } };
    await home.write(".cursor/mcp.json", JSON.stringify({ mcpServers: entries }));
    await home.run(["install", "--server", "open", "--server", "signs", "--yes"]);
    const { mcpServers } = JSON.parse(await home.read(".cursor/mcp.json")) as { mcpServers: Record<string, object> };
    expect(mcpServers["open"]).toEqual({
      command: PROGRAM[0],
      args: [PROGRAM[1], "proxy", "--namespace", "open"],
      env: { SLUICE_PROXY_URL: "http://127.0.0.1:3000/mcp" },
    });
    expect(mcpServers["signs"]).toEqual(entries.signs);
  });

  test("a name that no configuration has is refused", async () => {
    const home = await homeWith(CURSOR);
    const { code, stderr } = await home.run(["install", "--server", "file", "--yes"]);
    expect([code, stderr]).toEqual([
      2,
      'sluice: no configuration has a server "file"; did you mean files?\nTry: sluice install --help\n',
    ]);
  });

  test("one that was put behind Sluice by hand is left as it is, and can be taken back", async () => {
    const home = await Home.open();
    const args = ["-y", "mcp-sluice", "proxy", "--links", "never", "--", "npx", "-y", "server"];
    await home.write(".cursor/mcp.json", JSON.stringify({ mcpServers: { mine: { command: "npx", args } } }));
    const { stderr } = await home.run(["install", "--yes"]);
    expect(stderr).toContain("nothing to put Sluice in front of");
    await home.run(["uninstall", "--yes"]);
    expect(JSON.parse(await home.read(".cursor/mcp.json"))).toEqual({
      mcpServers: { mine: { command: "npx", args: ["-y", "server"] } },
    });
  });

  test("an address that was put behind Sluice by hand is taken back with its headers", async () => {
    const home = await Home.open();
    const args = [
      "/c",
      "npx",
      "-y",
      "mcp-sluice",
      "proxy",
      "--url",
      "https://a.example/mcp",
      "--header",
      "A: b",
      "--header=C: d",
    ];
    await home.write(".cursor/mcp.json", JSON.stringify({ mcpServers: { mine: { command: "cmd", args } } }));
    expect((await home.run(["doctor"])).stdout).toContain("mine  https://a.example/mcp  behind Sluice");
    await home.run(["uninstall", "--yes"]);
    expect(JSON.parse(await home.read(".cursor/mcp.json"))).toEqual({
      mcpServers: { mine: { url: "https://a.example/mcp", headers: { A: "b", C: "d" } } },
    });
  });

  test.each([
    ["my.server", "my_server"],
    ["--links", "links"],
    ["x".repeat(60), "x".repeat(24)],
  ])("the namespace for %s", (name, namespace) => {
    expect(namespaceFor(name)).toBe(namespace);
  });

  test.each(["a b/c", "日本", "-", "@org/name", ""])("any name has a namespace that the proxy takes: %j", (name) => {
    expect(namespaceFor(name)).toMatch(/^[A-Za-z0-9_][A-Za-z0-9_-]{0,39}$/);
  });

  test("what a person changed behind Sluice stays when Sluice goes", async () => {
    const home = await homeWith(CURSOR);
    await home.run(["install", "--yes"]);
    const text = await home.read(CURSOR.place);
    await home.write(CURSOR.place, text.replace('"/data"', '"/other"'));
    await home.run(["uninstall", "--yes"]);
    expect(JSON.parse(await home.read(CURSOR.place))).toEqual(JSON.parse(CURSOR.text.replace("/data", "/other")));
  });

  test("keys among the arguments are not shown", async () => {
    const home = await Home.open();
    const words = [
      "--api-key",
      "k3y",
      "--token=k3y",
      "-e",
      "GITHUB_TOKEN=k3y",
      "--header",
      "Authorization: Bearer k3y",
    ];
    const more = [
      "postgresql://ada:k3y@localhost/db",
      "https://mcp.example.com/s/k3y/mcp",
      "sk-k3yk3yk3y",
      "X-Key: k3y",
    ];
    const shell = ["sh", "-c", "cd / && API_KEY=k3y server --password k3y"];
    const args = [...words, ...more, ...shell, "a1B2c3D4k3yE5f6G7h8I9j0"];
    await home.write(".cursor/mcp.json", JSON.stringify({ mcpServers: { one: { command: "server", args } } }));
    for (const line of [["install", "--yes"], ["doctor"], ["uninstall", "--yes"]]) {
      const { stdout, stderr } = await home.run(line);
      expect(stdout).toContain("server --api-key … --token=… -e GITHUB_TOKEN=…");
      expect(stdout + stderr).not.toContain("k3y");
    }
  });
});

describe("files", () => {
  test("the mode stays, also that of the backup, and a link stays a link", async () => {
    const home = await Home.open();
    await home.write("dotfiles/mcp.json", CURSOR.text);
    await chmod(home.path("dotfiles/mcp.json"), 0o600);
    await mkdir(home.path(".cursor"));
    await symlink(home.path("dotfiles/mcp.json"), home.path(CURSOR.place));
    expect((await home.run(["install", "--yes"])).code).toBe(0);
    expect((await lstat(home.path(CURSOR.place))).isSymbolicLink()).toBe(true);
    for (const name of await readdir(home.path("dotfiles"))) {
      expect((await stat(home.path(`dotfiles/${name}`))).mode & 0o777).toBe(0o600);
    }
    expect(await readdir(home.path("dotfiles"))).toHaveLength(2);
    expect((await home.run(["uninstall", "--yes"])).code).toBe(0);
    expect(await readFile(home.path("dotfiles/mcp.json"), "utf8")).toBe(CURSOR.text);
  });

  test.each([
    ["a byte order mark and line breaks of Windows", `\uFEFF${(SAMPLES[0] as Sample).text.replaceAll("\n", "\r\n")}`],
    ["no line break at the end", (SAMPLES[0] as Sample).text.trimEnd()],
  ])("%s stay", async (_, text) => {
    const home = await Home.open();
    await home.write(CURSOR.place, text);
    expect((await home.run(["install", "--yes"])).code).toBe(0);
    const after = await home.read(CURSOR.place);
    expect(after.startsWith("\uFEFF")).toBe(text.startsWith("\uFEFF"));
    expect(after.replaceAll("\r\n", "").includes("\n")).toBe(!text.includes("\r"));
    await home.run(["uninstall", "--yes"]);
    expect(await home.read(CURSOR.place)).toBe(text);
  });

  test.each([
    ["not JSON", `{ "a": ${SECRET} }`, 2, "is not valid JSON at line 1, column 8: correct it"],
    ["a list", "[]", 2, "is a list or a single value"],
    ["not text", new Uint8Array([0x7b, 0xff, 0x7d]), 66, "it is not UTF-8 text"],
    ["larger than 1 MiB", " ".repeat(1024 * 1024 + 1), 66, "it has more than 1 MiB; edit it by hand"],
  ])("one that is %s is told, and others are changed all the same", async (_, content, exit, sentence) => {
    const home = await Home.open();
    await home.write(".codeium/windsurf/mcp_config.json", content);
    await home.write(CURSOR.place, CURSOR.text);
    const { code, stderr } = await home.run(["install", "--yes"]);
    expect(code).toBe(exit);
    expect(stderr).toContain(sentence);
    expect(stderr).toContain(home.path(".codeium/windsurf/mcp_config.json"));
    expect(stderr).not.toContain(SECRET);
    expect(await home.read(CURSOR.place)).not.toBe(CURSOR.text);
    expect(await readFile(home.path(".codeium/windsurf/mcp_config.json"))).toEqual(Buffer.from(content));
  });

  test("a folder in the place of a configuration is told", async () => {
    const home = await Home.open();
    await mkdir(home.path(CURSOR.place), { recursive: true });
    const { code, stderr } = await home.run(["doctor"]);
    expect(code).toBe(66);
    expect(stderr).toBe(`sluice: cannot read the configuration ${home.path(CURSOR.place)}: it is not a file\n`);
  });

  test("an entry of YAML that shares parts with others is left to its owner", async () => {
    const home = await Home.open();
    const text = "extensions:\n  one: &one\n    type: stdio\n    cmd: npx\n  two: *one\n";
    await home.write(".config/goose/config.yaml", text);
    const { code, stderr } = await home.run(["install", "--yes"]);
    expect([code, stderr]).toEqual([
      2,
      'sluice: the entry "one" shares parts with others (& and *): edit it by hand\n',
    ]);
    expect(await home.read(".config/goose/config.yaml")).toBe(text);
  });

  test("an empty configuration, and none at all", async () => {
    const home = await Home.open();
    expect((await home.run(["install", "--yes"])).stderr).toBe(
      "sluice: this machine has no configuration of a host that Sluice knows; `sluice install --help` lists the hosts\n",
    );
    await writeFile(await home.write(CURSOR.place, ""), "");
    expect(await home.run(["install", "--yes"])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("no servers"),
    });
    const { code, stderr } = await home.run(["install", "zed", "--yes"]);
    expect([code, stderr]).toEqual([
      66,
      `sluice: there is no configuration of Zed in ${home.path(".config/zed/settings.json")}: add a server in Zed, then run this again\n`,
    ]);
  });
});

describe("the command that hosts start", () => {
  test("is that of this installation, by its absolute path", async () => {
    const home = await Home.open();
    const main = await home.write("lib/node_modules/mcp-sluice/dist/cli/main.js", "");
    expect(await findProgram({}, main)).toEqual([process.execPath, main]);
  });

  test("is the one in the PATH where this one is of npx; without one the error says what to do", async () => {
    const home = await Home.open();
    const passing = await home.write(".npm/_npx/1a2b/node_modules/mcp-sluice/dist/cli/main.js", "");
    const main = await home.write("lib/node_modules/mcp-sluice/dist/cli/main.js", "");
    await mkdir(home.path("bin"));
    await mkdir(home.path(".npm/_npx/1a2b/bin"));
    await symlink(passing, home.path(".npm/_npx/1a2b/bin/sluice"));
    const PATH = [home.path(".npm/_npx/1a2b/bin"), home.path("bin")].join(":");
    await expect(findProgram({ PATH }, passing)).rejects.toThrow(
      "install it with `npm install -g mcp-sluice`, then run `sluice install` again",
    );
    await symlink(main, home.path("bin/sluice"));
    expect(await findProgram({ PATH }, passing)).toEqual([process.execPath, main]);
  });
});
