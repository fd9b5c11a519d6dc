/** The arguments `filename`, `filenames` and `username` of sources with `user_files: true`. */
import { readFile, stat } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { ADA, BOB, lab, seen } from "./lab.js";

/** The arguments that a tool was given. */
function given(value: unknown): Record<string, unknown> {
  return (value as { results: { args: Record<string, unknown> } }).results.args;
}

/** The paths that it was given, which models see as names. */
function pathsGiven(value: unknown): readonly string[] {
  const { backwards } = (value as { results: { backwards: readonly string[] } }).results;
  return backwards.map((path) => Array.from(path).toReversed().join(""));
}

describe("filename", () => {
  test("becomes the path of the file in the user's own folder", async () => {
    const { call, userFiles, root } = await lab();
    await userFiles.storage(ADA).put("sales.csv", "a,b\n1,2\n");
    const { value } = await call("echo", { filename: "sales.csv" });
    const [filename] = pathsGiven(value);
    expect(filename).toBe(`${root}/ada/input_files/sales.csv`);
    expect(given(value)).toEqual({ filename: "sales.csv", username: "ada" });
    expect(await readFile(String(filename), "utf8")).toBe("a,b\n1,2\n");
    expect(seen(await call("length", { filename: "../../sales.csv" }))).toEqual({ results: { length: 8 } });
  });

  test("is fetched only when it is needed, and anew when there is a newer version", async () => {
    const { call, userFiles, root } = await lab();
    const files = userFiles.storage(ADA);
    await files.put("a.txt", "one");
    await files.put("never.txt", "not asked for");
    await call("echo", { filename: "a.txt" });
    const path = `${root}/ada/input_files/a.txt`;
    const before = await stat(path);
    await call("echo", { filename: "a.txt" });
    expect((await stat(path)).ino).toBe(before.ino);
    await files.put("a.txt", "two");
    await call("echo", { filename: "a.txt" });
    expect(await readFile(path, "utf8")).toBe("two");
    await expect(stat(`${root}/ada/input_files/never.txt`)).rejects.toThrow("ENOENT");
  });

  test("that does not exist is answered with the closest names, and the tool is not called", async () => {
    const { call, userFiles } = await lab();
    const files = userFiles.storage(ADA);
    for (const name of ["sales.csv", "sales_2025.csv", "Notes.txt"]) await files.put(name, name);
    const result = await call("echo", { filename: "slaes.csv" });
    expect(result.isError).toBe(true);
    expect(seen(result)).toEqual({
      results: { error: 'There is no file "slaes.csv"' },
      meta_data: {
        is_error: true,
        reason: "FileNotFound",
        error_code: "E_NOT_FOUND",
        details: {
          filename: "slaes.csv",
          closest: ["sales.csv"],
          suggestion: "Use one of the closest names",
        },
        retryable: false,
      },
    });
    const { meta_data } = (await call("echo", { filename: "notes.TXT" })).value as {
      meta_data: { details: { closest: unknown } };
    };
    expect(meta_data.details.closest).toEqual(["Notes.txt"]);
  });

  test("is found by the name that the session context shows, and by a reference to it", async () => {
    const { call, userFiles, root } = await lab();
    const { id } = await userFiles.storage(ADA).put("a[1].txt", "x");
    const prompt = await userFiles.prompt("Look", ADA);
    expect(prompt).toContain("- a❲1❳.txt (");
    for (const filename of ["a❲1❳.txt", "a[1].txt", `artifact://${id}`]) {
      expect(pathsGiven((await call("echo", { filename })).value)).toEqual([`${root}/ada/input_files/a[1].txt`]);
    }
  });

  test.each([42, ["a.txt"], { name: "a.txt" }])("that is no text is refused: %j", async (filename) => {
    const { call } = await lab();
    const result = await call("echo", { filename });
    expect([result.isError, JSON.stringify(result.value)]).toEqual([
      true,
      expect.stringContaining("E_INVALID_ARGUMENT"),
    ]);
  });

  test("that is null or empty is left alone", async () => {
    const { call } = await lab();
    expect(given((await call("echo", { filename: null })).value)["filename"]).toBeNull();
    expect(given((await call("echo", { filename: "" })).value)["filename"]).toBe("");
  });
});

test("filenames become paths, in their order", async () => {
  const { call, userFiles, root } = await lab();
  const files = userFiles.storage(ADA);
  for (const name of ["a.txt", "b.txt"]) await files.put(name, name);
  const { value } = await call("echo", { filenames: ["b.txt", "a.txt", "b.txt"] });
  expect(pathsGiven(value)).toEqual(["b.txt", "a.txt", "b.txt"].map((name) => `${root}/ada/input_files/${name}`));
  const wrong = await call("echo", { filenames: "a.txt" });
  expect(JSON.stringify(wrong.value)).toContain("filenames must be a list of names of files.");
});

