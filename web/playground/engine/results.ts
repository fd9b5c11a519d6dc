/**
 * The results of a session, on both sides of the gate. A result is kept in a form that `restore` undoes, so it can be gated again.
 * @module
 */
import {
  type ArtifactScope,
  createSluice,
  type Sluice,
  type SluiceConfig,
  SluiceError,
  type Transformed,
  type TransformOptions,
} from "mcp-sluice";
import type { ToolResult } from "mcp-sluice/tools";
import type { ShownArtifact } from "mcp-sluice/ui";
import type { ShownResult } from "./messages.js";
import type { Session } from "./session.js";

/** Results that are kept; older ones are dropped. */
const MAX_RESULTS = 100;
/** The server and tool name of dropped files. */
const DROPPED = "dropped";

/** The results of a session. */
export class Results {
  readonly #session: Session;
  readonly #kept = new Map<string, StoredResult>();
  #current: Gate | undefined;
  #config: SluiceConfig = {};

  constructor(session: Session) {
    this.#session = session;
  }

  /** Sets the configuration. Throws SluiceError if the core refuses it. */
  async configure(config: SluiceConfig): Promise<void> {
    // The playground sets the retention itself: it also applies to what is already stored.
    if (config.retention !== undefined) {
      throw new SluiceError("E_CONFIG_KEY", "retention is not chosen here: it holds for everything that is stored.", {
        path: "retention",
      });
    }
    this.#current = await this.#gateWith(config);
    this.#config = config;
  }

  /** The current configuration. */
  get config(): SluiceConfig {
    return this.#config;
  }

