/**
 * `sluice restore`: the result that `transform --dialect mcp` was given.
 * @module
 */
import type { Sluice } from "../core/sluice.js";
import type { ArtifactScope } from "../artifacts/store.js";
import type { Invocation } from "./commands.js";
import { errorInPlace, Exit, isDataError } from "./exit.js";
import { openInput, withoutMark } from "./input.js";
import { openSluice } from "./library.js";
import { isBlank, linePieces } from "../transports/lines.js";
import { acrossScopes, parseScope } from "./scope.js";
import { Progress } from "./progress.js";
import { openKeptStore } from "./store.js";
import type { Output, Terminal } from "./terminal.js";

export async function run(invocation: Invocation, terminal: Terminal): Promise<number> {
  const scope = parseScope(invocation.values("scope"), invocation.command);
  const { chunks } = await openInput(invocation.operands[0], terminal);
  const store = await openKeptStore(invocation.value("store"));
  const sluice = await openSluice(scope === undefined ? acrossScopes(store) : store, undefined);
  const restoring = new Restoring(sluice, scope, terminal.output, new Progress(terminal.errors, "restore"));
  return invocation.has("ndjson")
    ? restoring.lines(withoutMark(chunks))
    : restoring.whole(withoutMark(chunks), terminal.output.isTerminal);
}

/** The reduced text is held, for its references stand at its end; what they name streams through. */
class Restoring {
  readonly #sluice: Sluice;
  readonly #scope: ArtifactScope | undefined;
  readonly #output: Output;
  readonly #progress: Progress;

  constructor(sluice: Sluice, scope: ArtifactScope | undefined, output: Output, progress: Progress) {
    this.#sluice = sluice;
    this.#scope = scope;
    this.#output = output;
    this.#progress = progress;
  }

  async whole(chunks: AsyncIterable<Uint8Array>, endLine: boolean): Promise<number> {
    const text = new Text();
    for await (const chunk of chunks) text.add(chunk);
    const exit = await this.#one(text.take(), undefined);
    if (endLine || exit !== Exit.ok) await this.#output.write("\n");
    return exit;
  }

  async lines(chunks: AsyncIterable<Uint8Array>): Promise<number> {
    const text = new Text();
    let exit: number = Exit.ok;
    let number = 0;
    for await (const { bytes, last } of linePieces(chunks)) {
      text.add(bytes);
      if (!last) continue;
      number += 1;
      const blank = text.blank;
      const line = text.take();
      const outcome = blank ? Exit.ok : await this.#one(line, number);
      if (outcome !== Exit.ok) exit = outcome;
      await this.#output.write("\n");
    }
    return exit;
  }

  async #one(json: string, line: number | undefined): Promise<number> {
    let begun = false;
    try {
      for await (const piece of this.#sluice.restoreStream(
        json,
        this.#scope === undefined ? {} : { scope: this.#scope },
      )) {
        begun = true;
        await this.#output.write(piece);
        await this.#progress.add(piece.length);
      }
      return Exit.ok;
    } catch (error) {
      if (begun || !isDataError(error)) throw error;
      await this.#output.write(errorInPlace(error, line));
      return Exit.data;
    } finally {
      await this.#progress.done();
    }
  }
}

/** Decodes chunks of UTF-8 as they come, for their buffers are used again. */
class Text {
  #parts: string[] = [];
  #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  /** Whether nothing but white space has come. */
  blank = true;

  add(bytes: Uint8Array): void {
    this.blank &&= isBlank(bytes);
    this.#parts.push(this.#decoder.decode(bytes, { stream: true }));
  }

  take(): string {
    const text = this.#parts.join("") + this.#decoder.decode();
    this.#parts = [];
    this.blank = true;
    return text;
  }
}
