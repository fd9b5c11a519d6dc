/** Signing in from the terminal: a real provider, a real protected server, and a person who follows the address. */
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { fileSealing, TokenFiles } from "../../../../web/src/cli/sign-in/token-files.js";
import { tokenFolder } from "../../../../web/src/cli/store/folders.js";
import type { ExternalToolConfig } from "../../../../web/src/tools/config/config.js";
import {
  consent,
  startAuthorizationServer,
  type TestAuthorizationServer,
} from "../../tools/auth/authorization-server.js";
import { type ProtectedMcp, startProtectedMcp } from "../../tools/auth/protected-mcp.js";
import { describeTokenStore, tokenNamed } from "../../tools/auth/token-store-contract.js";
import { type Ended, Room, sluice, start } from "../command.js";
import { configOf } from "../tools/sources.js";

describe("sluice sign-in", () => {
  let provider: TestAuthorizationServer;
  let server: ProtectedMcp;
  beforeAll(async () => {
    provider = await startAuthorizationServer();
    server = await startProtectedMcp(provider);
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    await provider[Symbol.asyncDispose]();
  });

  function source(): ExternalToolConfig {
    return { name: "files", transport: "mcp", connection: server.url, auth_type: "oauth2_user" };
  }

  /** A command that runs, what it wrote so far, and how it ends. */
  interface Running {
    readonly child: ChildProcessWithoutNullStreams;
    readonly ended: Promise<Ended>;
    /** The address that the person is told to open. */
    address(): Promise<string>;
  }

  function running(args: readonly string[], env: Readonly<Record<string, string>>): Running {
    const child = start(args, { env });
    let stdout = "";
    let stderr = "";
    child.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
    child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
    return {
      child,
      ended: once(child, "close").then(([code]) => ({ code: code as number | null, stdout, stderr })),
      address: () =>
        vi.waitFor(() => {
          const [, url] = /^ {2}(http\S+)$/m.exec(stderr) ?? [];
          if (url === undefined) throw new Error(`no address yet: ${stderr}`);
          return url;
        }),
    };
  }

  function redirectOf(address: string): string {
    return new URL(address).searchParams.get("redirect_uri") ?? "";
  }

  /** Follows the address as a person would, up to the page that is shown at the end. */
  async function follow(address: string, refuses = false): Promise<Response> {
    return fetch(await consent(address, { login: "ada", refuses, redirect: redirectOf(address) }));
  }

  test("a person signs in once: the address is printed, the browser comes back, and other commands use the token", async () => {
    await using room = await Room.open();
    const env = { XDG_CONFIG_HOME: room.folder, DISPLAY: "", WAYLAND_DISPLAY: "" };
    const config = await configOf(room, source());
    const before = await sluice(["tools", "list", ...config], { env });
    expect(before.code).toBe(77);
    expect(before.stderr).toBe(
      "sluice: you are not signed in to files: run sluice tools connect files with the same --config\n",
    );

    const connecting = running(["tools", "connect", "files", ...config], env);
    const address = await connecting.address();
    expect(redirectOf(address)).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/);
    const page = await follow(address);
    expect([page.status, page.headers.get("cache-control")]).toEqual([200, "no-store"]);
    expect(await page.text()).toContain("You are signed in");
    const { code, stdout, stderr } = await connecting.ended;
    expect(code).toBe(0);
    expect(stdout).toMatch(/^files: connected in .*\n3 tools:\n {2}whoami, artifact_read, artifact_edit\n/);

    const called = await sluice(["tools", "call", "files.whoami", ...config], { env });
    expect([called.code, called.stdout]).toEqual([0, '"ada"\n']);
    const again = await sluice(["tools", "connect", "files", ...config], { env });
    expect([again.code, again.stderr]).toEqual([0, ""]);

    const folder = join(room.folder, "sluice", "tokens");
    for (const name of await readdir(folder)) expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600);
    const tokens = await Promise.all((await readdir(folder)).map((name) => readFile(join(folder, name), "utf8")));
    const [, token = ""] = /"access_token":"([^"]+)"/.exec(tokens.join("\n")) ?? [];
    expect(await provider.owner(token)).toBe("ada");
    expect(stdout + stderr + called.stdout + called.stderr).not.toContain(token);

    expect((await sluice(["tools", "disconnect", "files"], { env })).stderr).toBe("signed out of files\n");
    expect(await readdir(folder)).toEqual([]);
    expect((await sluice(["tools", "disconnect", "files"], { env })).code).toBe(1);
  });

  test("the browser is opened with the very address, by no shell", async () => {
    await using room = await Room.open();
    const opener = await room.write("xdg-open", '#!/bin/sh\nprintf "%s" "$1" > "$SEEN"\nenv > "$SEEN.env"\n');
    await chmod(opener, 0o755);
    const env = {
      XDG_CONFIG_HOME: room.folder,
      DISPLAY: ":0",
      CI: "",
      SSH_CONNECTION: "",
      PATH: `${room.folder}:${process.env["PATH"] ?? ""}`,
      SEEN: room.path("seen"),
      SLUICE_SERVE_SECRET: "not for others",
    };
    const connecting = running(["tools", "connect", "files", ...(await configOf(room, source()))], env);
    const address = await connecting.address();
    await vi.waitFor(async () => expect(await readFile(room.path("seen"), "utf8")).toBe(address));
    await vi.waitFor(async () => expect(await readFile(room.path("seen.env"), "utf8")).toContain("DISPLAY=:0"), {
      timeout: 20_000,
    });
    expect(await readFile(room.path("seen.env"), "utf8")).not.toContain("not for others");
    await follow(address);
    expect((await connecting.ended).code).toBe(0);
  });

  test("who declines is told so in both places, and nothing is kept", async () => {
    await using room = await Room.open();
    const env = { XDG_CONFIG_HOME: room.folder };
    const args = ["tools", "connect", "files", "--no-browser", ...(await configOf(room, source()))];
    const connecting = running(args, env);
    const page = await follow(await connecting.address(), true);
    expect([page.status, await page.text()]).toEqual([400, expect.stringContaining("You are not signed in")]);
    const { code, stderr } = await connecting.ended;
    expect(code).toBe(77);
    expect(stderr).toContain("sluice: the request for access to files was declined: nothing was stored");
    expect(await readdir(room.path("sluice/tokens")).catch(() => [])).toEqual([]);
  });

  test("answers that nobody asked for, and pages elsewhere, change nothing", async () => {
    await using room = await Room.open();
    const env = { XDG_CONFIG_HOME: room.folder };
    const args = ["tools", "connect", "files", "--no-browser", ...(await configOf(room, source()))];
    const connecting = running(args, env);
    const address = await connecting.address();
    const callback = redirectOf(address);
    for (const query of ["", "?code=x", "?code=x&state=made-up", "?error=access_denied&state=made-up"]) {
      expect((await fetch(callback + query)).status).toBe(400);
    }
    expect((await fetch(callback.replace("/callback", "/other"))).status).toBe(404);
    expect((await fetch(callback, { method: "POST" })).status).toBe(404);
    expect((await fetch(callback.replace("127.0.0.1", "localhost"))).status).toBe(404);
    expect((await follow(address)).status).toBe(200);
    expect((await connecting.ended).code).toBe(0);
  });

  test("Ctrl-C ends the waiting, and nothing listens any more", async () => {
    await using room = await Room.open();
    const args = ["tools", "connect", "files", "--no-browser", ...(await configOf(room, source()))];
    const connecting = running(args, { XDG_CONFIG_HOME: room.folder });
    const address = await connecting.address();
    connecting.child.kill("SIGINT");
    expect((await connecting.ended).code).toBe(130);
    await expect(fetch(redirectOf(address))).rejects.toThrow("fetch failed");
  });

  test("a token that the server takes no more is asked for anew", async () => {
    await using room = await Room.open();
    const env = { XDG_CONFIG_HOME: room.folder };
    const args = ["tools", "connect", "files", "--no-browser", ...(await configOf(room, source()))];
    const first = running(args, env);
    await follow(await first.address());
    expect((await first.ended).code).toBe(0);
    const folder = room.path("sluice/tokens");
    const [kept = ""] = (await readdir(folder)).filter((name) => name.endsWith("token.json"));
    const { access_token } = JSON.parse(await readFile(join(folder, kept), "utf8")) as { access_token: string };
    server.revoked.add(access_token);
    const second = running(args, env);
    await follow(await second.address());
    expect((await second.ended).code).toBe(0);
  });

  test("a token that is refused before its end is renewed by the other commands, and asked for only where it cannot be", async () => {
    await using room = await Room.open();
    const env = { XDG_CONFIG_HOME: room.folder };
    const config = await configOf(room, source());
    const connecting = running(["tools", "connect", "files", "--no-browser", ...config], env);
    await follow(await connecting.address());
    expect((await connecting.ended).code).toBe(0);
    const folder = room.path("sluice/tokens");
    const [name = ""] = (await readdir(folder)).filter((each) => each.endsWith("token.json"));
    const kept = async (): Promise<Record<string, unknown>> =>
      JSON.parse(await readFile(join(folder, name), "utf8")) as Record<string, unknown>;
    const first = await kept();
    expect(first["refresh_token"]).toEqual(expect.any(String));
    server.revoked.add(String(first["access_token"]));
    const called = await sluice(["tools", "call", "files.whoami", ...config], { env });
    expect([called.code, called.stdout, called.stderr]).toEqual([0, '"ada"\n', ""]);
    const second = await kept();
    expect(second["access_token"]).not.toBe(first["access_token"]);
    // Without a refresh token the person has to sign in again.
    await writeFile(join(folder, name), JSON.stringify({ ...second, refresh_token: null }), { mode: 0o600 });
    server.revoked.add(String(second["access_token"]));
    const refused = await sluice(["tools", "list", ...config], { env });
    expect([refused.code, refused.stderr]).toEqual([
      77,
      "sluice: you are not signed in to files: run sluice tools connect files with the same --config\n",
    ]);
  });

  test("a provider that has to know the program is told of by its remedy, and takes the one that is given", async () => {
    await using room = await Room.open();
    const closed = await startAuthorizationServer({ registration: false });
    const guarded = await startProtectedMcp(closed);
    try {
      const own = { ...source(), name: "my-files", connection: guarded.url };
      const args = ["tools", "connect", "my-files", "--no-browser", ...(await configOf(room, own))];
      const env = { XDG_CONFIG_HOME: room.folder };
      const { code, stderr } = await sluice(args, { env });
      expect(code).toBe(77);
      expect(stderr).toContain("only takes registered clients: pass the id that you registered");
      expect(stderr).toContain("MY_FILES_CLIENT_ID");
      const connecting = running([...args, "--client-id", "native", "--port", "0"], env);
      await follow(await connecting.address());
      expect((await connecting.ended).code).toBe(0);
    } finally {
      await guarded[Symbol.asyncDispose]();
      await closed[Symbol.asyncDispose]();
    }
  });
});

