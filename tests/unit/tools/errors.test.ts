import { expect, test } from "vitest";
import { SluiceError } from "../../../web/src/errors/error.js";
import {
  ToolAuthError,
  ToolClientError,
  ToolConnectionError,
  ToolNodeError,
  ToolRateLimitError,
  ToolServerError,
  ToolTimeoutError,
} from "../../../web/src/tools/errors.js";

test.each([
  [ToolNodeError, "ToolNodeError", "E_TOOL", "unknown", false],
  [ToolAuthError, "ToolAuthError", "E_TOOL_AUTH", "auth_required", false],
  [ToolTimeoutError, "ToolTimeoutError", "E_TOOL_TIMEOUT", "retryable_server", true],
  [ToolConnectionError, "ToolConnectionError", "E_TOOL_CONNECTION", "network", true],
  [ToolRateLimitError, "ToolRateLimitError", "E_TOOL_RATE_LIMIT", "retryable_rate", true],
  [ToolClientError, "ToolClientError", "E_TOOL_CLIENT", "non_retryable", false],
  [ToolServerError, "ToolServerError", "E_TOOL_SERVER", "retryable_server", true],
] as const)("%o has its code and its category", (Class, type, code, category, isRetryable) => {
  const error = new Class("The source failed.");
  expect(error).toBeInstanceOf(ToolNodeError);
  expect(error).toBeInstanceOf(SluiceError);
  expect(error).toMatchObject({ name: type, code, category, isRetryable });
  expect(error.toDict()).toEqual({
    type,
    code,
    message: "The source failed.",
    status_code: null,
    category,
    is_retryable: isRetryable,
  });
});

test.each([
  [429, "retryable_rate"],
  [500, "retryable_server"],
  [504, "retryable_server"],
  [505, "unknown"],
  [401, "auth_required"],
  [403, "auth_required"],
  [400, "non_retryable"],
  [499, "non_retryable"],
  [302, "unknown"],
  [-32602, "unknown"],
] as const)("a status of %i means %s where nobody knows better", (status, category) => {
  expect(new ToolNodeError("x", { status }).toDict()).toMatchObject({ status_code: status, category });
});

test("a class knows better than a status, and who throws knows better than both", () => {
  expect(new ToolClientError("x", { status: 503 }).category).toBe("non_retryable");
  expect(new ToolServerError("x", { status: 400 }).isRetryable).toBe(true);
  const error = new ToolServerError("x", { status: 500, category: "non_retryable", code: "E_TOOL_CONFIG" });
  expect(error).toMatchObject({ category: "non_retryable", code: "E_TOOL_CONFIG", isRetryable: false });
});

test("what is not known is no property, so that logs do not show it", () => {
  expect(Object.keys(new ToolServerError("x")).sort()).toEqual(["category", "code", "name"]);
  const cause = new Error("y");
  const error = new ToolServerError("x", { status: 503, retryAfterSeconds: 2, neverSent: true, cause });
  expect(error).toMatchObject({ status: 503, retryAfterSeconds: 2, neverSent: true, cause });
});
