/**
 * The arguments `filename`, `filenames` and `username`.
 * @module
 */
import { SluiceError } from "../errors/error.js";
import { uriIn } from "../mcp/arguments/uri.js";
import { encodeBase64 } from "../artifacts/bytes.js";
import { errorResult, USERNAME, type ErrorResult, type FileCall, type FiledArguments } from "../tools/user-files.js";
import { MAX_MESSAGE } from "../jsonrpc/limits.js";
import { nameShownAs } from "./context.js";
import { fileName, nearestNames } from "./names.js";
import type { UserWorkspace } from "./options.js";
import type { UserFile } from "./user-file.js";
import type { UserStorage } from "./user-storage.js";

/** Most files of one call. */
const MAX_FILES = 256;

interface ArgumentDeps {
  readonly storage: UserStorage;
  /** The authenticated user, as tools see it. */
  readonly username: string;
  /** The user's folder. Without one, tools get data URIs. */
  readonly workspace: UserWorkspace | undefined;
}

type Args = Readonly<Record<string, unknown>>;

/** The arguments to call with, or an answer in place of the call and the name that was not found. */
type NamedArguments =
  | Extract<FiledArguments, { readonly kind: "call" }>
  | (Extract<FiledArguments, { readonly kind: "answer" }> & { readonly missing?: string });

/** Replaces names by files. An unknown name is answered, and the tool is not called. */
export async function fileArguments(args: Args, call: FileCall, deps: ArgumentDeps): Promise<NamedArguments> {
  const { filename, filenames } = args;
  const wrong = wrongIn(filename, filenames);
  if (wrong !== undefined) return { kind: "answer", value: wrongArgumentResult(wrong) };
  const names = [...(isName(filename) ? [filename] : []), ...(isAbsent(filenames) ? [] : (filenames as string[]))];
  const isNamed = call.takesUsername || Object.hasOwn(args, USERNAME);
  const user = isNamed ? { [USERNAME]: deps.username } : {};
  if (names.length === 0) return { kind: "call", args: { ...args, ...user } };
  const found = new Map<string, UserFile>();
  for (const name of names) {
    const file = await findFile(name, deps.storage);
    if (file === null) {
      return { kind: "answer", value: unknownName(name, await deps.storage.list()), missing: fileName(name) };
    }
    found.set(name, file);
  }
  const given = await handOver(found, deps, call.signal);
  if (given instanceof SluiceError) return { kind: "answer", value: wrongArgumentResult(given.message) };
  return {
    kind: "call",
    args: {
      ...args,
      ...user,
      ...(isName(filename) && { filename: given.get(filename) }),
      ...(Array.isArray(filenames) && { filenames: (filenames as string[]).map((name) => given.get(name)) }),
    },
  };
}

/** The path or data URI for each name. Fetches each file once. Returns an error for a file that is too large. */
async function handOver(
  found: ReadonlyMap<string, UserFile>,
  { storage, workspace }: ArgumentDeps,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string> | SluiceError> {
  const given = new Map<string, string>();
  const byFile = new Map<string, string>();
  let room = undefined as number | undefined;
  for (const [name, file] of found) {
    signal.throwIfAborted();
    const open = (): Promise<ReadableStream<Uint8Array>> => storage.open(file);
    let handed = byFile.get(file.name);
    if (handed === undefined && workspace !== undefined) handed = await workspace.input(file, open, signal);
    if (handed === undefined) {
      const uri = await toDataUri(file, open, room);
      if (uri instanceof SluiceError) return uri;
      ({ text: handed, room } = uri);
    }
    byFile.set(file.name, handed);
    given.set(name, handed);
  }
  return given;
}

/** Finds a file by its name, by the name that the file context shows, or by a reference. */
async function findFile(name: string, storage: UserStorage): Promise<UserFile | null> {
  const id = uriIn(name)?.id;
  if (id !== undefined) return storage.findArtifact(id);
  const file = await storage.find(name);
  const meant = nameShownAs(name);
  return file === null && meant !== name ? storage.find(meant) : file;
}

/** What is wrong with the arguments, as a sentence. */
function wrongIn(filename: unknown, filenames: unknown): string | undefined {
  if (!isAbsent(filename) && typeof filename !== "string") return "filename must be the name of a file.";
  if (isAbsent(filenames)) return undefined;
  if (!Array.isArray(filenames) || filenames.some((name) => typeof name !== "string")) {
    return "filenames must be a list of names of files.";
  }
  return filenames.length > MAX_FILES ? `filenames must have at most ${MAX_FILES} names.` : undefined;
}

function isName(filename: unknown): filename is string {
  return typeof filename === "string" && filename !== "";
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null || value === "";
}

function unknownName(name: string, files: readonly UserFile[]): ErrorResult {
  const wanted = fileName(name);
  const names = files.map((file) => file.name);
  return notFoundResult(wanted, nearestNames(wanted, names));
}

/** A file as a data URI, and the characters that remain for other files of the call. */
interface DataUri {
  readonly text: string;
  readonly room: number;
}

const FIT = /^[\w.+-]+\/[\w.+-]+$/;

/** `data:text/csv;base64,…` (RFC 2397). Returns an error for a file that is too large. */
async function toDataUri(
  { name, mime_type, size_bytes }: UserFile,
  open: () => Promise<ReadableStream<Uint8Array>>,
  room: number = MAX_MESSAGE,
): Promise<DataUri | SluiceError> {
  const length = Math.ceil(size_bytes / 3) * 4;
  if (length > room) {
    const most = `${MAX_MESSAGE / 1024 / 1024} MiB`;
    return new SluiceError(
      "E_TOO_LARGE",
      `${JSON.stringify(name)} is too large to pass as text: all files of a call together may have at most ${most}.`,
    );
  }
  const bytes = new Uint8Array(await new Response(await open()).arrayBuffer());
  const type = mime_type !== null && FIT.test(mime_type) ? mime_type : "application/octet-stream";
  return { text: `data:${type};base64,${encodeBase64(bytes)}`, room: room - length };
}

/** The answer for an unknown name: E_NOT_FOUND, with the names that were probably meant. */
function notFoundResult(name: string, closest: readonly string[]): ErrorResult {
  return errorResult(`There is no file ${JSON.stringify(name)}`, "FileNotFound", "E_NOT_FOUND", {
    filename: name,
    closest,
    suggestion: closest.length > 0 ? "Use one of the closest names" : "Use the name of an available file",
  });
}

/** The answer for an invalid argument: E_INVALID_ARGUMENT. */
function wrongArgumentResult(sentence: string): ErrorResult {
  return errorResult(sentence, "InvalidArgument", "E_INVALID_ARGUMENT", {
    suggestion: "Use the names of available files",
  });
}
