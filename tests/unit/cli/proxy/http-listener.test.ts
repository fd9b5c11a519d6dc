/** Where a proxy listens, and who may speak to it. */
import { expect, test } from "vitest";
import { ListenGuard, listenAddress, listenToken, shown } from "../../../../web/src/cli/proxy/http-listener.js";

const TOKEN = "0123456789abcdef";

const statusOf = (guard: ListenGuard, headers: Record<string, string>): number | undefined =>
  guard.refusal(new Headers(headers))?.status;

test("an address is a host and a port", () => {
  expect(listenAddress("127.0.0.1:8080")).toEqual({ host: "127.0.0.1", port: 8080 });
  expect(listenAddress("[::1]:0")).toEqual({ host: "::1", port: 0 });
  expect(shown("::1", 80, "/mcp")).toBe("http://[::1]:80/mcp");
  for (const wrong of [
    "8080",
    ":8080",
    "localhost",
    "localhost:x",
    "localhost:65536",
    "::1:80",
    "http://localhost:1",
  ]) {
    expect(() => listenAddress(wrong)).toThrow("--listen wants HOST:PORT");
  }
});

test("others than this machine need a token, and a token is long", () => {
  expect(listenToken({}, { host: "localhost", port: 0 })).toBeUndefined();
  expect(listenToken({}, { host: "127.1.2.3", port: 0 })).toBeUndefined();
  for (const host of ["0.0.0.0", "::", "192.168.0.1", "example.com", "127.0.0.1.example.com"]) {
    expect(() => listenToken({}, { host, port: 0 })).toThrow("SLUICE_PROXY_TOKEN");
    expect(listenToken({ SLUICE_PROXY_TOKEN: TOKEN }, { host, port: 0 })).toBe(TOKEN);
  }
  expect(() => listenToken({ SLUICE_PROXY_TOKEN: "short" }, { host: "localhost", port: 0 })).toThrow("16 characters");
});

test("names of this machine and of the address are let in, others are not", () => {
  const guard = new ListenGuard({ host: "mcp.lan", port: 80 }, undefined);
  for (const host of ["localhost", "LOCALHOST:1", "127.0.0.1:80", "[::1]:80", "mcp.lan", "Mcp.Lan:8080"]) {
    expect(statusOf(guard, { host })).toBeUndefined();
  }
  for (const host of [
    "",
    "evil.example",
    "localhost.evil.example",
    "127.0.0.1.evil.example",
    "mcp.lan.",
    "192.168.0.1",
  ]) {
    expect(statusOf(guard, { host })).toBe(403);
  }
  expect(statusOf(guard, {})).toBe(403);
});

test("listening everywhere, every address is let in, and no name but the machine's", () => {
  const guard = new ListenGuard({ host: "0.0.0.0", port: 80 }, TOKEN);
  const authorization = `Bearer ${TOKEN}`;
  expect(statusOf(guard, { host: "192.168.0.1:80", authorization })).toBeUndefined();
  expect(statusOf(guard, { host: "evil.example", authorization })).toBe(403);
});

test("a token is wanted whole, whatever the name of the scheme is written like", () => {
  const guard = new ListenGuard({ host: "localhost", port: 80 }, TOKEN);
  const host = "localhost";
  expect(statusOf(guard, { host, authorization: `bearer ${TOKEN}` })).toBeUndefined();
  for (const authorization of [
    "",
    TOKEN,
    "Bearer ",
    `Bearer ${TOKEN}x`,
    `Bearer ${TOKEN.slice(1)}`,
    `Basic ${TOKEN}`,
  ]) {
    expect(statusOf(guard, { host, authorization })).toBe(401);
  }
  expect(statusOf(guard, { host })).toBe(401);
});