/** Tokens in files: the contract of every token store, and what files add to it. */
describe("token files", () => {
  async function folder(): Promise<string> {
    const parent = await mkdtemp(join(tmpdir(), "sluice-tokens-"));
    onTestFinished(() => rm(parent, { recursive: true, force: true }));
    return join(parent, "sluice", "tokens");
  }

  describeTokenStore("TokenFiles", async () => new TokenFiles(await folder()));

  test("the folder is for its owner alone, and so is every file in it", async () => {
    const at = await folder();
    const files = new TokenFiles(at);
    await files.store("me", "github", tokenNamed("1"));
    await files.keepClient("github", {
      client_id: "c",
      redirect_uri: "http://127.0.0.1/callback",
      issuer: "https://a",
    });
    expect((await stat(at)).mode & 0o777).toBe(0o700);
    const names = await readdir(at);
    expect(names).toHaveLength(2);
    for (const name of names) expect((await stat(join(at, name))).mode & 0o777).toBe(0o600);
  });

  test("a file that others can read is refused with what to do", async () => {
    const at = await folder();
    const files = new TokenFiles(at);
    await files.store("me", "github", tokenNamed("1"));
    const [name = ""] = await readdir(at);
    await chmod(join(at, name), 0o644);
    await expect(files.get("me", "github")).rejects.toThrow(/chmod 600/);
  });

  test("a folder that others can write to is refused with what to do", async () => {
    const at = await folder();
    const files = new TokenFiles(at);
    await files.store("me", "github", tokenNamed("1"));
    await chmod(at, 0o770);
    await expect(files.store("me", "github", tokenNamed("2"))).rejects.toThrow(/chmod 700/);
  });

  test("a malformed token does not count", async () => {
    const at = await folder();
    const files = new TokenFiles(at);
    await files.store("me", "github", tokenNamed("1"));
    const [name = ""] = await readdir(at);
    for (const text of ["", "{", "[]", '{"access_token":1}', "null"]) {
      await writeFile(join(at, name), text);
      expect(await files.get("me", "github")).toBeNull();
    }
  });

  describe("with a secret", () => {
    const [FIRST, SECOND] = ["first".padEnd(32, "!"), "second".padEnd(32, "!")];
    const client = {
      client_id: "c",
      client_secret: "hush",
      redirect_uri: "http://127.0.0.1/callback",
      issuer: "https://a",
    };
    const sealed = (at: string, secret: string, old: readonly string[] = []): TokenFiles =>
      new TokenFiles(
        at,
        fileSealing({
          SLUICE_TOKEN_SECRET: secret,
          ...(old.length > 0 && { SLUICE_TOKEN_OLD_SECRETS: old.join("\n") }),
        }),
      );
    const contents = async (at: string): Promise<string> =>
      (await Promise.all((await readdir(at)).map((name) => readFile(join(at, name), "utf8")))).join("\n");

    describeTokenStore("TokenFiles with a secret", async () => sealed(await folder(), FIRST));

    test("what was kept without one is encrypted when it is read, registrations too", async () => {
      const at = await folder();
      const plain = new TokenFiles(at);
      await plain.store("me", "github", tokenNamed("1"));
      await plain.keepClient("github", client);
      expect(await contents(at)).toContain("hush");
      const files = sealed(at, FIRST);
      expect([await files.get("me", "github"), await files.client("github")]).toEqual([tokenNamed("1"), client]);
      expect(await contents(at)).not.toMatch(/hush|access|refresh|client_id/);
      expect((await readdir(at)).filter((name) => name.endsWith(".lock"))).toEqual([]);
      for (const name of await readdir(at)) expect((await stat(join(at, name))).mode & 0o777).toBe(0o600);
    });

    test("that is changed, files are encrypted anew when they are read, and the old one is no longer needed", async () => {
      const at = await folder();
      await sealed(at, FIRST).store("me", "github", tokenNamed("1"));
      await expect(sealed(at, SECOND).get("me", "github")).rejects.toThrow(/SLUICE_TOKEN_OLD_SECRETS/);
      expect(await sealed(at, SECOND, [FIRST]).get("me", "github")).toEqual(tokenNamed("1"));
      expect(await sealed(at, SECOND).get("me", "github")).toEqual(tokenNamed("1"));
      await expect(new TokenFiles(at).get("me", "github")).rejects.toThrow(/SLUICE_TOKEN_SECRET/);
    });

    test("a file in the place of another is refused", async () => {
      const at = await folder();
      const files = sealed(at, FIRST);
      await files.store("me", "github", tokenNamed("1"));
      const [name = ""] = await readdir(at);
      await files.store("me", "gitlab", tokenNamed("2"));
      const other = (await readdir(at)).find((each) => each !== name) ?? "";
      await writeFile(join(at, other), await readFile(join(at, name)));
      await expect(files.get("me", "gitlab")).rejects.toThrow(/encrypted with a secret that is not known here/);
    });

    test("a file that is being changed is read as it is, and left alone", async () => {
      const at = await folder();
      await sealed(at, FIRST).store("me", "github", tokenNamed("1"));
      const before = await contents(at);
      const files = sealed(at, SECOND, [FIRST]);
      await files.exclusively("me", "github", async () => {
        expect(await files.get("me", "github")).toEqual(tokenNamed("1"));
      });
      expect(await contents(at)).toBe(before);
    });
  });

  test("one process at a time renews a token, and one that was killed holds nobody up for long", async () => {
    const folderAt = await folder();
    const order: string[] = [];
    const work = (name: string) => async (): Promise<void> => {
      order.push(`${name} begins`);
      await new Promise((resolve) => setImmediate(resolve));
      order.push(`${name} ends`);
    };
    const all = ["a", "b", "c"].map((name) => new TokenFiles(folderAt).exclusively("me", "github", work(name)));
    await Promise.all(all);
    for (let at = 0; at < order.length; at += 2) expect(order[at + 1]).toBe(order[at]?.replace("begins", "ends"));
    await new TokenFiles(folderAt).exclusively("me", "github", async () => {
      // What is left of a process that was killed in here, long ago.
      const [lock = ""] = (await readdir(folderAt)).filter((name) => name.endsWith(".lock"));
      await utimes(join(folderAt, lock), new Date(0), new Date(0));
      await new TokenFiles(folderAt).exclusively("me", "github", work("d"));
    });
    expect(order.slice(-2)).toEqual(["d begins", "d ends"]);
  });

  test("the folder is where each system keeps configurations", () => {
    expect(tokenFolder({ XDG_CONFIG_HOME: "/x" }, "linux", "/home/ada")).toBe("/x/sluice/tokens");
    expect(tokenFolder({ XDG_CONFIG_HOME: "x" }, "linux", "/home/ada")).toBe("/home/ada/.config/sluice/tokens");
    expect(tokenFolder({}, "darwin", "/Users/ada")).toBe("/Users/ada/Library/Application Support/sluice/tokens");
  });
});
