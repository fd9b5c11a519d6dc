import { expect, test } from "vitest";
import { SluiceError } from "../../../web/src/errors/error.js";
import { guardStorage, storageError, systemCode } from "../../../web/src/errors/storage.js";

const systemError = (code: string): Error =>
  Object.assign(new Error(`${code}: open '/home/someone/secret/blobs/ab'`), { code, path: "/home/someone/secret" });

test.each([
  ["ENOSPC", "E_STORE_FULL", /free some disk space/],
  ["EDQUOT", "E_STORE_FULL", /quota/],
  ["EACCES", "E_STORE_DENIED", /owns the store folder/],
  ["EPERM", "E_STORE_DENIED", /owns the store folder/],
  ["EROFS", "E_STORE_DENIED", /read-only/],
  ["ELOOP", "E_STORE_DENIED", /symbolic link/],
  ["EMFILE", "E_STORE_WRITE", /close readers and writers/],
  ["EIO", "E_STORE_WRITE", /check the disk/],
  ["constructor", "E_STORE_WRITE", /check the disk/],
])("%s is %s with a remedy, and no path", (code, expected, remedy) => {
  const cause = systemError(code);
  const error = storageError(cause, "write");
  expect(error).toBeInstanceOf(SluiceError);
  expect(error).toMatchObject({ code: expected, cause });
  expect(error.message).toMatch(remedy);
  expect(error.message + JSON.stringify(error)).not.toMatch(/someone/);
});

test("reading and writing are told apart", () => {
  expect(storageError(systemError("EIO"), "read").code).toBe("E_STORE_READ");
  expect(storageError(new Error("no code"), "write").code).toBe("E_STORE_WRITE");
  expect(storageError("a string", "read")).toMatchObject({ code: "E_STORE_READ", cause: "a string" });
});

test("a coded error stays what it is", async () => {
  const coded = new SluiceError("E_STORE_CORRUPT", "damaged");
  await expect(guardStorage("read", () => Promise.reject(coded))).rejects.toBe(coded);
  expect(await guardStorage("read", () => Promise.resolve(7))).toBe(7);
  expect(systemCode(null)).toBeUndefined();
  expect(systemCode({ code: 5 })).toBeUndefined();
});

test("an error prints its code, its message and its place, and nothing it does not know", () => {
  const error = new SluiceError("E_JSON_SYNTAX", "Expected a value.", { line: 2, column: 7 });
  expect(JSON.parse(JSON.stringify(error))).toEqual({
    code: "E_JSON_SYNTAX",
    message: "Expected a value.",
    line: 2,
    column: 7,
  });
  expect(Object.keys(new SluiceError("E_USAGE", "x").toJSON())).toEqual(["code", "message"]);
  expect(new SluiceError("E_CONFIG_KEY", "x", { path: "a.b" }).toJSON()).toMatchObject({ path: "a.b" });
});
