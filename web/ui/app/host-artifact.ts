/**
 * An artifact as an MCP host passes it on: what it is, its bytes, and pages of it, each read as a resource of the server behind the host.
 * @module
 */
import type { App } from "@modelcontextprotocol/ext-apps";
import type { ByteRange } from "mcp-sluice";
import type { ArtifactBytes, ShownArtifact } from "../shown.js";
import { PreviewProblem } from "../viewer/preview.js";

/** Bytes of a part, which travel as base64 in one message. */
const PART = 1024 ** 2;

/** The name under which our server says what an artifact is. */
const META = "sluice/artifact";

/** What a host says of a resource. */
type Content = Awaited<ReturnType<App["readServerResource"]>>["contents"][number];

/** An artifact behind a host. */
export class HostArtifact implements ArtifactBytes {
  /** `artifact://ID`. */
  readonly uri: string;
  /** What the elements show. */
  readonly shown: ShownArtifact;
  readonly #app: App;
  /** All bytes, if the first answer had them. */
  readonly #whole: Uint8Array | undefined;

  private constructor(app: App, uri: string, shown: ShownArtifact, whole: Uint8Array | undefined) {
    this.#app = app;
    this.uri = uri;
    this.shown = shown;
    this.#whole = whole;
  }

  /** Asks what an artifact is. Throws a `PreviewProblem`. */
  static async open(app: App, uri: string): Promise<HostArtifact> {
    const content = await read(app, uri);
    const { _meta: meta } = content;
    const told = (meta?.[META] ?? {}) as Partial<ShownArtifact>;
    const shown: ShownArtifact = { ...told, id: told.id ?? uri.slice("artifact://".length) };
    const bytes = "blob" in content ? decodeBase64(content.blob) : undefined;
    return new HostArtifact(app, uri, shown, bytes?.length === shown.size_bytes ? bytes : undefined);
  }

  /** All bytes or a range. A stream that reads part after part fails with a `PreviewProblem`. */
  async open({ start, end = Infinity }: ByteRange = { start: 0 }): Promise<ReadableStream<Uint8Array>> {
    const last = Math.min(end, this.shown.size_bytes ?? Infinity);
    const whole = this.#whole;
    let at = start;
    return new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        if (at >= last) return controller.close();
        const part = whole?.slice(at, last) ?? (await this.#part(at, Math.min(last, at + PART)));
        at += part.length;
        if (part.length === 0) return controller.close();
        controller.enqueue(part);
      },
    });
  }

  /** A page of a PDF as a picture, as a `data:` URL. Throws a `PreviewProblem`. */
  async picture(page: number): Promise<string> {
    const content = await read(this.#app, `${this.uri}?pages=${page}&as=image`);
    if (!("blob" in content)) throw new PreviewProblem("The server sent no picture of the page.", "source");
    return `data:${content.mimeType ?? "image/png"};base64,${content.blob}`;
  }

  /** The text of a page of a document. Throws a `PreviewProblem`. */
  async text(page: number): Promise<string> {
    const content = await read(this.#app, `${this.uri}?pages=${page}`);
    return "text" in content ? content.text : "";
  }

  async #part(start: number, end: number): Promise<Uint8Array> {
    const content = await read(this.#app, `${this.uri}?bytes=${start}-${end - 1}`);
    return "blob" in content ? decodeBase64(content.blob) : new TextEncoder().encode(content.text);
  }
}

/** The only content of a resource. */
async function read(app: App, uri: string): Promise<Content> {
  if (app.getHostCapabilities()?.serverResources === undefined) {
    throw new PreviewProblem(
      "This host lets no app read what the server stored: ask for the file in the chat instead.",
      "none",
    );
  }
  try {
    const { contents } = await app.readServerResource({ uri });
    const [content] = contents;
    if (content !== undefined) return content;
  } catch (cause) {
    throw new PreviewProblem(describeError(cause), isGone(cause) ? "none" : "retry", { cause });
  }
  throw new PreviewProblem("The host answered without content.", "retry");
}

/** Codes of an error for a resource that is not there, of both revisions of MCP. */
const GONE: readonly unknown[] = [-32002, -32602];

function isGone(error: unknown): boolean {
  return GONE.includes((error as { readonly code?: unknown } | null)?.code);
}

/** Our server's sentences say what to do; the SDK puts the number of the error before them. */
function describeError(error: unknown): string {
  const text = error instanceof Error ? error.message.replace(/^MCP error -?\d+: /, "").trim() : "";
  return text === "" ? "The host could not read it." : text;
}

function decodeBase64(base64: string): Uint8Array {
  const binary = atob(base64);
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; at += 1) bytes[at] = binary.charCodeAt(at);
  return bytes;
}
