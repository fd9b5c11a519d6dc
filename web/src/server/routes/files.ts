/**
 * `/files`: the user's files.
 * @module
 */
import { Hono } from "hono";
import { z } from "zod";
import { isArtifactId } from "../../artifacts/reference.js";
import type { FullScope } from "../../artifacts/scope.js";
import { grouped } from "../../core/amounts.js";
import { SluiceError } from "../../errors/error.js";
import type { UserFile } from "../../files/user-file.js";
import type { UserStorage } from "../../files/user-storage.js";
import { artifactHandler } from "../artifacts/handler.js";
import { PAGE } from "../artifacts/page.js";
import { inSteps, inStoreTime, limitedStore } from "../http/time-limit.js";
import { BodyRefused, declaredType, MAX_FILENAME, readJson, readQuery, uploadedPieces } from "../http/request.js";
import { emptyAnswer, jsonAnswer, notFound } from "../http/answers.js";
import { nothingThere, sessionRefused } from "../http/refusals.js";
import { ownerOf, scopeOf } from "../sessions/session.js";
import type { InSession, ServedFiles, ServeEnv, ServeDeps } from "../deps.js";
import { routesOf } from "./path-methods.js";

const FILENAME = z.string().min(1).max(MAX_FILENAME);
const PUT = z.object({ filename: FILENAME });
const PATCH = z.strictObject({ filename: FILENAME });
/** A page has all files of most users. */
const LIST = z.object({
  limit: z.coerce.number().int().min(1).max(PAGE.most).default(PAGE.most),
  after: FILENAME.optional(),
});

/** Routes for the files of the session's user; none if the server keeps no files. */
export function fileRoutes(deps: ServeDeps): Hono<ServeEnv> {
  if (deps.files === null) return new Hono<ServeEnv>().all("*", nothingThere);
  const routes = new FileRoutes(deps, deps.files);
  return routesOf({
    "/": { get: (c) => routes.list(c), post: (c) => routes.put(c) },
    "/:id": { get: (c) => routes.serve(c), patch: (c) => routes.rename(c), delete: (c) => routes.remove(c) },
    "/:id/meta": { get: (c) => routes.serve(c) },
    "/:id/versions": { get: (c) => routes.versions(c) },
  });
}

class FileRoutes {
  readonly #deps: ServeDeps;
  readonly #files: ServedFiles;

  constructor(deps: ServeDeps, files: ServedFiles) {
    this.#deps = deps;
    this.#files = files;
  }

  async list(c: InSession): Promise<Response> {
    const { limit, after } = readQuery(c.req.raw, LIST);
    const all = await inStoreTime(this.#deps, this.#storage(c).list());
    // Pages go by name, so that renaming or deleting a file does not move the others.
    const behind = after === undefined ? all : all.filter(({ name }) => name > after);
    const files = behind.slice(0, limit);
    const last = files.at(-1);
    return jsonAnswer({ files, ...(behind.length > limit && last !== undefined && { next: last.name }) });
  }

  async put(c: InSession): Promise<Response> {
    const { limits, sessionWork, base } = this.#deps;
    const request = c.req.raw;
    const { filename } = readQuery(request, PUT);
    const mime_type = declaredType(request);
    using upload = sessionWork.upload(c.get("session").id);
    const pieces = uploadedPieces(request, {
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
      return jsonAnswer({ file }, 201, { Location: `${base}files/${file.id}` });
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
    const store = limitedStore(this.#deps, this.#files.userFiles.store);
    const handle = artifactHandler({ store, scope: this.#scope(c), base, folder: "files/", seen, onError: report });
    return (await handle(c.req.raw)) ?? nothingThere();
  }

  async rename(c: InSession): Promise<Response> {
    const { filename } = await readJson(c.req.raw, PATCH);
    return this.#withFile(c, async (storage, { name }) => {
      const file = await storage.rename(name, filename);
      await this.#tell(c);
      return jsonAnswer({ file });
    });
  }

  async remove(c: InSession): Promise<Response> {
    return this.#withFile(c, async (storage, { name, id }) => {
      if (!(await storage.remove(name))) return notFound();
      await this.#deps.seen.add(id, this.#scope(c));
      await this.#tell(c);
      return emptyAnswer();
    });
  }

  async versions(c: InSession): Promise<Response> {
    return this.#withFile(c, async (storage, { name }) => jsonAnswer({ versions: await storage.versions(name) }));
  }

  /** Finds a file by the id of its newest version, as listed. */
  #withFile(c: InSession, work: (storage: UserStorage, file: UserFile) => Promise<Response>): Promise<Response> {
    const found = async (): Promise<Response> => {
      const id = c.req.param("id");
      const storage = this.#storage(c);
      const file = isArtifactId(id) ? await storage.findArtifact(id) : null;
      return file === null ? notFound() : work(storage, file);
    };
    return inStoreTime(this.#deps, found());
  }

  #storage(c: InSession): UserStorage {
    return this.#files.userFiles.storage(this.#scope(c));
  }

  #scope(c: InSession): FullScope {
    const session = c.get("session");
    return this.#files.isLasting ? ownerOf(session.identity) : scopeOf(session);
  }

  #tell(c: InSession): Promise<void> {
    return this.#deps.announcer.tell(c.get("session").id, { kind: "files_changed" });
  }
}

/** The error that tools' files get too. */
function tooLarge(most: number): SluiceError {
  return new SluiceError(
    "E_FILE_TOO_LARGE",
    `The file has more than ${grouped(most)} bytes, the limit here: make a smaller one.`,
  );
}
