/** The examples of the user storage specification, as they are printed there: a real server answers with each of them. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { ArtifactScope } from "../../../web/src/artifacts/store.js";
import { refusalResult } from "../../../web/src/files/user-files.js";
import { FileTooLargeError, InvalidPathError } from "../../../web/src/files/workspace/errors.js";
import { Workspace } from "../../../web/src/files/workspace/workspace.js";
import { timeoutResult } from "../../../web/src/mcp/wait-notices.js";
import type { ToolResult } from "../../../web/src/tools-node.js";
import { lab, seen, type Lab } from "./lab.js";
import { emptyFolder } from "../../support/folder.js";

const ALICE: ArtifactScope = { user_id: "alice", session_id: "s1" };

/** §5.2, what the example of Python returns for alice. */
const PROCESSED = `{
        "artifacts": [{
            "name": "processed_data.parquet",
            "path": "/tmp/alice/processed_data.parquet",
            "mime": "application/octet-stream"
        }]
    }`;

/** §6.2, path. */
const BY_PATH = `{
  "results": {"summary": "Analysis completed successfully"},
  "artifacts": [{
    "name": "quarterly_report.html",
    "path": "/tmp/alice/quarterly_report.html",
    "mime": "text/html",
    "description": "Q3 financial analysis report",
    "category": "report",
    "auto_open": true
  }]
}`;

/** §6.2, base64: its content is an abridged one. */
const BY_BASE64 = `{
  "results": {"summary": "Analysis completed successfully"},
  "artifacts": [{
    "name": "quarterly_report.html",
    "b64": "PGh0bWw+PGhlYWQ+...",
    "mime": "text/html",
    "size": 245760,
    "description": "Q3 financial analysis report",
    "category": "report",
    "auto_open": true
  }]
}`;

/** §6.2, S3: where files are is for the client to say. */
const IN_S3 = `{
  "results": {"summary": "Analysis completed successfully"},
  "artifacts": [{
    "name": "quarterly_report.html",
    "s3_ref": {
      "bucket": "user-storage",
      "key": "alice/artifacts/20240827/quarterly_report.html",
      "internal": true
    },
    "mime": "text/html", 
    "size": 524288000,
    "description": "Q3 financial analysis report",
    "category": "report",
    "auto_open": true
  }]
}`;

/** §10.1, what the example of Python returns for alice. */
const WITHOUT_RESULTS = `{
        "artifacts": [{
            "name": "results.parquet", 
            "path": "/tmp/alice/results.parquet",
            "mime": "application/octet-stream"
        }]
    }`;

/** §10.2, the same of a table of 50,000 rows. */
const OF_ANY_SIZE = `{
        "results": {"rows_processed": 50000},
        "artifacts": [{
            "name": "analysis_results.html",
            "path": "/tmp/alice/analysis_results.html",
            "mime": "text/html",
            "description": "Analysis results report"
        }]
    }`;

/** §11.2 */
const COMPLETED = `{"results": {"status": "completed"}}`;

/** §12.1 */
const TIMED_OUT = `{
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
}`;

/** §12.2 */
const OUTSIDE = `{
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
}`;

/** §12.3 */
const TOO_LARGE = `{
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
}`;

/** How servers send an object: as FastMCP does for a dict, and each half of it alone. */
const CARRIERS = {
  "text and structure": (json: string) => ({
    content: [{ type: "text", text: json }],
    structuredContent: parsed(json),
  }),
  structure: (json: string) => ({ content: [], structuredContent: parsed(json) }),
  text: (json: string) => ({ content: [{ type: "text", text: json }] }),
};

function parsed(json: string): Record<string, unknown> {
  return JSON.parse(json) as Record<string, unknown>;
}

interface Alices extends Lab {
  /** Alice's folder, which tools know as `/tmp/alice`. */
  readonly folder: string;
  answered(json: string): Promise<ToolResult>;
}