test("no other argument is touched", async () => {
  const { call, userFiles } = await lab();
  await userFiles.storage(ADA).put("a.txt", "x");
  expect(given((await call("echo", { note: "a.txt" })).value)).toEqual({ note: "a.txt", username: "ada" });
});

describe("username", () => {
  test("is always who is asking, whatever the model says, and no model is asked for it", async () => {
    const { call, node } = await lab();
    expect(given((await call("echo", { username: "root" })).value)["username"]).toBe("ada");
    expect(given((await call("echo", {}, BOB)).value)["username"]).toBe("bob");
    const echo = node.getTools().find(({ name }) => name === "lab.echo");
    expect(echo?.input_schema).toEqual({
      type: "object",
      properties: { filename: { type: "string" }, note: { type: "string" }, filenames: { type: "array" } },
      required: [],
    });
  });

  test("is given to no tool that does not take it, but overwritten where it is given all the same", async () => {
    const { call } = await lab();
    expect(given((await call("anonymous")).value)).toEqual({});
    expect(given((await call("anonymous", { username: "root" })).value)).toEqual({ username: "ada" });
  });

  test("is one folder's name, and another for each tenant", async () => {
    const { call } = await lab();
    const names = new Set<unknown>();
    for (const tenant_id of [null, "acme", "globex"]) {
      names.add(given((await call("echo", {}, { ...ADA, tenant_id })).value)["username"]);
    }
    expect(names.size).toBe(3);
    expect(String(given((await call("echo", {}, { user_id: "../../etc" })).value)["username"])).toMatch(/^[a-z0-9-]+$/);
  });

  test("is needed: nobody's calls are refused", async () => {
    const { call } = await lab();
    await expect(call("echo", {}, {})).rejects.toMatchObject({
      code: "E_TOOL_AUTH",
      message: expect.stringContaining(
        "no user is named: set scope.user_id in the context of the call or of connect",
      ) as string,
    });
  });
});

describe("without folders, as in a browser", () => {
  test("files are data URIs", async () => {
    const { call, userFiles } = await lab({ withoutFolders: true });
    await userFiles.storage(ADA).put("a.csv", "a,b\n1,2\n", { mime_type: "text/csv" });
    const { filename, filenames } = given((await call("echo", { filename: "a.csv", filenames: ["a.csv"] })).value);
    expect([filename, filenames]).toEqual(["data:text/csv;base64,YSxiCjEsMgo=", ["data:text/csv;base64,YSxiCjEsMgo="]]);
  });

  test("files that are too large for a text are refused, and told apart from those that are not there", async () => {
    const { call, userFiles } = await lab({ withoutFolders: true });
    await userFiles.storage(ADA).put("large.bin", new Uint8Array(7 * 1024 * 1024));
    const result = await call("echo", { filename: "large.bin" });
    expect(JSON.stringify(result.value)).toContain('\\"large.bin\\" is too large to pass as text');
  });
});

describe("where programs alone are told paths", () => {
  const scope = ADA;
  const { signal } = new AbortController();
  const call = { tool: "echo", namespace: "lab", takesUsername: true, scope, signal, onRefused: () => undefined };

  test("a program is, and what is behind an address is given data URIs", async () => {
    const { userFiles, root } = await lab({ files: { paths: "programs" } });
    await userFiles.storage(ADA).put("a.txt", "x");
    const told = async (isProgram: boolean): Promise<unknown> => {
      const filed = await userFiles.prepare({ filename: "a.txt" }, { ...call, isProgram });
      if (filed.kind !== "call") throw new Error("The call is not made.");
      filed.done?.();
      return filed.args["filename"];
    };
    expect([await told(true), await told(false)]).toEqual([
      `${root}/ada/input_files/a.txt`,
      "data:text/plain;base64,eA==",
    ]);
  });

  test("a program's path is taken", async () => {
    const { call: called, userFiles } = await lab({ files: { paths: "programs" } });
    await called("write", { name: "made.txt", content: "made" });
    expect(await userFiles.storage(ADA).list()).toMatchObject([{ name: "made.txt", size_bytes: 4 }]);
  });
});

test("a path of a tool that has no folder is refused with what it may do instead", async () => {
  const { call } = await lab({ withoutFolders: true });
  const { value } = await call("path", { path: "/tmp/ada/report.html" });
  expect(value).toMatchObject({
    meta_data: {
      error_code: "E_INVALID_PATH",
      details: {
        attempted_path: "/tmp/ada/report.html",
        allowed_prefix: "",
        suggestion: "Return the bytes as b64: this tool has no folder to take files from",
      },
    },
  });
});

test("sources without user_files keep their own filename and username", async () => {
  const { call } = await lab({ config: { user_files: false } });
  const { value } = await call("echo", { filename: "a.txt", filenames: ["b"], username: "root" });
  expect(JSON.stringify(value)).toContain("root");
});

test("a source with user_files needs somebody who keeps files", async () => {
  await expect(lab({ options: { userFiles: undefined as never } })).rejects.toMatchObject({
    code: "E_TOOL_CONFIG",
    path: "user_files",
  });
});
