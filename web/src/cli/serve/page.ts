/**
 * The playground: a folder of files that is served as a site.
 * @module
 */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { Readable } from "node:stream";
import { Hono } from "hono";
import { compress } from "hono/compress";
import { getMimeType } from "hono/utils/mime";
import { judgeConditions } from "../../server/artifacts/bytes.js";

/** Tells the page where its server is. */
const META = '<meta name="sluice-server" content="./" />';

const INDEX = "index.html";

/** Files whose names change with their content. */
const HASHED = /^assets\//;

const HEADERS = { "Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff" };

/** The page must not be framed. The rest of its policy is in its HTML. */
const PAGE = { "Content-Security-Policy": "frame-ancestors 'none'" };

interface SiteFile {
  readonly path: string;
  readonly size: number;
  readonly type: string;
  /** Replaces the content of the file. */
  readonly content?: Uint8Array;
}

/** A site with a fixed list of files. Nothing else is served, whatever the path. */
export class Page {
  readonly #files: ReadonlyMap<string, SiteFile>;
  readonly #tags = new Map<string, Promise<string>>();
  /** Text and WebAssembly go gzipped to who takes that. */
  readonly #app = new Hono().use(compress()).all("*", ({ req }) => this.#answerWhole(req.raw));

  private constructor(files: ReadonlyMap<string, SiteFile>) {
    this.#files = files;
  }

  /** Opens the site in a folder; null if there is none. */
  static async open(folder: string): Promise<Page | null> {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
    const files = new Map<string, SiteFile>();
    for (const entry of entries.filter((each) => each.isFile())) {
      const path = join(entry.parentPath, entry.name);
      const name = relative(folder, path).split(sep).join("/");
      files.set(name, await fileAt(path, name));
    }
    return files.has(INDEX) ? new Page(files) : null;
  }

  /** Whether a path is that of a file; `path` begins with `/`. */
  has(path: string): boolean {
    return this.#files.has(toName(path));
  }

  /** Answers `GET` and `HEAD` of a file, compressed where that helps. */
  async answer(request: Request): Promise<Response> {
    return this.#app.fetch(request);
  }

  async #answerWhole({ method, url, headers }: Request): Promise<Response> {
    const name = toName(new URL(url).pathname);
    const file = this.#files.get(name);
    if (file === undefined) return new Response(null, { status: 404, headers: HEADERS });
    const tag = await this.#makeTag(name, file);
    const said = {
      ...HEADERS,
      ...(file.type.startsWith("text/html") && PAGE),
      ETag: tag,
      "Cache-Control": HASHED.test(name) ? "public, max-age=31536000, immutable" : "no-cache",
    };
    if (judgeConditions(headers, tag) === "not_modified") return new Response(null, { status: 304, headers: said });
    const whole = { ...said, "Content-Type": file.type, "Content-Length": String(file.size) };
    return new Response(method === "HEAD" ? null : openBody(file), { headers: whole });
  }

  /** A hash of the content: in packages all files have the same date. */
  #makeTag(name: string, file: SiteFile): Promise<string> {
    let tag = this.#tags.get(name);
    if (tag === undefined) {
      tag = hashFile(file);
      this.#tags.set(name, tag);
      tag.catch(() => this.#tags.delete(name));
    }
    return tag;
  }
}

function toName(path: string): string {
  return path === "/" ? INDEX : path.slice(1);
}

async function fileAt(path: string, name: string): Promise<SiteFile> {
  const type = getMimeType(name) ?? "application/octet-stream";
  if (name !== INDEX) return { path, type, size: (await stat(path)).size };
  const html = (await readFile(path, "utf8")).replace("</head>", `${META}</head>`);
  const content = new TextEncoder().encode(html);
  return { path, type, size: content.byteLength, content };
}

async function hashFile({ path, content }: SiteFile): Promise<string> {
  const digest = createHash("sha256").update(content ?? (await readFile(path)));
  return `"${digest.digest("hex").slice(0, 32)}"`;
}

function openBody({ path, content }: SiteFile): BodyInit {
  return (content as BodyInit | undefined) ?? (Readable.toWeb(createReadStream(path)) as ReadableStream<Uint8Array>);
}