  /** Keeps a result and returns both sides. `seen` is what the model gets, if it is known. */
  async add(kept: StoredResult, seen?: Transformed): Promise<ShownResult> {
    this.#kept.set(kept.id, kept);
    for (const id of this.#kept.keys()) {
      if (this.#kept.size <= MAX_RESULTS) break;
      this.#kept.delete(id);
    }
    return toShownResult(kept, this.#gate(), seen);
  }

  /** A result in a form that can be cloned; undefined if it is gone. */
  kept(id: string): StoredResult | undefined {
    const found = this.#kept.get(id);
    if (found === undefined) return undefined;
    const { text, refs, artifacts, failures, bytesIn } = found.reduced;
    const reduced = { text, artifacts, failures, bytesIn, ...(refs !== undefined && { refs }) };
    const display = found.filed?.display;
    return { ...found, reduced, ...(found.filed !== undefined && { filed: display === undefined ? {} : { display } }) };
  }

  /** Takes back a result of an earlier visit. */
  adopt(result: StoredResult): void {
    if (!this.#kept.has(result.id)) this.#kept.set(result.id, result);
  }

  /** Gates a file: JSON as the result it contains, anything else as a file that a server sent. */
  async take(file: File, as: "auto" | "file"): Promise<ShownResult> {
    const { resultIn } = await import("./dropped-file.js");
    const kept = { id: crypto.randomUUID(), title: file.name, server: DROPPED, tool: DROPPED };
    return this.gate(await resultIn(file, as), kept);
  }

  /** Gates a result that came as JSON text, as a connected server's is, and keeps it. One pass gives both sides. */
  async gate(json: AsyncIterable<Uint8Array>, kept: Omit<StoredResult, "isError" | "reduced">): Promise<ShownResult> {
    const { tool, server: namespace } = kept;
    const current = this.#gate();
    const { sluice, scope } = current.isDefault ? current : await this.#gateWith({});
    await using stream = sluice.open({ tool, namespace, scope, dialect: "mcp" });
    for await (const piece of json) await stream.write(piece);
    await using gated = await stream.end();
    const reduced = await gated.answer();
    const seen = current.isDefault ? await gated.answer({ dialect: "observation" }) : undefined;
    return await this.add({ ...kept, isError: hasFailed(reduced.text), reduced }, seen);
  }

  /** Both sides of a result, under the current configuration unless another is given. Throws E_EXPIRED. */
  async again(id: string, config?: SluiceConfig): Promise<ShownResult> {
    return toShownResult(this.#find(id), config === undefined ? this.#gate() : await this.#gateWith(config));
  }

  /** The original JSON text of a result. Throws E_EXPIRED. */
  original(id: string): ReadableStream<Uint8Array> {
    return original(this.#find(id), this.#gate());
  }

  /** Drops all results. */
  clear(): void {
    this.#kept.clear();
  }

  async #gateWith(config: SluiceConfig): Promise<Gate> {
    const { store, scope } = this.#session;
    const sluice = await createSluice({ store, config });
    return { sluice, scope, isDefault: Object.keys(config).length === 0 };
  }

  #gate(): Gate {
    if (this.#current === undefined) throw new SluiceError("E_MISUSE", "The engine has not started yet.");
    return this.#current;
  }

  #find(id: string): StoredResult {
    const result = this.#kept.get(id);
    if (result === undefined)
      throw new SluiceError("E_EXPIRED", "The result is no longer stored: call the tool again.");
    return result;
  }
}

/** The type of blocks that link to resources. */
const LINK = "resource_link";

/** A result as it is kept: small, and enough to derive everything else. */
export interface StoredResult {
  readonly id: string;
  readonly title: string;
  readonly server: string;
  readonly tool: string;
  readonly isError: boolean;
  /** In the mcp dialect, under the default configuration. */
  readonly reduced: GateAnswer;
  /** Set for a server that works with My Files. */
  readonly filed?: Pick<ToolResult, "display">;
}

/** The parts of a transformed result that are kept. */
type GateAnswer = Pick<Transformed, "text" | "refs" | "artifacts" | "failures" | "bytesIn">;

/** A Sluice with the current configuration. */
interface Gate {
  readonly sluice: Sluice;
  readonly scope: ArtifactScope;
  /** With the default configuration the kept result need not be gated again. */
  readonly isDefault: boolean;
}

/** Both sides of a result. */
async function toShownResult(kept: StoredResult, gate: Gate, known?: Transformed): Promise<ShownResult> {
  const { id, title, server, isError, filed } = kept;
  const own = filed && (await import("./displays.js")).toShownResult({ ...kept, filed }, gate.sluice);
  if (own !== undefined) return own;
  const reduced = gate.isDefault || !isWhole(kept) ? kept.reduced : await gateResult(kept, gate, "mcp");
  const seen = known ?? (await gateResult(kept, gate, "observation"));
  const links = kept.reduced.text.includes(LINK) ? linksIn(kept) : [];
  return {
    id,
    title,
    server,
    isError,
    reduced: reduced.text,
    ...(reduced.refs !== undefined && { refs: reduced.refs }),
    observation: seen.text,
    artifacts: together(reduced, seen),
    links,
    bytesIn: kept.reduced.bytesIn,
    bytesOut: seen.bytesOut,
    clamped: seen.clamped,
    failures: [...new Set([...kept.reduced.failures, ...seen.failures].map(({ message }) => message))],
  };
}

/** The original of a result, as JSON text. */
function original({ reduced }: StoredResult, { sluice, scope }: Gate): ReadableStream<Uint8Array> {
  const pieces = sluice.restoreStream(reduced.text, { scope })[Symbol.asyncIterator]();
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await pieces.next();
        if (done === true) controller.close();
        else controller.enqueue(value.slice());
      },
      async cancel() {
        await pieces.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}

async function gateResult(kept: StoredResult, gate: Gate, dialect: "mcp" | "observation"): Promise<Transformed> {
  const { sluice, scope } = gate;
  const options: TransformOptions = { tool: kept.tool, namespace: kept.server, scope, dialect };
  const pieces = isWhole(kept) ? sluice.restoreStream(kept.reduced.text, { scope }) : readReducedText(kept);
  return through(sluice, options, pieces);
}

/** Whether everything was stored, so that the original can be restored. */
function isWhole({ reduced }: StoredResult): boolean {
  return reduced.failures.length === 0;
}

/** The kept text of a result that could not be stored completely. */
async function* readReducedText({ reduced }: StoredResult): AsyncIterable<Uint8Array> {
  yield new TextEncoder().encode(reduced.text);
}

/** Sends chunks of JSON text through the gate. */
async function through(
  sluice: Sluice,
  options: TransformOptions,
  pieces: AsyncIterable<Uint8Array>,
): Promise<Transformed> {
  await using stream = sluice.open(options);
  for await (const piece of pieces) await stream.write(piece);
  return await stream.close();
}

function together(...sides: readonly GateAnswer[]): readonly ShownArtifact[] {
  const byId = new Map<string, ShownArtifact>();
  for (const { scope: _, ...artifact } of sides.flatMap(({ artifacts }) => artifacts)) {
    byId.set(artifact.id, byId.get(artifact.id) ?? artifact);
  }
  return [...byId.values()];
}

/** Links per result. */
const MAX_LINKS = 100;
/** Characters of a URI and of its description. */
const [MAX_URI, MAX_SAID] = [8192, 500];

/** The resource links of a result, each URI once, as deferred artifacts. */
export function linksIn({ tool, server, reduced }: Pick<StoredResult, "tool" | "server" | "reduced">): ShownArtifact[] {
  const links = new Map<string, ShownArtifact>();
  for (const block of blocksIn(reduced.text)) {
    if (links.size >= MAX_LINKS) break;
    const { type, uri, name, title, description, mimeType, size } = toObject(block);
    if (type !== "resource_link" || typeof uri !== "string" || uri.length > MAX_URI || links.has(uri)) continue;
    const told = toSentence(description) ?? toSentence(title);
    links.set(uri, {
      id: `link-${links.size + 1}`,
      filename: toSentence(name) ?? uri.slice(0, MAX_SAID),
      mime_type: toSentence(mimeType) ?? null,
      namespace: server,
      ...(typeof size === "number" && { size_bytes: size }),
      source: { tool, uri, ...(told !== undefined && { description: told }) },
      deferred: true,
    });
  }
  return [...links.values()];
}

function blocksIn(text: string): readonly unknown[] {
  try {
    const { content } = toObject(JSON.parse(text));
    return Array.isArray(content) ? content : [];
  } catch {
    return [];
  }
}

/** Whether what was dropped is a result that reports an error, or the error of a JSON-RPC response. */
function hasFailed(text: string): boolean {
  if (!/"(?:isError|error)"/.test(text)) return false;
  try {
    const { jsonrpc, error, result, isError } = toObject(JSON.parse(text));
    return (jsonrpc !== undefined && error !== undefined) || isError === true || toObject(result)["isError"] === true;
  } catch {
    return false;
  }
}

function toSentence(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value.slice(0, MAX_SAID) : undefined;
}

function toObject(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
