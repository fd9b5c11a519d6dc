/**
 * The arguments `filename`, `filenames` and `username` (user storage §3).
 * @module
 */
import { dataUriOf } from "./data-uri.js";
import { SluiceError } from "../errors/error.js";
import { uriIn } from "../mcp/arguments/uri.js";
import type { FileCall, FiledArguments } from "../tools/user-files/handling.js";
import { USERNAME } from "../tools/user-files/username.js";
import { nameShownAs } from "./context.js";
import { notFoundResult, wrongArgumentResult } from "./error-results.js";
import { fileName } from "./file-name.js";
import { nearestNames } from "./nearest-names.js";
import type { UserFile } from "./user-file.js";
import type { UserStorage } from "./user-storage.js";
import type { UserWorkspace } from "./user-workspace.js";

/** Files that one call may name. */
const MAX_FILES = 256;

/** Whose files, and how tools are given them. */
export interface ArgumentTerms {
  readonly storage: UserStorage;
  /** The authenticated identity, as tools are told it. */
  readonly username: string;
  /** Where there is a file system; without one, tools are given data URIs. */
  readonly workspace: UserWorkspace | undefined;
}

type Args = Readonly<Record<string, unknown>>;

/** Puts files in the place of names. A name that there is not is answered, and the call not made. */
export async function fileArguments(args: Args, call: FileCall, terms: ArgumentTerms): Promise<FiledArguments> {
  const { filename, filenames } = args;
  const wrong = wrongIn(filename, filenames);
  if (wrong !== undefined) return { kind: "answer", value: wrongArgumentResult(wrong) };
  const names = [...(isName(filename) ? [filename] : []), ...(isAbsent(filenames) ? [] : (filenames as string[]))];
  const isNamed = call.takesUsername || Object.hasOwn(args, USERNAME);
  const user = isNamed ? { [USERNAME]: terms.username } : {};
  // Where nothing is named nothing is looked for.
  if (names.length === 0) return { kind: "call", args: { ...args, ...user } };
  const files = await terms.storage.list();
  const found = new Map<string, UserFile>();
  for (const name of names) {
    const file = fileOf(name, files);
    if (file === undefined) return { kind: "answer", value: unknownName(name, files) };
    found.set(name, file);
  }
  const given = await handedOver(found, terms, call.signal);
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

/** What each name becomes: a path, or a data URI. Each file is fetched once; an error says what cannot be handed over. */
async function handedOver(
  found: ReadonlyMap<string, UserFile>,
  { storage, workspace }: ArgumentTerms,
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
      const uri = await dataUriOf(file, open, room);
      if (uri instanceof SluiceError) return uri;
      ({ text: handed, room } = uri);
    }
    byFile.set(file.name, handed);
    given.set(name, handed);
  }
  return given;
}

/** By its name, by the name that the session context shows, or by a reference to it. */
function fileOf(name: string, files: readonly UserFile[]): UserFile | undefined {
  const id = uriIn(name)?.id;
  if (id !== undefined) return files.find((file) => file.id === id);
  const wanted = [fileName(name), fileName(nameShownAs(name))];
  for (const each of wanted) {
    const file = files.find((known) => known.name === each);
    if (file !== undefined) return file;
  }
  return undefined;
}

/** What is wrong with the arguments, in words that go on after the name of one. */
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

function unknownName(name: string, files: readonly UserFile[]): ReturnType<typeof notFoundResult> {
  const wanted = fileName(name);
  const names = files.map((file) => file.name);
  return notFoundResult(wanted, nearestNames(wanted, names));
}
