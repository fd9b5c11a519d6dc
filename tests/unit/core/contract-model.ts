/** A plain reading of the contract's rules, and answers that break them about half of the time. */
import * as fc from "fast-check";

type Members = Readonly<Record<string, unknown>>;

const NAMES = ["a.csv", "b", "naïve 😀", "", "x".repeat(1025), 1, null];
const BASE64 = ["", "QQ==", "QQ", "-_-_", "+/ +\n/", "artifact://a?size=1", "Q", "QR==", "+_+_", "data:", 7, null];
const PATHS = ["/tmp/alice/a", "a", "", "a\0b", "x".repeat(4097), false, null];
const TYPES = ["text/csv", "Text/CSV; charset=utf-8", 'a/b;c="d"', "csv", "a/b/c", "a/b;c", null];
const FLAGS = [true, false, null, "true", 1];
const HOURS = [1, 72, 8760, 0, 8761, 1.5, "72", null];
const WORDS = ["report", "draft", "html", "needs_editing", "split", "store", "other", 1, null];
const LINES = ["", "All names", "x".repeat(2000), "x".repeat(2001), 1, null];

const CATEGORIES = ["report", "dataset", "visualization", "draft"];
const VIEWERS = ["image", "pdf", "html", "code", "data"];
const REASONS = ["needs_editing", "draft", "incomplete", "awaiting_approval"];
const KEYS = ["results", "meta_data", "retryable", "artifacts", "deferred_artifacts", "display"];

/** Mostly the first few of a list, so that whole answers are right at times. */
const some = (values: readonly unknown[]): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...values.slice(0, 2)) }, fc.constantFrom(...values));

const named = fc.oneof({ weight: 6, arbitrary: fc.stringMatching(/^[a-c]{1,2}$/) }, fc.constantFrom(...NAMES));

const hints = { mime: some(TYPES), description: some(LINES), category: some(WORDS) };
const withBytes = { name: named, b64: some(BASE64), ...hints, viewer: some(WORDS), auto_open: some(FLAGS) };
const withPath = { name: named, path: some(PATHS), ...hints };

const artifact = fc.oneof(
  { weight: 5, arbitrary: fc.record(withBytes, { requiredKeys: ["name", "b64", "mime"] }) },
  { weight: 5, arbitrary: fc.record(withPath) },
  fc.record({ ...withBytes, ...withPath, s3_ref: some([null, {}]) }, { requiredKeys: [] }),
  fc.constantFrom(null, "a.csv", []),
);
const actions = fc.oneof(fc.array(some(["Edit it", "Sign it", "", 1]), { maxLength: 22 }), fc.constant("Edit it"));
const deferred = fc.oneof(
  {
    weight: 9,
    arbitrary: fc.record({ ...withPath, reason: some(WORDS), next_actions: actions, expires_hours: some(HOURS) }),
  },
  fc.constantFrom(1, null),
);

/** Answers with some of a contract's members. */
export const contracts: fc.Arbitrary<Members> = fc.record(
  {
    results: fc.oneof({ weight: 9, arbitrary: fc.constant({}) }, fc.constantFrom(1, "done", [], null)),
    meta_data: fc.oneof({ weight: 9, arbitrary: fc.constant({}) }, fc.constantFrom(1, null)),
    retryable: some(FLAGS),
    artifacts: fc.oneof({ weight: 9, arbitrary: fc.array(artifact, { maxLength: 4 }) }, fc.constantFrom({}, null)),
    deferred_artifacts: fc.array(deferred, { maxLength: 2 }),
    display: fc.oneof(
      fc.record(
        { primary_file: named, open_canvas: some(FLAGS), mode: some(WORDS), storage_action: some(WORDS) },
        { requiredKeys: [] },
      ),
      fc.constantFrom("split", null),
    ),
    total: fc.constant(1),
  },
  { requiredKeys: [] },
);

/** A contract, and the fields that are left out of it, in their order. */
interface PlainReading {
  readonly contract: Members;
  readonly dropped: readonly string[];
}

/** What an answer comes to; undefined where it is no contract. */
export function plainReading(answer: Members): PlainReading | undefined {
  if (!isContract(answer)) return undefined;
  const dropped: string[] = [];
  const drop = (field: string): undefined => void dropped.push(field);
  const { results } = answer;
  const isOther = results != null && !isObject(results);
  if (isOther) drop("results");
  const meta_data = checked(answer, "meta_data", isObject, drop);
  const retryable = checked(answer, "retryable", isFlag, drop);
  const names: unknown[] = [];
  const artifacts = files(answer, "artifacts", drop, names, artifactIn);
  const deferred_artifacts = files(answer, "deferred_artifacts", drop, names, deferredIn);
  const display = displayIn(answer["display"], names, drop);
  for (const key of Object.keys(answer)) if (!KEYS.includes(key)) drop(key);
  return {
    contract: given({
      results: isOther ? { result: results } : (results ?? {}),
      meta_data,
      retryable,
      artifacts,
      deferred_artifacts,
      display,
    }),
    dropped,
  };
}

function isContract(answer: Members): boolean {
  const listed = ["artifacts", "deferred_artifacts"].flatMap((key) => (Array.isArray(answer[key]) ? answer[key] : []));
  const said = (listed as unknown[]).filter(isObject).filter(({ name }) => typeof name === "string");
  if (said.some(({ b64, path }) => typeof b64 === "string" || (typeof path === "string" && path.startsWith("/"))))
    return true;
  const isLikely = isObject(answer["results"]) || said.some(({ path }) => typeof path === "string");
  return isLikely && Object.keys(answer).every((key) => KEYS.includes(key));
}

type Drop = (field: string) => undefined;

