/** The errors of the specification, key by key in its order. */
import { expect, test } from "vitest";
import { refusalResult } from "../../../../web/src/files/user-files.js";
import { FileTooLargeError, InvalidPathError } from "../../../../web/src/files/workspace/errors.js";
import { timeoutResult } from "../../../../web/src/tools/tool-call.js";

const json = (value: unknown): string => JSON.stringify(value, undefined, 2);

test("a call that took too long", () => {
  expect(json(timeoutResult(30, "Processing chunk 45/200"))).toBe(`{
  "results": {
    "error": "Tool execution timed out after 30 seconds"
  },
  "meta_data": {
    "is_error": true,
    "reason": "ExecutionTimeout",
    "error_code": "E_TIMEOUT",
    "details": {
      "timeout_seconds": 30,
      "last_progress": "Processing chunk 45/200",
      "suggestion": "Consider breaking large operations into smaller chunks or using progress reporting"
    },
    "retryable": true
  }
}`);
});

test("one that reported nothing has null for its progress, and one second is one", () => {
  expect(timeoutResult(1, null)).toMatchObject({
    results: { error: "Tool execution timed out after 1 second" },
    meta_data: { details: { timeout_seconds: 1, last_progress: null } },
  });
});

test("a file that is not the user's", () => {
  const refused = refusalResult(new InvalidPathError("/etc/passwd", "/tmp/alice/", "outside"));
  expect(json(refused?.value)).toBe(`{
  "results": {
    "error": "File operation outside allowed directory"
  },
  "meta_data": {
    "is_error": true,
    "reason": "SecurityViolation",
    "error_code": "E_INVALID_PATH",
    "details": {
      "attempted_path": "/etc/passwd",
      "allowed_prefix": "/tmp/alice/",
      "suggestion": "Use /tmp/{username}/ prefix for file operations"
    },
    "retryable": false
  }
}`);
});

test("a file that is too large", () => {
  const refused = refusalResult(new FileTooLargeError(107_374_182_400, 53_687_091_200));
  expect(json(refused?.value)).toBe(`{
  "results": {
    "error": "Generated file exceeds processing limits"
  },
  "meta_data": {
    "is_error": true,
    "reason": "FileSizeExceeded",
    "error_code": "E_FILE_TOO_LARGE",
    "details": {
      "file_size_bytes": 107374182400,
      "current_limit_bytes": 53687091200,
      "suggestion": "Consider generating summary or using chunked processing"
    },
    "retryable": false
  }
}`);
});
