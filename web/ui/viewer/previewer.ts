/**
 * Runs one preview at a time and reports its state.
 * @module
 */
import { humanSize, SluiceError } from "mcp-sluice";
import type { ArtifactBytes, ShownArtifact } from "../shown.js";
import { type Drawn, element, findMediaType, type PreviewInput, PreviewProblem, type Remedy } from "./preview.js";
import { findKind, loadSourceRenderer } from "./kinds.js";

/** The tabs of a viewer. */
export type ViewerTab = "preview" | "source" | "info";

/** An action beside a message. */
interface Action {
  /** The label of its button. */
  readonly text: string;
  /** What it does. */
  readonly does: Exclude<Remedy, "none"> | "fetch";
}

/** The message above a preview: progress, a note or a problem; null if all is shown. */
type PreviewState =
  | { readonly kind: "loading"; readonly read: number; readonly total: number | null }
  | { readonly kind: "note" | "problem"; readonly sentence: string; readonly action?: Action }
  | null;

/** What to show. */
interface PreviewRequest {
  /** The artifact. */
  readonly artifact: ShownArtifact;
  /** Its bytes; undefined if there are none. */
  readonly bytes: ArtifactBytes | undefined;
  /** The open tab. */
  readonly tab: ViewerTab;
  /** Its name, safe to show. */
  readonly name: string;
}

/** The current preview. */
export class Previewer {
  /** The element that previews are drawn into. */
  readonly host: HTMLElement = element("div", "host");
  readonly #changed: () => void;
  #state: PreviewState = null;
  #said = "";
  #run: AbortController | undefined;
  #wanted: PreviewRequest | undefined;
  #key = "";
  /** The artifact that is shown whole. */
  #whole = "";
  #frame = 0;

  /** `changed` is called when the message changes. */
  constructor(changed: () => void) {
    this.#changed = changed;
  }

  /** The message above the preview. */
  get state(): PreviewState {
    return this.#state;
  }

  /** The announcement for screen readers. */
  get said(): string {
    return this.#said;
  }

  /** Shows an artifact, unless it is already shown. */
  show(wanted: PreviewRequest): void {
    const { artifact, bytes, tab } = wanted;
    // Compared by value: callers may create new objects for each render.
    const same = toIdentity(artifact);
    const key = JSON.stringify([same, bytes?.href, bytes !== undefined, tab]);
    if (key === this.#key) return;
    if (this.#whole !== same) this.#whole = "";
    this.#key = key;
    this.#wanted = wanted;
    this.#begin(this.#wanted);
  }

  /** Retries the preview. */
  again(): void {
    if (this.#wanted !== undefined) this.#begin(this.#wanted);
  }

  /** Shows all of it, whatever its size. */
  all(): void {
    if (this.#wanted === undefined) return;
    this.#whole = toIdentity(this.#wanted.artifact);
    this.#begin(this.#wanted);
  }

  /** Shows an error. */
  fail(error: unknown): void {
    const problem = toProblem(error);
    this.#tell(
      { kind: "problem", sentence: problem.message, ...chooseAction(problem.remedy, this.#wanted) },
      problem.message,
    );
  }

  /** Ends and removes the preview. */
  end(): void {
    this.#run?.abort();
    this.#run = undefined;
    this.#key = "";
    this.host.replaceChildren();
    this.#wanted = undefined;
    cancelAnimationFrame(this.#frame);
    this.#state = null;
    this.#said = "";
  }

  #begin(wanted: PreviewRequest): void {
    this.#run?.abort();
    const run = new AbortController();
    this.#run = run;
    this.host.replaceChildren();
    const { artifact, bytes, tab, name } = wanted;
    if (tab === "info") return this.#tell(null, "");
    if (artifact.deferred === true) {
      const action: Action = { text: "Fetch", does: "fetch" };
      return this.#tell({ kind: "note", sentence: "It has not been fetched yet.", action }, "");
    }
    if (bytes === undefined) return this.#tell({ kind: "note", sentence: "Its bytes were not stored." }, "");
    this.#tell({ kind: "loading", read: 0, total: null }, `Loading ${name}`);
    void this.#draw({ ...wanted, bytes }, run.signal);
  }

  async #draw(wanted: PreviewRequest & { readonly bytes: ArtifactBytes }, signal: AbortSignal): Promise<void> {
    const { artifact, bytes, tab, name } = wanted;
    const place = element("div");
    this.host.append(place);
    const type = findMediaType(artifact.mime_type, artifact.filename ?? "");
    const kind = findKind(type, artifact.viewer);
    const progress = (read: number, total: number | null): void => this.#progress(read, total, signal);
    const input: PreviewInput = { artifact, bytes, name, type, whole: this.#whole !== "", progress };
    try {
      const render = await (tab === "source" ? loadSourceRenderer(kind) : kind.load());
      signal.throwIfAborted();
      const drawn = await render(place, input, signal);
      if (!signal.aborted) this.#tell(toState(drawn, input), `${name} is shown`);
    } catch (error) {
      if (signal.aborted) return;
      place.remove();
      this.fail(error);
    }
  }

  // Once a frame is often enough.
  #progress(read: number, total: number | null, signal: AbortSignal): void {
    if (signal.aborted || this.#frame !== 0) return;
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0;
      if (!signal.aborted && this.#state?.kind === "loading") this.#tell({ kind: "loading", read, total }, this.#said);
    });
  }

  #tell(state: PreviewState, said: string): void {
    this.#state = state;
    this.#said = said;
    this.#changed();
  }
}

function toIdentity({ id, sha256, size_bytes, mime_type, filename, deferred, viewer }: ShownArtifact): string {
  return JSON.stringify([id, sha256, size_bytes, mime_type, filename, deferred, viewer]);
}

function toProblem(error: unknown): PreviewProblem {
  if (error instanceof PreviewProblem) return error;
  if (error instanceof SluiceError) {
    const remedy = error.code === "E_EXPIRED" || error.code === "E_NOT_FOUND" ? "none" : "retry";
    return new PreviewProblem(error.message, remedy, { cause: error });
  }
  return new PreviewProblem("It could not be read.", "retry", { cause: error });
}

function chooseAction(remedy: Remedy, wanted: PreviewRequest | undefined): { action?: Action } {
  if (remedy === "none" || (remedy === "source" && wanted?.tab === "source")) return {};
  const text = remedy === "retry" ? "Try again" : remedy === "source" ? "Show source" : describeAll(wanted?.artifact);
  return { action: { text, does: remedy } };
}

function describeAll(artifact: ShownArtifact | undefined): string {
  return artifact?.size_bytes === undefined ? "Load all" : `Load all (${humanSize(artifact.size_bytes)})`;
}

function toState({ part, note }: Drawn, { artifact, whole }: PreviewInput): PreviewState {
  if (part === undefined) return note === undefined ? null : { kind: "note", sentence: note };
  const size = artifact.size_bytes;
  const said = `The first ${humanSize(part)}${size === undefined ? "" : ` of ${humanSize(size)}`} is shown.`;
  const sentence = note === undefined ? said : `${said} ${note}`;
  if (whole) return { kind: "note", sentence };
  return { kind: "note", sentence, action: { text: describeAll(artifact), does: "whole" } };
}
