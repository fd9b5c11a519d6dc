/** Headers on their way through a proxy. */
import { expect, test } from "vitest";
import { parseHeaders, requestHeaders, withoutConnection } from "../../../../web/src/cli/proxy/upstream.js";

test("what belongs to a connection stays on it, also what it names itself", () => {
  const headers = new Headers({
    connection: "close, X-Hop",
    "x-hop": "1",
    "transfer-encoding": "chunked",
    "x-far": "2",
  });
  expect(Object.fromEntries(withoutConnection(headers))).toEqual({ "x-far": "2" });
});

test("a request gets what it is given, in place of what the client said", () => {
  const headers = new Headers({ host: "localhost", "content-length": "3", "x-key": "theirs", "mcp-session-id": "s" });
  expect(Object.fromEntries(requestHeaders(headers, [["X-Key", "ours"]]))).toEqual({
    "mcp-session-id": "s",
    "x-key": "ours",
  });
});

test("a header is a name and a value, which may have colons", () => {
  expect(parseHeaders(["Authorization: Bearer a:b", "X-Empty:"])).toEqual([
    ["Authorization", "Bearer a:b"],
    ["X-Empty", ""],
  ]);
});

test.each(["", "secret", ": secret", "A B: secret", "X: a\nY: secret", "Host: secret", "content-length: secret"])(
  "what is none is refused, and not shown: %j",
  (line) => {
    expect(() => parseHeaders([line])).toThrow(/^--header wants a name and a value(?!.*secret)/);
  },
);
