/** Who may use a bridge. */
import { describe, expect, test } from "vitest";
import { isPageOrigin, PageGuard } from "../../../../web/src/cli/bridge/page-guard.js";

const TOKEN = "abcdefghijklmnopqrstuvwxyz012345";
const PATH = `/${TOKEN}/mcp`;
const APP = "https://app.example";
const OTHER = "https://other.example";

interface Guarded {
  readonly guard: PageGuard;
  readonly told: string[];
}

function guarded(...origins: string[]): Guarded {
  const told: string[] = [];
  const guard = new PageGuard({
    token: TOKEN,
    origins,
    onBound: (origin) => told.push(`bound ${origin}`),
    onRefused: (origin) => told.push(`refused ${origin}`),
  });
  return { guard, told };
}

/** The status that a request is refused with. */
const status = (guard: PageGuard, said: Record<string, string>, method = "POST", path = PATH): number | undefined =>
  guard.refusal(new Headers({ host: "127.0.0.1:8931", ...said }), method, path)?.status;

describe("of a request", () => {
  test.each([
    ["with the token, from no page", {}, PATH, undefined],
    ["with a query besides", {}, `${PATH}?x=1`, undefined],
    ["from a page over https", { origin: APP }, PATH, undefined],
    ["from a page on this machine", { origin: "http://localhost:5173" }, PATH, undefined],
    ["to localhost", { host: "localhost:1" }, PATH, undefined],
    ["to another name of this machine", { host: "bridge.example:8931" }, PATH, 403],
    ["to a name that begins like this machine", { host: "127.0.0.1.evil.example" }, PATH, 403],
    ["to an address of the network", { host: "192.168.0.1:8931" }, PATH, 403],
    ["to nobody", { host: "" }, PATH, 403],
    ["without a token", { origin: APP }, "/mcp", 404],
    ["with the token's beginning", {}, `/${TOKEN.slice(0, -1)}/mcp`, 404],
    ["with more than the token", {}, `/${TOKEN}0/mcp`, 404],
    ["with the token elsewhere", {}, `/mcp?token=${TOKEN}`, 404],
    ["for a whole URL, as proxies are sent", {}, `http://127.0.0.1${PATH}`, 404],
    ["from a page without an origin of its own", { origin: "null" }, PATH, 403],
    ["from an extension", { origin: "chrome-extension://abc" }, PATH, 403],
    ["with an origin that no browser writes so", { origin: "https://app.example/" }, PATH, 403],
    ["with two origins", { origin: "https://a.example, https://b.example" }, PATH, 403],
    ["of an image on a page", { "sec-fetch-site": "cross-site" }, PATH, 403],
    ["that a person typed", { "sec-fetch-site": "none" }, PATH, undefined],
  ])("%s", (_what, headers, path, expected) => {
    expect(status(guarded().guard, headers, "POST", path)).toBe(expected);
  });

  test("that is refused, nothing is told", async () => {
    const { guard } = guarded();
    const response = guard.refusal(new Headers({ host: "localhost", origin: "null" }), "POST", PATH);
    expect([await response?.text(), [...(response?.headers ?? [])]]).toEqual(["", []]);
  });
});

describe("without an origin that was named", () => {
  test("the first page binds it, and others are refused", () => {
    const { guard, told } = guarded();
    expect(status(guard, { origin: APP })).toBeUndefined();
    for (const method of ["POST", "GET", "DELETE", "OPTIONS"])
      expect(status(guard, { origin: OTHER }, method)).toBe(403);
    for (const method of ["POST", "GET", "DELETE", "OPTIONS"])
      expect(status(guard, { origin: APP }, method)).toBeUndefined();
    expect(status(guard, {})).toBeUndefined();
    expect(told).toEqual([`bound ${APP}`, `refused ${OTHER}`]);
  });

  test("neither a question whether it may, nor a wrong token, nor a program binds it", () => {
    const { guard, told } = guarded();
    status(guard, { origin: OTHER }, "OPTIONS");
    status(guard, { origin: OTHER }, "POST", "/wrong/mcp");
    status(guard, { origin: OTHER, host: "evil.example" });
    status(guard, {});
    expect(told).toEqual([]);
    expect(status(guard, { origin: APP })).toBeUndefined();
  });
});

test("with origins that were named, no page binds it", () => {
  const { guard, told } = guarded(APP, "http://localhost:1");
  for (const origin of [APP, "http://localhost:1"]) expect(status(guard, { origin })).toBeUndefined();
  for (const origin of [OTHER, "http://localhost:2", "http://app.example"]) expect(status(guard, { origin })).toBe(403);
  expect(told.filter((line) => line.startsWith("bound"))).toEqual([]);
});

test("of refused origins so many are told, each once", () => {
  const { guard, told } = guarded(APP);
  for (let number = 0; number < 200; number += 1) status(guard, { origin: `https://p${number % 100}.example` });
  expect(told).toHaveLength(16);
  expect(new Set(told).size).toBe(16);
});

test("origins are written as browsers write them", () => {
  for (const origin of ["https://a.example", "http://localhost:8080", "http://[::1]:1"])
    expect(isPageOrigin(origin)).toBe(true);
  for (const wrong of ["", "null", "a.example", "https://", "https://A.example", "https://a.example:443", "file://"])
    expect(isPageOrigin(wrong)).toBe(false);
});
