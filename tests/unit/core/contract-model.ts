/** A plain reading of some of the contract's rules, and answers that break them about half of the time. */
import * as fc from "fast-check";

type Members = Readonly<Record<string, unknown>>;

const NAMES = ["a.csv", "b", "naïve 😀", "", "x".repeat(1025), 1, null];
const BASE64 = ["", "QQ==", "QQ", "-_-_", "+/ +\n/", "artifact://a?size=1", "Q", "QR==", "+_+_", "data:", 7, null];
const PATHS = ["/tmp/alice/a", "a", "", "a\0b", "x".repeat(4097), false, null];
const TYPES = ["text/csv", "Text/CSV; charset=utf-8", 'a/b;c="d"', "csv", "a/b/c", "a/b;c", null];
const FLAGS = [true, false, null, "true", 1];
const HOURS = [1, 72, 8760, 0, 8761, 1.5, "72", null];

/** Mostly the first few of a list, so that whole answers are right at times. */
const some = (values: readonly unknown[]): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...values.slice(0, 2)) }, fc.constantFrom(...values));

const named = fc.oneof({ weight: 6, arbitrary: fc.stringMatching(/^[a-z]{3,6}$/) }, fc.constantFrom(...NAMES));

const withBytes = { name: named, b64: some(BASE64), mime: some(TYPES), auto_open: some(FLAGS) };
const withPath = { name: named, path: some(PATHS), mime: some(TYPES) };

const artifact = fc.oneof(
  { weight: 5, arbitrary: fc.record(withBytes, { requiredKeys: ["name", "b64", "mime"] }) },
  { weight: 5, arbitrary: fc.record(withPath) },
  fc.record({ ...withBytes, ...withPath }, { requiredKeys: [] }),
  fc.constantFrom(null, "a.csv", []),
);
const deferred = fc.record({ ...withPath, expires_hours: some(HOURS) }, { requiredKeys: ["name", "path", "mime"] });

/** Answers with `results`. */
export const contracts: fc.Arbitrary<Members> = fc.record(
  {
    results: fc.oneof({ weight: 9, arbitrary: fc.constant({}) }, fc.constantFrom(1, [], null)),
    retryable: some(FLAGS),
    artifacts: fc.array(artifact, { maxLength: 3 }),
    deferred_artifacts: fc.array(deferred, { maxLength: 2 }),
    display: fc.record({ primary_file: named, open_canvas: some(FLAGS) }, { requiredKeys: [] }),
  },
  { requiredKeys: ["results"] },
);

/** The path of the first field that breaks a rule; undefined where none does. */
export function breachOf(contract: Members): string | undefined {
  const names: unknown[] = [];
  return first([
    [isObject(contract["results"]), "results"],
    [isFlag(contract["retryable"]), "retryable"],
    () => inList(contract, "artifacts", (file, at) => breachOfArtifact(file, at, names)),
    () => inList(contract, "deferred_artifacts", (file, at) => breachOfDeferred(file, at, names)),
    () => breachOfDisplay((contract["display"] ?? {}) as Members, names),
  ]);
}

type Rule = readonly [holds: boolean, field: string] | (() => string | undefined);

function first(rules: readonly Rule[]): string | undefined {
  for (const rule of rules) {
    const field = typeof rule === "function" ? rule() : rule[0] ? undefined : rule[1];
    if (field !== undefined) return field;
  }
  return undefined;
}

function inList(
  contract: Members,
  key: string,
  breach: (file: Members, at: string) => string | undefined,
): string | undefined {
  const files = (contract[key] ?? []) as readonly unknown[];
  return first(
    files.map((file, index) => () => {
      const at = `${key}[${index}]`;
      return isObject(file) ? breach(file, at) : at;
    }),
  );
}

function breachOfArtifact(file: Members, at: string, names: unknown[]): string | undefined {
  const { b64, path, mime, auto_open } = file;
  return first([
    () => breachOfName(file, at, names),
    [(b64 == null) !== (path == null), at],
    [b64 == null || isBase64(b64), `${at}.b64`],
    [path == null || isPath(path), `${at}.path`],
    [isMediaType(mime), `${at}.mime`],
    [isFlag(auto_open), `${at}.auto_open`],
  ]);
}

function breachOfDeferred(file: Members, at: string, names: unknown[]): string | undefined {
  const { path, mime, expires_hours: hours } = file;
  return first([
    () => breachOfName(file, at, names),
    [isPath(path), `${at}.path`],
    [isMediaType(mime), `${at}.mime`],
    [hours == null || (Number.isInteger(hours) && Number(hours) >= 1 && Number(hours) <= 8760), `${at}.expires_hours`],
  ]);
}

function breachOfDisplay({ open_canvas, primary_file }: Members, names: readonly unknown[]): string | undefined {
  return first([
    [isFlag(open_canvas), "display.open_canvas"],
    [primary_file == null || names.includes(primary_file), "display.primary_file"],
  ]);
}

function breachOfName({ name }: Members, at: string, names: unknown[]): string | undefined {
  const chars = typeof name === "string" ? Array.from(name).length : 0;
  if (chars < 1 || chars > 1024 || names.includes(name)) return `${at}.name`;
  names.push(name);
  return undefined;
}

function isBase64(value: unknown): boolean {
  if (typeof value !== "string") return false;
  if (value.startsWith("artifact://")) return true;
  const digits = value.replaceAll(/\s/g, "");
  if (/[+/]/.test(digits) && /[-_]/.test(digits)) return false;
  const bytes = Buffer.from(digits, "base64");
  return [bytes.toString("base64"), bytes.toString("base64url")].some(
    (text) => text === digits || text.replace(/=+$/, "") === digits,
  );
}

const isObject = (value: unknown): value is Members =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isFlag = (value: unknown): boolean => value == null || typeof value === "boolean";
const isPath = (value: unknown): boolean =>
  typeof value === "string" && value.length > 0 && value.length <= 4096 && !value.includes("\0");
const isMediaType = (value: unknown): boolean => TYPES.slice(0, 3).includes(value as string);