async function alices(carrier: (json: string) => object): Promise<Alices> {
  const root = await emptyFolder();
  const ours = await lab({ files: { openWorkspace: (name) => Workspace.open({ root, name }) } });
  // The folder is made when somebody calls.
  await ours.call("echo", {}, ALICE);
  const answered = async (json: string): Promise<ToolResult> => {
    const result = await ours.call("raw", { result: carrier(json) }, ALICE);
    const words = `${result.text}${JSON.stringify(result.value)}`;
    for (const path of ["/tmp/alice", root, "user-storage"]) expect(words).not.toContain(path);
    return result;
  };
  return { ...ours, root, folder: join(root, "alice"), answered };
}

async function textOf({ userFiles }: Lab, name: string): Promise<string> {
  return new Response(await userFiles.storage(ALICE).open(name)).text();
}

describe.each(Object.entries(CARRIERS))("as %s", (_, carrier) => {
  test.each([
    ["processed_data.parquet", PROCESSED],
    ["quarterly_report.html", BY_PATH],
    ["results.parquet", WITHOUT_RESULTS],
    ["analysis_results.html", OF_ANY_SIZE],
  ])("the example with %s puts the file that was written into My Files", async (name, json) => {
    const ours = await alices(carrier);
    await mkdir(ours.folder, { recursive: true });
    await writeFile(join(ours.folder, name), `of ${name}`);
    const result = await ours.answered(json);
    const { results = {}, artifacts } = parsed(json);
    const { path: _path, auto_open: _open, ...said } = (artifacts as readonly Record<string, unknown>[])[0] ?? {};
    expect(seen(result)).toEqual({
      results,
      artifacts: [{ ...said, size: `of ${name}`.length, ref: expect.stringMatching(/^artifact:\/\/file-/) as string }],
    });
    expect(await textOf(ours, name)).toBe(`of ${name}`);
    expect(result.isError).toBe(false);
  });

  test("the example with base64 costs its abridged content alone, and its whole one is kept", async () => {
    const ours = await alices(carrier);
    expect(seen(await ours.answered(BY_BASE64))).toEqual({
      results: { summary: "Analysis completed successfully" },
      dropped: ["artifacts[0].b64 must be base64 (RFC 4648)"],
    });
    const whole = BY_BASE64.replace("...", "");
    expect(seen(await ours.answered(whole))["artifacts"]).toMatchObject([{ name: "quarterly_report.html", size: 12 }]);
    expect(await textOf(ours, "quarterly_report.html")).toBe("<html><head>");
  });

  test("the example of S3 is the client's to say, and no tool's", async () => {
    const ours = await alices(carrier);
    expect(seen(await ours.answered(IN_S3))).toEqual({
      results: { summary: "Analysis completed successfully" },
      dropped: ["artifacts[0].s3_ref must be left out: the client sets it", "artifacts[0] must have b64 or path"],
    });
  });

  test.each([COMPLETED, TIMED_OUT, TOO_LARGE])("an example without files is told as it is: %s", async (json) => {
    const ours = await alices(carrier);
    expect(seen(await ours.answered(json))).toEqual(parsed(json));
  });

  test("the example of a violation is told without the folder that it names", async () => {
    const ours = await alices(carrier);
    const told = JSON.stringify(seen(await ours.answered(OUTSIDE)));
    expect(told).toBe(JSON.stringify(parsed(OUTSIDE)).replace("/tmp/alice/", "/tmp/{username}/"));
  });
});

test.each([
  ["a call that took too long", TIMED_OUT, timeoutResult(30, "Processing chunk 45/200")],
  ["a file outside", OUTSIDE, refusalResult(new InvalidPathError("/etc/passwd", "/tmp/alice/", "outside"))?.value],
  ["a file too large", TOO_LARGE, refusalResult(new FileTooLargeError(107_374_182_400, 53_687_091_200))?.value],
])("our own error for %s is the example, key by key", (_, example, own) => {
  expect(JSON.stringify(own, undefined, 2)).toBe(example);
});
