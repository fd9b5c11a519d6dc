/**
 * Results that follow the tool output contract: their files are in My Files, and the viewer may have to open some.
 * @module
 */
import type { AnswerRef, Sluice } from "mcp-sluice";
import type { ResultDisplay } from "mcp-sluice/tools";
import type { ShownArtifact } from "mcp-sluice/ui";
import type { PlannerEvent } from "mcp-sluice/planner";
import type { ShownDisplay, ShownResult } from "./messages.js";
import type { StoredResult } from "./results.js";
import { callKey } from "./chat/messages.js";

/** A result of a server that works with My Files. */
type FiledResult = StoredResult & Required<Pick<StoredResult, "filed">>;

/**
 * Both sides of a result that follows the contract; undefined for any other result. Its text goes to the model as it is, limited
 * by the guardrail only.
 */
export function toShownResult(kept: FiledResult, sluice: Sluice): ShownResult | undefined {
  const { id, title, server, isError, reduced, filed } = kept;
  const told = contractText(reduced.text);
  if (told === undefined) return undefined;
  const { text: observation, changed: clamped } = sluice.clampText(told);
  const artifacts = reduced.artifacts.map((artifact) => toShownArtifact(artifact, server));
  return {
    id,
    title,
    server,
    isError,
    reduced: reduced.text,
    observation,
    artifacts,
    links: [],
    bytesIn: reduced.bytesIn,
    bytesOut: new TextEncoder().encode(observation).length,
    clamped,
    failures: [...new Set(reduced.failures.map(({ message }) => message))],
    filed: filed.display === undefined ? { server } : toShownDisplay(filed.display, artifacts, server),
  };
}

/** The display hint of a result, with the file to open: the one that the tool names, else the first with `auto_open`. */
function toShownDisplay(display: ResultDisplay, artifacts: readonly ShownArtifact[], server: string): ShownDisplay {
  const { open_canvas, storage_action, primary_file, files, mode, category_hint, notification } = display;
  const own = files.find(({ auto_open }) => auto_open);
  const opens = open_canvas || storage_action === "store_and_open" || own !== undefined;
  const file = files.find(({ name }) => name === primary_file) ?? own ?? files[0];
  const artifact = opens ? artifacts.find(({ id }) => id === file?.id) : undefined;
  const viewer = file?.viewer;
  return {
    server,
    ...(artifact !== undefined && { opened: { ...artifact, ...(viewer !== undefined && { viewer }) } }),
    ...(mode !== undefined && { mode }),
    ...(category_hint !== undefined && { category_hint }),
    ...(notification !== undefined && { notification }),
  };
}

/** An artifact with the server as its namespace. */
export function toShownArtifact({ scope: _, ...artifact }: AnswerRef, server: string): ShownArtifact {
  return { ...artifact, namespace: server };
}

/** The JSON text of a result that follows the contract, where text and structured content are the same. */
function contractText(text: string): string | undefined {
  const { content, structuredContent, isError } = JSON.parse(text) as Readonly<Record<string, unknown>>;
  const [block] = Array.isArray(content) ? (content as readonly { readonly text?: unknown }[]) : [];
  const told = block?.text;
  if (typeof told !== "string" || !told.startsWith('{"results":') || structuredContent === undefined) return undefined;
  const blocks = JSON.stringify([{ type: "text", text: told }]);
  const whole = `{"content":${blocks},"structuredContent":${told}${isError === true ? ',"isError":true' : ""}}`;
  return whole === text ? told : undefined;
}

type Display = Extract<PlannerEvent, { readonly kind: "tool_display" }>;

/** An event after which the artifacts of a call are known. */
interface StoredEvent {
  readonly kind: string;
  readonly step: number;
  readonly call: string;
  readonly artifacts?: readonly AnswerRef[];
}

/** Display hints of a turn, which wait until their artifacts are stored. */
export class Displays {
  readonly #waiting = new Map<string, Display>();
  readonly #shown: (artifact: AnswerRef, server: string) => ShownArtifact;
  readonly #tell: (display: ShownDisplay) => void;

  /** `shown` converts an artifact of a server. */
  constructor(shown: (artifact: AnswerRef, server: string) => ShownArtifact, tell: (display: ShownDisplay) => void) {
    this.#shown = shown;
    this.#tell = tell;
  }

  /** Adds the display hint of a call. */
  add(display: Display): void {
    this.#waiting.set(callKey(display.step, display.call), display);
  }

  /** Reports the hint of a call once its artifacts are stored. */
  stored({ step, call, artifacts = [] }: StoredEvent): void {
    const waiting = this.#waiting.get(callKey(step, call));
    if (waiting === undefined) return;
    this.#waiting.delete(callKey(step, call));
    const server = findServerName(waiting.tool);
    this.#tell(
      toShownDisplay(
        waiting.display,
        artifacts.map((artifact) => this.#shown(artifact, server)),
        server,
      ),
    );
  }
}

/** The server in the name of a tool. */
export function findServerName(tool: string): string {
  return tool.slice(0, Math.max(0, tool.indexOf(".")));
}