function files(
  answer: Members,
  key: string,
  drop: Drop,
  names: unknown[],
  read: (file: Members, drop: Drop) => Members,
): readonly Members[] {
  const list = checked(answer, key, Array.isArray, drop) ?? [];
  return (list as readonly unknown[]).flatMap((file, index) => {
    const at = `${key}[${index}]`;
    if (!isObject(file)) {
      drop(at);
      return [];
    }
    const dropIn: Drop = (field) => drop(field === "" ? at : `${at}.${field}`);
    const content = contentIn(file, dropIn);
    if (content === undefined) return [];
    const name = nameIn(file);
    names.push(name);
    return [given({ name, ...content, mime: mimeIn(file, dropIn), ...read(file, dropIn) })];
  });
}

function isName(name: unknown): boolean {
  const chars = typeof name === "string" ? Array.from(name).length : 0;
  return chars >= 1 && chars <= 1024;
}

/** The end of a name that is too long; where there is none, what the path ends with. */
function nameIn({ name, path }: Members): unknown {
  if (isName(name)) return name;
  const other = typeof name === "string" && name !== "" ? name : typeof path === "string" ? path.split("/").at(-1) : "";
  return (
    Array.from(other ?? "")
      .slice(-1024)
      .join("") || "file"
  );
}

/** Undefined where the file has no content. */
function contentIn({ name, b64, path, s3_ref }: Members, drop: Drop): Members | undefined {
  if (!isName(name)) drop("name");
  if (s3_ref != null) drop("s3_ref");
  if (b64 == null && path == null) return drop("");
  const bytes = b64 == null ? undefined : bytesIn(b64);
  if (bytes !== undefined) {
    if (path != null) drop("path");
    return { b64: bytes };
  }
  if (b64 != null) drop("b64");
  if (path == null) return undefined;
  return isPath(path) ? { path } : drop("path");
}

function artifactIn(file: Members, drop: Drop): Members {
  return {
    description: descriptionIn(file, drop),
    viewer: checked(file, "viewer", (word) => VIEWERS.includes(word as string), drop),
    category: checked(file, "category", (word) => CATEGORIES.includes(word as string), drop),
    auto_open: checked(file, "auto_open", isFlag, drop) ?? false,
  };
}

function deferredIn(file: Members, drop: Drop): Members {
  return {
    description: descriptionIn(file, drop),
    reason: checked(file, "reason", (word) => REASONS.includes(word as string), drop),
    next_actions: actionsIn(file, drop),
    category: checked(file, "category", (word) => CATEGORIES.includes(word as string), drop),
    expires_hours: checked(file, "expires_hours", isHours, drop) ?? 72,
  };
}

function actionsIn(file: Members, drop: Drop): readonly unknown[] | undefined {
  const list = (checked(file, "next_actions", Array.isArray, drop) ?? []) as readonly unknown[];
  const taken: unknown[] = [];
  for (const [index, action] of list.entries()) {
    if (taken.length === 20) {
      drop("next_actions");
      break;
    }
    if (typeof action === "string" && action !== "") taken.push(action);
    else drop(`next_actions[${index}]`);
  }
  return taken.length === 0 ? undefined : taken;
}

function displayIn(display: unknown, names: readonly unknown[], drop: Drop): Members {
  if (display != null && !isObject(display)) drop("display");
  const said = isObject(display) ? display : {};
  const dropIn: Drop = (field) => drop(`display.${field}`);
  return given({
    open_canvas: checked(said, "open_canvas", isFlag, dropIn) ?? false,
    primary_file: checked(said, "primary_file", (name) => names.includes(name), dropIn),
    mode: checked(said, "mode", (word) => ["replace", "append", "split"].includes(word as string), dropIn),
    storage_action:
      checked(
        said,
        "storage_action",
        (word) => ["store", "store_and_open", "temporary"].includes(word as string),
        dropIn,
      ) ?? "store",
  });
}

/** A value that keeps its rule; undefined for none, and for one that does not. */
function checked(object: Members, key: string, holds: (value: unknown) => boolean, drop: Drop): unknown {
  const value = object[key];
  if (value == null) return undefined;
  return holds(value) ? value : drop(key);
}

function descriptionIn(file: Members, drop: Drop): unknown {
  const text = checked(file, "description", isDescription, drop);
  return text === "" ? undefined : text;
}

function mimeIn(file: Members, drop: Drop): unknown {
  const mime = checked(file, "mime", (type) => TYPES.slice(0, 3).includes(type as string), drop);
  return mime === TYPES[1] ? "text/csv; charset=utf-8" : mime;
}

/** The bytes in the standard alphabet, padded; undefined for what is no base64. */
function bytesIn(value: unknown): string | undefined {
  if (typeof value !== "string") return undefined;
  if (value.startsWith("artifact://")) return value;
  const digits = value.replaceAll(/\s/g, "");
  if (/[+/]/.test(digits) && /[-_]/.test(digits)) return undefined;
  const bytes = Buffer.from(digits, "base64");
  const forms = [bytes.toString("base64"), bytes.toString("base64url")];
  const isOne = forms.some((text) => text === digits || text.replace(/=+$/, "") === digits);
  return isOne ? bytes.toString("base64") : undefined;
}

function given(members: Members): Members {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

const isObject = (value: unknown): value is Members =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isDescription = (value: unknown): boolean => typeof value === "string" && value.length <= 2000;
const isFlag = (value: unknown): boolean => typeof value === "boolean";
const isHours = (value: unknown): boolean => Number.isInteger(value) && Number(value) >= 1 && Number(value) <= 8760;
const isPath = (value: unknown): boolean => typeof value === "string" && value.length > 0 && value.length <= 4096;
