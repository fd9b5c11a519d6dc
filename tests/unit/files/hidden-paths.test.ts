/** Paths of a user's folder in texts of tools: a model is told names. */
import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import { workspaceName } from "../../../web/src/files/names.js";
import type { UserWorkspace } from "../../../web/src/files/options.js";
import { pathHider } from "../../../web/src/files/tool-text.js";
import { Workspace } from "../../../web/src/files/workspace/workspace.js";
import { amount } from "../../support/full.js";
import { lab, type Lab, openLab } from "./lab.js";

const ROOT = "/var/tmp/a (b).ü";
const hide = pathHider(["/tmp/ada/", `${ROOT}/ada/`]);

/** As PHP writes slashes, and Python other letters. */
const slashed = (json: string): string => json.replaceAll("/", "\\/");
const ascii = (json: string): string =>
  json.replaceAll(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);

describe("a path in the user's folder", () => {
  test.each([
    ["/tmp/ada/out.csv", "out.csv"],
    ["Saved to /tmp/ada/charts/a.png, then /tmp/ada/b.", "Saved to charts/a.png, then b."],
    ["read '/tmp/ada/input_files/sales.csv'", "read 'sales.csv'"],
    ["/tmp//ada//out.csv", "out.csv"],
    [`${ROOT}/ada/out.csv`, "out.csv"],
    ["file:///tmp/ada/out.csv", "file:///out.csv"],
    ["--out=/tmp/ada/out.csv", "--out=out.csv"],
  ])("is a name: %s", (text, shown) => {
    expect(hide(text)).toBe(shown);
  });

  test.each(["/tmp/ada", "/tmp/ada/", "/tmp/ada/input_files/"])("is the folder itself: %s", (folder) => {
    expect(hide(folder)).toBe("/tmp/{username}/");
    expect(hide(`In ${folder}, or ${folder}.`)).toContain("In /tmp/{username}/, or ");
    expect(hide(JSON.stringify({ folder }))).toBe('{"folder":"/tmp/{username}/"}');
  });

  test.each([
    "/tmp/adam/out.csv",
    "/tmp/ada-2/out.csv",
    "/tmp/ada.bak/out.csv",
    "/home/tmp/ada/out.csv",
    "https://example.com/tmp/ada/out.csv",
    "aGVsbG8/tmp/ada/out",
    "/etc/passwd",
    "tmp/ada/out.csv",
  ])("is none of another's: %s", (text) => {
    expect(hide(text)).toBe(text);
  });
});

test("where there is no folder nothing is hidden", () => {
  expect(pathHider([])("/tmp/ada/out.csv")).toBe("/tmp/ada/out.csv");
});

test("a folder of Windows is hidden too", () => {
  const windows = pathHider(["C:\\sluice\\ada\\"]);
  expect(windows("C:\\sluice\\ada\\out\\a.csv")).toBe("out\\a.csv");
  expect(JSON.parse(windows(JSON.stringify(["C:\\sluice\\ada\\a.csv"])))).toEqual(["a.csv"]);
});

test("JSON stays JSON, however it spells a path and however deep it is quoted", () => {
  const text = fc.array(
    fc.oneof(
      fc.constantFrom("/tmp/ada/", `${ROOT}/ada/`, "/tmp/ada", "\\", "\n", "/", '"', "x", "u002f", "input_files/"),
      fc.string({ unit: "binary", maxLength: 3 }),
    ),
    { maxLength: 8 },
  );
  const spelled = fc.constantFrom(
    (json: string) => json,
    slashed,
    ascii,
    (json: string) => ascii(slashed(json)),
  );
  fc.assert(
    fc.property(text, fc.array(spelled, { minLength: 1, maxLength: 3 }), (parts, spellings) => {
      const json = spellings.reduce<string>((inner, spell) => spell(JSON.stringify(inner)), parts.join(""));
      expect(() => JSON.parse(hide(json)) as unknown).not.toThrow();
      const shown = spellings.reduce<string>((inner, spell) => spell(JSON.stringify(inner)), " /tmp/ada/a.csv ");
      expect(hide(shown)).not.toContain("ada");
    }),
    { numRuns: 2000 },
  );
});

test("time is linear in what is long and nearly a path", () => {
  for (const part of ["\\", "/", "/tmp/", "/tmp/ada", "\\n/tmp", "file:/", "\\u002f"]) {
    const text = part.repeat(Math.ceil(2_000_000 / part.length));
    const before = performance.now();
    hide(text);
    expect(performance.now() - before).toBeLessThan(5000);
  }
});

/** Whatever fails, no error and no observation has a stack, a path of this machine or whose files they are. */
const WHO = { tenant_id: "acme-tenant", user_id: "ada", session_id: "session-of-ada", trace_id: "trace-of-ada" };
const STACK = "    at Object.open (/srv/hidden/node_modules/store/index.js:10:5)";
const NEVER =
  /\/srv|\/var\/|\/home|node_modules|\n\s+at |sluice-(?:lab|leaks)-|acme-tenant|session-of-ada|trace-of-ada/;

/** What stores, disks and libraries throw. */
const ERRORS: readonly (() => unknown)[] = [
  () => Object.assign(new Error("ENOENT: open '/srv/hidden/a'"), { code: "ENOENT", syscall: "open", path: "/srv/a" }),
  () => Object.assign(new Error("EACCES: permission denied, open '/srv/hidden/a'"), { code: "EACCES" }),
  () => Object.assign(new Error("ENOSPC: no space left, write '/srv/hidden'"), { code: "ENOSPC" }),
  () => new TypeError(`Cannot read properties of undefined\n${STACK}`),
  () => `failed in /srv/hidden of acme-tenant\n${STACK}`,
  () => new DOMException("quota of /srv/hidden", "QuotaExceededError"),
];

