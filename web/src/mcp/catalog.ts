/**
 * What a server's lists told of its tools.
 * @module
 */
import { SluiceError } from "../errors/error.js";
import { objectOr, stringOr } from "./rpc.js";

/** What matters of a tool. */
export interface ListedTool {
  readonly name: string;
  readonly inputSchema: unknown;
  readonly meta: Readonly<Record<string, unknown>>;
}

/** Tools that are remembered. */
const MAX_TOOLS = 4096;

/** Tools by name, as they were listed last; of more than it can remember those that came first. */
export class Catalog {
  readonly #tools = new Map<string, ListedTool>();
  readonly #reserved: string | undefined;
  readonly #onFull: (error: SluiceError) => void;
  #isFull = false;

  /** A tool of the name `reserved` is remembered however many there are. `onFull` is told once that there are too many. */
  constructor(reserved?: string, onFull: (error: SluiceError) => void = () => undefined) {
    this.#reserved = reserved;
    this.#onFull = onFull;
  }

  /** Notes the tools of a `tools/list` result. */
  note(tools: unknown): void {
    if (!Array.isArray(tools)) return;
    for (const tool of tools as unknown[]) {
      const { name, inputSchema, _meta } = objectOr(tool);
      if (typeof name !== "string") continue;
      if (this.#hasRoom(name)) this.#tools.set(name, { name, inputSchema, meta: objectOr(_meta) });
      else this.#tellFull();
    }
  }

  #hasRoom(name: string): boolean {
    return this.#tools.size < MAX_TOOLS || this.#tools.has(name) || name === this.#reserved;
  }

  #tellFull(): void {
    if (this.#isFull) return;
    this.#isFull = true;
    const sentence = `The server lists more than ${MAX_TOOLS} tools. Those beyond can be called, but artifacts go into their arguments only with ?as=, and their results are reduced also where they are for an app alone: let the server offer fewer.`;
    this.#onFull(new SluiceError("E_TOO_LARGE", sentence));
  }

  find(name: string | undefined): ListedTool | undefined {
    return name === undefined ? undefined : this.#tools.get(name);
  }

  /** Whether a tool answers the app of a host, and never its model (MCP Apps, `visibility: ["app"]`). */
  isAppOnly(name: string | undefined): boolean {
    const { visibility } = objectOr(this.find(name)?.meta["ui"]);
    return Array.isArray(visibility) && visibility.length > 0 && visibility.every((who) => stringOr(who) === "app");
  }
}
