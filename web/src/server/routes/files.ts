/**
 * `/files`: the user's files.
 * @module
 */
import { Hono } from "hono";
import { z } from "zod";
import { isArtifactId } from "../../artifacts/reference.js";
import type { FullScope } from "../../artifacts/scope.js";
import { groupDigits } from "../../core/amounts.js";
import { SluiceError } from "../../errors/error.js";
import type { UserFile } from "../../files/user-file.js";
import type { UserFiles } from "../../files/user-files.js";
import type { UserStorage } from "../../files/user-storage.js";
import { artifactHandler, type SeenArtifacts } from "../artifacts/handler.js";
import { PAGE } from "../artifacts/page.js";
import { inSteps, inStoreTime, limitStore, type StoreTimeouts } from "../http/time-limit.js";
import { BodyRefused, MAX_FILENAME } from "../http/request.js";
import { emptyAnswer, jsonAnswer, notFound } from "../http/answers.js";
import { nothingThere, sessionRefused } from "../http/refusals.js";
import type { Announcer } from "../sessions/announcer.js";
import { toOwner, toScope } from "../session.js";
import type { SessionRegister } from "../sessions/session-register.js";
import type { SessionWork } from "../sessions/session-work.js";
import type { InSession, ServeEnv } from "../http/context.js";
import {
  answerBytes,
  answerJson,
  answerEmpty,
  declareOperation,
  mountRoutes,
  UPLOAD,
  type Upload,
} from "../http/operation.js";
import { BYTES_ASKED, BYTES_HEADERS, FILE, ID, STORED } from "../schemas.js";

const FILENAME = z.string().min(1).max(MAX_FILENAME);
const PUT = z.object({ filename: FILENAME.describe("The file's name.") });
const PATCH = z.strictObject({ filename: FILENAME });
/** A page has all files of most users. */
const LIST = z.object({
  limit: z.coerce.number().int().min(1).max(PAGE.most).default(PAGE.most).describe("Most files of the page."),
  after: FILENAME.optional().describe("The `next` of the page before."),
});
const LISTED = z.object({
  files: z.array(FILE).describe("By name."),
  next: z.string().optional().describe("What the next page begins after. Left out on the last page."),
});
const ONE = z.object({ file: FILE });
const VERSIONS = z.object({ versions: z.array(FILE).describe("Newest first.") });
const PATH = z.object({ id: ID });
const READ = z.object({
  download: z.string().optional().describe("Saves the bytes instead of showing them; `0` and `false` do not."),
});

/** Users' files and how they are served. */
export interface ServedFiles {
  readonly userFiles: UserFiles;
  /** Most bytes of a file. */
  readonly maxBytes: number;
  /** Whether files outlive their session. */
  readonly isLasting: boolean;
}

interface FileRouteDeps extends StoreTimeouts {
  /** Null if the server keeps none. */
  readonly files: ServedFiles | null;
  readonly state: { readonly sessions: Pick<SessionRegister, "find"> };
  readonly limits: StoreTimeouts["limits"] & { readonly bodySeconds: number };
  /** Begins and ends with `/`. */
  readonly base: string;
  readonly seen: SeenArtifacts;
  readonly sessionWork: Pick<SessionWork, "upload">;
  readonly announcer: Pick<Announcer, "tell">;
  /** Receives failures that no client sees. Must not throw. */
  readonly report: (error: unknown) => void;
}

/** Routes for the files of the session's user; none if the server keeps no files. */
export function fileRoutes(deps: FileRouteDeps): Hono<ServeEnv> {
  if (deps.files === null) return new Hono<ServeEnv>().all("*", nothingThere);
  const routes = new FileRoutes(deps, deps.files);
  return mountRoutes({
    "/": {
      get: declareOperation({
        id: "listFiles",
        summary: "List the user's files",
        query: LIST,
        answers: { 200: answerJson(LISTED, "A page of files, each as its newest version is.") },
        handle: (c, { query }) => routes.list(c, query),
      }),
      post: declareOperation({
        id: "uploadFile",
        summary: "Store a file, or a new version of one",
        description: "The body is the bytes. `Content-Type` says what they are; without one it is found out.",
        query: PUT,
        body: UPLOAD,
        answers: { 201: answerJson(ONE, "It is stored.", { Location: "The file's address." }) },
        refusals: [507],
        handle: (c, { query, body }) => routes.put(c, query, body),
      }),
    },
    "/:id": {
      get: declareOperation({
        id: "readFile",
        summary: "Download a file",
        description: "The bytes, streamed. Whatever they are, they run nothing and reach no network.",
        path: PATH,
        query: READ,
        headers: BYTES_ASKED,
        answers: {
          200: answerBytes("All bytes.", BYTES_HEADERS),
          206: answerBytes("The range of bytes.", { ...BYTES_HEADERS, "Content-Range": "Which bytes of how many." }),
          304: answerEmpty("The bytes have an entity tag of `If-None-Match`."),
        },
        refusals: [404, 410, 412, 416],
        handle: (c) => routes.serve(c),
      }),
      patch: declareOperation({
        id: "renameFile",
        summary: "Rename a file",
        path: PATH,
        body: PATCH,
        answers: { 200: answerJson(ONE, "The file, with its new name.") },
        refusals: [404],
        handle: (c, { path, body }) => routes.rename(c, path.id, body.filename),
      }),
      delete: declareOperation({
        id: "deleteFile",
        summary: "Delete a file with all of its versions",
        path: PATH,
        answers: { 204: answerEmpty("It is deleted.") },
        refusals: [404],
        handle: (c, { path }) => routes.remove(c, path.id),
      }),
    },
    "/:id/meta": {
      get: declareOperation({
        id: "describeFile",
        summary: "Show what is known of a file",
        path: PATH,
        answers: { 200: answerJson(STORED, "The reference.") },
        refusals: [404, 410],
        handle: (c) => routes.serve(c),
      }),
    },
    "/:id/versions": {
      get: declareOperation({
        id: "listFileVersions",
        summary: "List the versions of a file",
        path: PATH,
        answers: { 200: answerJson(VERSIONS, "Every version.") },
        refusals: [404],
        handle: (c, { path }) => routes.versions(c, path.id),
      }),
    },
  });
}