/** What fails next, and what it throws. */
interface Fault {
  readonly at: string;
  readonly error: () => unknown;
}

let fault: Fault | undefined;

/** The same object, but that the method which is to fail does. */
function faulty<T extends object>(inner: T, name: string): T {
  return new Proxy(inner, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target);
      if (typeof value !== "function") return value;
      return (...args: readonly unknown[]): unknown => {
        if (fault?.at === `${name}.${String(key)}`) return failed(String(key), fault.error());
        const result: unknown = Reflect.apply(value, target, args);
        if (key !== "openWriter") return result;
        return (result as Promise<object>).then((writer) => faulty(writer, "writer"));
      };
    },
  });
}

/** As each of them fails: what is iterated over does so in the middle. */
function failed(key: string, error: unknown): unknown {
  const failing = async (): Promise<never> => {
    throw error;
  };
  return key === "list" ? { [Symbol.asyncIterator]: () => ({ next: failing }) } : failing();
}

const PLACES = [
  "store.list",
  "store.openWriter",
  "store.openReader",
  "store.stat",
  "store.delete",
  "store.update",
  "writer.write",
  "writer.close",
  "workspace.open",
  "workspace.input",
  "workspace.openOutput",
];

type Call = readonly [tool: string, args: Readonly<Record<string, unknown>>];

const PREFIX = `/tmp/${await workspaceName({ user_id: WHO.user_id, tenant_id: WHO.tenant_id })}/`;

/** A result that tells of a file in the user's folder. */
function telling(key: "artifacts" | "deferred_artifacts", name: string): Call {
  const contract = { results: {}, [key]: [{ name, path: PREFIX + name, mime: "text/plain" }] };
  return ["raw", { result: { content: [], structuredContent: contract } }];
}

const CALLS: readonly Call[] = [
  ["length", { filename: "a.csv" }],
  ["echo", { filenames: ["a.csv", "none.csv"] }],
  ["echo", { filename: 7 }],
  ["bytes", { large: true }],
  ["as_text", {}],
  ["show", { display: { storage_action: "temporary" } }],
  ["path", { path: "/etc/passwd" }],
  ["forge", { id: "file-0123456789abcdef_0123456789ab" }],
  ["artifact_read", { uri: "artifact://file-0123456789abcdef_0123456789ab" }],
  ["no such tool", {}],
  ["raw", { result: "none" }],
  telling("artifacts", "made.txt"),
  telling("deferred_artifacts", "made.txt"),
  telling("artifacts", "none.txt"),
  telling("artifacts", "input_files"),
];

interface Faulty extends Lab, AsyncDisposable {
  /** The user's folder on this machine. */
  readonly folder: string;
}

async function openFaulty(): Promise<Faulty> {
  const parent = await realpath(await mkdtemp(join(tmpdir(), "sluice-leaks-")));
  const store = faulty(new MemoryArtifactStore({ retention: null }), "store");
  const openWorkspace = async (name: string): Promise<UserWorkspace> => {
    if (fault?.at === "workspace.open") throw fault.error();
    return faulty(await Workspace.open({ root: parent, name }), "workspace");
  };
  const opened = await openLab({ files: { store, openWorkspace }, options: { store } });
  const close = async (): Promise<void> => {
    fault = undefined;
    await opened[Symbol.asyncDispose]();
    await rm(parent, { recursive: true });
  };
  return { ...opened, folder: join(parent, basename(PREFIX)), [Symbol.asyncDispose]: close };
}

/** Everything of a call that somebody may read: the model, the host, its log. */
async function told({ node, events }: Lab, [tool, args]: Call): Promise<string> {
  const before = events.length;
  const said = await node.call(tool, args, { scope: WHO }).then(
    ({ text, value, display }) => `${text}${JSON.stringify([value, display])}`,
    (error: unknown) => wordsOf(error),
  );
  const logged = events.slice(before).map((event) => ("error" in event ? wordsOf(event.error) : ""));
  return [said, ...logged].join("\n");
}

/** Its message, and what is copied of it where it is written to a log. */
function wordsOf(error: unknown): string {
  return `${String(error)}${JSON.stringify(error)}`;
}

describe("whatever fails", () => {
  let ours: Faulty;
  beforeAll(async () => {
    ours = await openFaulty();
    await ours.userFiles.storage(WHO).put("a.csv", "id,name\n1,a\n2,b\n");
    await ours.node.call("echo", { filename: "a.csv" }, { scope: WHO });
    await writeFile(join(ours.folder, "made.txt"), "made");
  });
  afterAll(() => ours[Symbol.asyncDispose]());

  test("no error and no observation has a stack, a path of this machine, or whose call it is", async () => {
    const faults = fc.record({ at: fc.constantFrom(...PLACES), error: fc.constantFrom(...ERRORS) });
    const property = fc.asyncProperty(faults, fc.constantFrom(...CALLS), async (next, call) => {
      fault = next;
      const words = await told(ours, call).finally(() => (fault = undefined));
      expect(words).not.toMatch(NEVER);
    });
    await fc.assert(property, { numRuns: amount(60, 300) });
  });

  test.each(CALLS)("a call that does not fail has none of it either: %s %j", async (tool, args) => {
    expect(await told(ours, [tool, args])).not.toMatch(NEVER);
  });
});

test("nor where something else has the name of the user's folder", async () => {
  const parent = await realpath(await mkdtemp(join(tmpdir(), "sluice-leaks-")));
  onTestFinished(() => rm(parent, { recursive: true }));
  await writeFile(join(parent, basename(PREFIX)), "");
  const own = await lab({ files: { openWorkspace: (name) => Workspace.open({ root: parent, name }) } });
  for (const call of CALLS) expect(await told(own, call)).not.toMatch(NEVER);
});
