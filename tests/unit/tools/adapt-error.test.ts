import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { inspect } from "node:util";
import {
  OAuthError,
  ProtocolError,
  ResourceNotFoundError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  SseError,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import { HttpCommunicationProtocol } from "@utcp/http";
import * as fc from "fast-check";
import { afterEach, expect, test, vi } from "vitest";
import { SluiceError } from "../../../web/src/errors/error.js";
import { adaptError, adaptFetchError } from "../../../web/src/tools/adapt-error.js";
import {
  ToolAuthError,
  ToolClientError,
  ToolConnectionError,
  ToolNodeError,
  ToolRateLimitError,
  ToolServerError,
  ToolTimeoutError,
} from "../../../web/src/tools/errors.js";
import { HttpSource } from "./resilience/http-source.js";

afterEach(() => {
  vi.restoreAllMocks();
});

const place = { source: "shop" };
const failureOf = async (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => expect.unreachable(),
    (error: unknown) => error,
  );

const adapted = async (url: string): Promise<ToolNodeError> =>
  adaptFetchError(await failureOf(fetch(url).then((response) => response.text())), place);

test("what is ours already stays what it is", () => {
  const error = new ToolServerError("x");
  expect(adaptError(error, place)).toBe(error);
  expect(adaptFetchError(error, place)).toBe(error);
  const cause = new SluiceError("E_JSON_SYNTAX", "Expected a value.");
  expect(adaptError(cause, place)).toMatchObject({ code: "E_TOOL", cause, isRetryable: false });
  expect(adaptError(cause, place).message).toMatch(/Expected a value\.$/);
});

test("what fetch rejects with is told by the codes of its causes", async () => {
  const junk = createServer((socket) => socket.end("no HTTP at all\r\n\r\n"));
  await once(junk.listen(0, "127.0.0.1"), "listening");
  const { port } = junk.address() as AddressInfo;
  await using source = await HttpSource.open((request, response) => {
    if (request.url === "/drop") request.socket.destroy();
    else response.writeHead(200, { "Content-Length": "9" }).write("half", () => response.destroy());
  });
  const base = `http://127.0.0.1:${source.port}`;
  const lost = { code: "E_TOOL_CONNECTION", category: "network" };
  expect(await adapted(`${base}/drop`)).toMatchObject(lost);
  expect(await adapted(`${base}/half`)).toMatchObject(lost);
  expect((await adapted(`${base}/half`)).neverSent).toBeUndefined();
  expect(await adapted("http://nowhere.invalid/")).toMatchObject({ ...lost, neverSent: true });
  expect(await adapted(`http://127.0.0.1:${port}/`)).toMatchObject({
    category: "non_retryable",
    message: expect.stringMatching(/HTTP server/) as string,
  });
  expect(await adapted(base.replace("http:", "https:"))).toMatchObject({
    category: "non_retryable",
    message: expect.stringMatching(/check its certificate.*say https\.$/) as string,
  });
  expect(await adapted("http://not an address?key=s3cret")).toMatchObject({ code: "E_TOOL_CONFIG" });
  junk.close();
  expect(await adapted(`http://127.0.0.1:${port}/`)).toMatchObject({ ...lost, neverSent: true });
});

test("what fetch does not explain is a failed connection, as browsers have it; other code's faults are none", () => {
  expect(adaptFetchError(new TypeError("Failed to fetch"), place)).toBeInstanceOf(ToolConnectionError);
  expect(adaptError(new TypeError("x is not a function"), place).constructor).toBe(ToolNodeError);
});

test("only a page is told that a server may not allow it", () => {
  const failure = new TypeError("Failed to fetch");
  expect(adaptFetchError(failure, place).message).toMatch(/cannot be reached: check its address and the network\.$/);
  vi.stubGlobal("location", { origin: "https://page.test" });
  try {
    expect(adaptFetchError(failure, place).message).toMatch(/and that it allows this page \(CORS\)\.$/);
  } finally {
    vi.unstubAllGlobals();
  }
});

test("abort and time limit are told apart by their codes", async () => {
  await using source = await HttpSource.open(() => undefined);
  const url = `http://127.0.0.1:${source.port}/`;
  const slow = await failureOf(fetch(url, { signal: AbortSignal.timeout(1) }));
  expect(adaptError(slow, place)).toBeInstanceOf(ToolTimeoutError);
  const given = new AbortController();
  const call = fetch(url, { signal: given.signal });
  given.abort();
  expect(adaptError(await failureOf(call), place)).toMatchObject({ category: "cancelled", isRetryable: false });
  const named = Object.assign(new Error("timeout"), { name: "TimeoutError" });
  expect(adaptError(named, place)).toMatchObject({ code: "E_TOOL", category: "unknown" });
});

test("a command that cannot be started is not tried again", async () => {
  const [error] = (await once(spawn("sluice-no-such-command", ["--token", "s3cret"]), "spawn").catch(
    (caught: unknown) => [caught],
  )) as [unknown];
  const ours = adaptError(error, place);
  expect(ours).toMatchObject({ code: "E_TOOL_CONNECTION", category: "non_retryable", neverSent: true });
  expect(inspect(ours)).not.toMatch(/s3cret|no-such-command/);
});

test.each([
  [new SdkHttpError(SdkErrorCode.ClientHttpNotImplemented, "x", { status: 503 }), ToolServerError, 503],
  [new SdkHttpError(SdkErrorCode.ClientHttpNotImplemented, "x", { status: 429 }), ToolRateLimitError, 429],
  [new SdkHttpError(SdkErrorCode.ClientHttpAuthentication, "x", { status: 401 }), ToolAuthError, 401],
  [new SdkHttpError(SdkErrorCode.EraNegotiationFailed, "x", { status: 500 }), ToolServerError, 500],
  [new SseError(502, "x", {} as never), ToolServerError, 502],
  [new SseError(undefined, "x", {} as never), ToolConnectionError, undefined],
  [new SdkError(SdkErrorCode.RequestTimeout, "x"), ToolTimeoutError, undefined],
  [new SdkError(SdkErrorCode.ConnectionClosed, "x"), ToolConnectionError, undefined],
  [new SdkError(SdkErrorCode.NotConnected, "x"), ToolConnectionError, undefined],
  [new SdkError(SdkErrorCode.InvalidResult, "x"), ToolServerError, undefined],
  [new SdkError(SdkErrorCode.CapabilityNotSupported, "x"), ToolClientError, undefined],
  [new UnauthorizedError("x"), ToolAuthError, undefined],
  [new OAuthError("invalid_grant", "x"), ToolAuthError, undefined],
  [new ProtocolError(-32602, "x"), ToolClientError, undefined],
  [new ProtocolError(-32603, "x"), ToolServerError, undefined],
  [new ProtocolError(500, "x"), ToolClientError, undefined],
  [new ProtocolError(429, "x"), ToolClientError, undefined],
  [new ResourceNotFoundError("file:///x"), ToolClientError, undefined],
])("%s of the MCP client becomes a %o", (error, Class, status) => {
  const ours = adaptError(error, place);
  expect(ours.constructor).toBe(Class);
  expect(ours.status).toBe(status);
});

test("a JSON-RPC code is no HTTP status, and its answer stands", () => {
  for (const code of [-32603, -32602, 500, 503]) {
    expect(adaptError(new ProtocolError(code, "x"), place)).toMatchObject({ category: "non_retryable" });
    expect(adaptError(new ProtocolError(code, "x"), place).toDict().status_code).toBeNull();
  }
});

test("an MCP handshake that failed tells why, where it is known", () => {
  const refused = Object.assign(new TypeError("fetch failed"), {
    cause: Object.assign(new Error("x"), { code: "ECONNREFUSED", syscall: "connect" }),
  });
  const error = new SdkError(SdkErrorCode.EraNegotiationFailed, "x", undefined, { cause: refused });
  expect(adaptError(error, place)).toMatchObject({ code: "E_TOOL_CONNECTION", neverSent: true });
  expect(adaptError(new SdkError(SdkErrorCode.EraNegotiationFailed, "x"), place).message).toMatch(
    /as an MCP server does/,
  );
});

test("what a UTCP client's HTTP library throws keeps its status and Retry-After, and loses the request", async () => {
  vi.spyOn(console, "log").mockReturnValue();
  vi.spyOn(console, "error").mockReturnValue();
  await using source = await HttpSource.open((request, response) => {
    if (request.url?.startsWith("/drop") === true) request.socket.destroy();
    else response.writeHead(429, { "Retry-After": "9" }).end("body: s3cret");
  });
  const call = async (path: string, more = {}): Promise<ToolNodeError> => {
    const template = {
      name: "shop",
      call_template_type: "http",
      http_method: "GET",
      url: `http://127.0.0.1:${source.port}${path}`,
      headers: { Authorization: "Bearer s3cret" },
      ...more,
    };
    const client = new HttpCommunicationProtocol();
    return adaptError(await failureOf(client.callTool({} as never, "search", { q: "s3cret" }, template)), place);
  };
  const limited = await call("/");
  expect(limited).toMatchObject({ code: "E_TOOL_RATE_LIMIT", status: 429, retryAfterSeconds: 9 });
  const dropped = await call("/drop");
  expect(dropped).toMatchObject({ code: "E_TOOL_CONNECTION", category: "network" });
  const refused = await call("", { url: "http://127.0.0.1:1/" });
  expect(refused).toMatchObject({ code: "E_TOOL_CONNECTION", neverSent: true });
  expect(inspect([limited, dropped, refused], { depth: 20, showHidden: true })).not.toMatch(/s3cret/);
});

const marked = (fields: object): ToolNodeError =>
  adaptError(Object.assign(new Error("x"), { isAxiosError: true, ...fields }), place);

test("such a library's errors are known by their mark and codes, wherever their headers are", () => {
  expect(marked({ response: { status: 503, headers: { "Retry-After": "3" } } })).toMatchObject({
    retryAfterSeconds: 3,
  });
  expect(marked({ response: { status: 503, headers: null } }).retryAfterSeconds).toBeUndefined();
  expect(marked({ code: "ERR_CANCELED" })).toMatchObject({ category: "cancelled" });
  expect(marked({ code: "ECONNABORTED" })).toBeInstanceOf(ToolTimeoutError);
  expect(marked({ code: "ETIMEDOUT" })).toBeInstanceOf(ToolTimeoutError);
  expect(marked({ code: "ERR_NETWORK" })).toBeInstanceOf(ToolConnectionError);
  expect(marked({})).toBeInstanceOf(ToolConnectionError);
});

const system = (code: string, syscall: string): ToolNodeError =>
  adaptError(Object.assign(new Error("x"), { code, syscall }), place);

test("a system's errors are known by code and call: what did not leave is told from what may have been done", () => {
  expect(system("ETIMEDOUT", "connect")).toMatchObject({ code: "E_TOOL_CONNECTION", neverSent: true });
  expect(system("ETIMEDOUT", "read")).toBeInstanceOf(ToolTimeoutError);
  expect(system("EHOSTUNREACH", "read").neverSent).toBeUndefined();
  expect(system("ECONNRESET", "connect")).toMatchObject({ neverSent: true });
  expect(system("EPIPE", "write").neverSent).toBeUndefined();
  expect(system("E2BIG", "spawn sh")).toMatchObject({ code: "E_TOOL_CLIENT", category: "non_retryable" });
  expect(system("ENOENT", "open")).toMatchObject({ code: "E_TOOL", category: "unknown" });
  expect(system("CERT_HAS_EXPIRED", "")).toMatchObject({ category: "non_retryable", code: "E_TOOL_CONNECTION" });
});

test("an error of a library that is not known keeps its class, its code and its stack as the cause", () => {
  class LibraryError extends Error {
    readonly code = "E_LIBRARY";
  }
  const { cause } = adaptError(new LibraryError("Bearer s3cret"), place);
  expect(inspect(cause)).toMatch(/^LibraryError E_LIBRARY: its own sentence is left out/);
  expect(inspect(cause)).toMatch(/adapt-error\.test\.ts:\d+:\d+/);
  expect(inspect(cause)).not.toMatch(/s3cret/);
});

const SECRET = "s3cret-value";
const code = fc.constantFrom("ECONNRESET", "ECONNREFUSED", "E_OTHER", "UND_ERR_SOCKET", `X ${SECRET}`, "ABORT_ERR");
const leaf = fc.record({ code: fc.option(code), message: fc.constantFrom("", SECRET, `a\n    at x (${SECRET}:1:2)`) });

test("whatever is thrown, an error of ours comes out, and no secret with it", () => {
  const shapes = fc.tuple(
    fc.array(leaf, { minLength: 1, maxLength: 4 }),
    fc.constantFrom("error", "type", "many", "bare"),
  );
  fc.assert(
    fc.property(shapes, ([levels, shape]) => {
      const thrown = levels.reduce<unknown>((cause, { code: own, message }) => {
        const fields = { ...(own !== null && { code: own }), config: { headers: { Authorization: SECRET } } };
        if (shape === "bare") return { ...fields, message, cause };
        const Class = shape === "type" ? TypeError : Error;
        const error = shape === "many" ? new AggregateError([cause], message) : new Class(message, { cause });
        return Object.assign(error, fields, { [SECRET]: SECRET });
      }, SECRET);
      for (const ours of [adaptError(thrown, place), adaptFetchError(thrown, place)]) {
        expect(ours).toBeInstanceOf(ToolNodeError);
        expect(inspect(ours, { depth: 30, showHidden: true })).not.toContain(SECRET);
        expect(JSON.stringify([ours, ours.toDict()])).not.toContain(SECRET);
      }
    }),
  );
});

test.each([[undefined], [null], [7], ["text"], [Symbol("x")], [Object.create(null)], [() => 1]])(
  "even %s may be thrown",
  (thrown) => {
    expect(adaptError(thrown, place)).toMatchObject({ code: "E_TOOL", category: "unknown" });
  },
);

test("causes without end are not followed without end", () => {
  const error = new Error("x") as Error & { cause?: unknown; errors?: unknown };
  error.cause = error;
  error.errors = Array.from({ length: 10_000 }, () => error);
  expect(adaptError(error, place).code).toBe("E_TOOL");
});
