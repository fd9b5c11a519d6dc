/**
 * The files of a result: found, checked all together, then stored (user storage §6, §7).
 * @module
 */
import type { ArtifactScope, ArtifactStore } from "../artifacts/store.js";
import type { Uploaded } from "../artifacts/scoped.js";
import type { ContractArtifact, DeferredArtifact } from "../core/contract-shape.js";
import type { AnswerRef } from "../core/sluice.js";
import { SluiceError } from "../errors/error.js";
import { uriIn } from "../mcp/arguments/uri.js";
import type { OutputFile, UserWorkspace } from "./user-workspace.js";
import { fileName } from "./file-name.js";
import { FileTooLargeError, InvalidPathError } from "./workspace/errors.js";

/** Where the bytes of files are. */
export interface SourceTerms {
  /** What the gate stored of this result, and of no other. */
  readonly artifacts: readonly AnswerRef[];
  readonly store: ArtifactStore;
  readonly scope: ArtifactScope;
  /** Left out where there is no file system. */
  readonly workspace: UserWorkspace | undefined;
  /** Bytes that a file may have. */
  readonly maxBytes: number;
}

/** What is allowed where there is no folder of a user's own. */
const NO_WORKSPACE = "/tmp/{username}/";

/** A file of a result, and its bytes. */
export interface FoundFile {
  readonly said: ContractArtifact | DeferredArtifact;
  readonly size_bytes: number;
  readonly open: () => Promise<Uploaded>;
}

/** All files of a result, open until it is disposed of. */
export interface FoundFiles extends AsyncDisposable {
  readonly files: readonly FoundFile[];
}

/**
 * Finds the bytes of all files, and reads none: where one of them is refused, none of them is stored.
 *
 * @throws InvalidPathError, FileTooLargeError; SluiceError E_TOOL_CONTRACT where a reference is none of this result, and where two
 * files would be kept by one name.
 */
export async function foundFiles(
  said: readonly (ContractArtifact | DeferredArtifact)[],
  terms: SourceTerms,
): Promise<FoundFiles> {
  checkNames(said);
  const open: AsyncDisposable[] = [];
  const close = async (): Promise<void> => {
    for (const each of open.splice(0)) await each[Symbol.asyncDispose]();
  };
  try {
    const files: FoundFile[] = [];
    for (const each of said) {
      const { path } = each;
      files.push(path === undefined ? inline(each, terms) : await atPath(each, path, open, terms));
    }
    return { files, [Symbol.asyncDispose]: close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Each would be a newer version of the one before: a single result could push a user's own file out of its versions. */
function checkNames(said: readonly FoundFile["said"][]): void {
  const names = new Set<string>();
  for (const each of said) {
    const name = fileName(each.name);
    if (names.has(name)) throw twice(name);
    names.add(name);
  }
}

async function atPath(
  said: FoundFile["said"],
  path: string,
  open: AsyncDisposable[],
  { workspace, maxBytes }: SourceTerms,
): Promise<FoundFile> {
  // Where there are no files, no path leads to one.
  if (workspace === undefined) throw new InvalidPathError(path, NO_WORKSPACE, "outside");
  const file = await opened(workspace, path, said.name);
  if (file instanceof SluiceError) return { said, size_bytes: 0, open: () => Promise.reject(file) };
  open.push(file);
  if (file.size_bytes > maxBytes) throw new FileTooLargeError(file.size_bytes, maxBytes);
  return { said, size_bytes: file.size_bytes, open: async () => file.stream() };
}

/** A tool may speak of a file that it did not write: that one is told as missing, and costs the others nothing. */
async function opened(workspace: UserWorkspace, path: string, name: string): Promise<OutputFile | SluiceError> {
  try {
    return await workspace.openOutput(path);
  } catch (error) {
    if (!(error instanceof SluiceError) || error.code !== "E_NOT_FOUND") throw error;
    const shown = JSON.stringify(fileName(name));
    return new SluiceError("E_NOT_FOUND", `The tool names the file ${shown}, and there is none where it says.`);
  }
}

function inline(said: FoundFile["said"], { artifacts, store, scope, maxBytes }: SourceTerms): FoundFile {
  const b64 = "b64" in said ? (said.b64 ?? "") : "";
  if (!b64.startsWith("artifact://")) {
    const bytes = Uint8Array.from(atob(b64), (char) => char.charCodeAt(0));
    if (bytes.length > maxBytes) throw new FileTooLargeError(bytes.length, maxBytes);
    return { said, size_bytes: bytes.length, open: async () => bytes };
  }
  const id = uriIn(b64)?.id;
  const ref = artifacts.find((each) => each.id === id);
  if (ref === undefined) throw foreign(said.name);
  if (ref.size_bytes > maxBytes) throw new FileTooLargeError(ref.size_bytes, maxBytes);
  return { said, size_bytes: ref.size_bytes, open: () => stored(ref, store, scope) };
}

async function stored(ref: AnswerRef, store: ArtifactStore, scope: ArtifactScope): Promise<ReadableStream<Uint8Array>> {
  const stream = ref.source["truncated"] === true ? null : await store.openReader(ref.id, { scope });
  if (stream !== null) return stream;
  throw new SluiceError("E_STORE_READ", "A file of the result was not stored: see what else failed, then call again.");
}

function twice(name: string): SluiceError {
  const shown = JSON.stringify(name.slice(0, 100));
  return new SluiceError("E_TOOL_CONTRACT", `Two files of the result come to the name ${shown}: call each otherwise.`);
}

/** Text from a server grants nothing: a reference counts only where the gate made it of this very result. */
function foreign(name: string): SluiceError {
  const shown = JSON.stringify(name.slice(0, 100));
  return new SluiceError("E_TOOL_CONTRACT", `The file ${shown} has a reference in place of bytes: give b64 or path.`);
}