interface OneFile {
  readonly file: UserFile;
}

interface GivenList {
  readonly files: readonly UserFile[];
  readonly next?: string;
}

class FileRoutes {
  readonly #deps: FileRouteDeps;
  readonly #files: ServedFiles;

  constructor(deps: FileRouteDeps, files: ServedFiles) {
    this.#deps = deps;
    this.#files = files;
  }

  async list(c: InSession, { limit, after }: z.output<typeof LIST>): Promise<GivenList> {
    const all = await inStoreTime(this.#deps, this.#storage(c).list());
    // Pages go by name, so that renaming or deleting a file does not move the others.
    const behind = after === undefined ? all : all.filter(({ name }) => name > after);
    const files = behind.slice(0, limit);
    const last = files.at(-1);
    return { files, ...(behind.length > limit && last !== undefined && { next: last.name }) };
  }

  async put(c: InSession, { filename }: z.output<typeof PUT>, body: Upload): Promise<Response> {
    const { limits, sessionWork, base } = this.#deps;
    const mime_type = body.type;
    using upload = sessionWork.upload(c.get("session").id);
    const pieces = body.pieces({
      maxBytes: this.#files.maxBytes,
      idleSeconds: limits.bodySeconds,
      signal: upload.signal,
    });
    const storage = this.#storage(c);
    try {
      const put = (watched: AsyncIterable<Uint8Array>): Promise<UserFile> =>
        storage.put(filename, watched, { mime_type });
      const file = await inSteps(pieces, put, limits.storeSeconds * 1000);
      if (await this.#isOver(c)) {
        await storage.remove(file.name);
        return sessionRefused();
      }
      await this.#tell(c);
      const stored: OneFile = { file };
      return jsonAnswer(stored, 201, { Location: `${base}files/${file.id}` });
    } catch (error) {
      if (upload.signal.aborted) return sessionRefused();
      throw error instanceof BodyRefused && error.status === 413 ? tooLarge(this.#files.maxBytes) : error;
    }
  }

  /** Whether the session ended, in any process, and its files with it. What was stored since has to be deleted. */
  async #isOver(c: InSession): Promise<boolean> {
    return !this.#files.isLasting && (await this.#deps.state.sessions.find(c.get("session").id)) === null;
  }

  async serve(c: InSession): Promise<Response> {
    const { base, seen, report } = this.#deps;
    const store = limitStore(this.#deps, this.#files.userFiles.store);
    const handle = artifactHandler({ store, scope: this.#scope(c), base, folder: "files/", seen, onError: report });
    return (await handle(c.req.raw)) ?? nothingThere();
  }

  async rename(c: InSession, id: string, filename: string): Promise<OneFile | Response> {
    return this.#withFile(c, id, async (storage, { name }) => {
      const file = await storage.rename(name, filename);
      await this.#tell(c);
      return { file };
    });
  }

  async remove(c: InSession, named: string): Promise<Response> {
    return this.#withFile(c, named, async (storage, { name, id }) => {
      if (!(await storage.remove(name))) return notFound();
      await this.#deps.seen.add(id, this.#scope(c));
      await this.#tell(c);
      return emptyAnswer();
    });
  }

  async versions(c: InSession, id: string): Promise<{ readonly versions: readonly UserFile[] } | Response> {
    return this.#withFile(c, id, async (storage, { name }) => ({ versions: await storage.versions(name) }));
  }

  /** Finds a file by the id of its newest version, as listed. */
  #withFile<T>(
    c: InSession,
    id: string,
    work: (storage: UserStorage, file: UserFile) => Promise<T>,
  ): Promise<T | Response> {
    const findFile = async (): Promise<T | Response> => {
      const storage = this.#storage(c);
      const file = isArtifactId(id) ? await storage.findArtifact(id) : null;
      return file === null ? notFound() : work(storage, file);
    };
    return inStoreTime(this.#deps, findFile());
  }

  #storage(c: InSession): UserStorage {
    return this.#files.userFiles.storage(this.#scope(c));
  }

  #scope(c: InSession): FullScope {
    const session = c.get("session");
    return this.#files.isLasting ? toOwner(session.identity) : toScope(session);
  }

  #tell(c: InSession): Promise<void> {
    return this.#deps.announcer.tell(c.get("session").id, { kind: "files_changed" });
  }
}

/** The error that tools' files get too. */
function tooLarge(most: number): SluiceError {
  return new SluiceError(
    "E_FILE_TOO_LARGE",
    `The file has more than ${groupDigits(most)} bytes, the limit here: make a smaller one.`,
  );
}
