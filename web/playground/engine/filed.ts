/**
 * Results whose files are in My Files. Loaded for the first of them.
 * @module
 */
import type { AnswerRef, Sluice } from "mcp-sluice";
import type { ResultDisplay } from "mcp-sluice/files";
import type { ShownArtifact } from "mcp-sluice/ui";
import type { ShownDisplay, ShownResult } from "./contract.js";
import type { KeptResult } from "./gating.js";

/** A result of a server that works with My Files. */
type FiledResult = KeptResult & Required<Pick<KeptResult, "filed">>;

/**
 * Both sides of a result that follows the contract; undefined for any other. The model is told what stands in it, before the
 * guardrail: no layer reads it once more.
 */
export function shownFiled(kept: FiledResult, sluice: Sluice): ShownResult | undefined {
  const { id, title, server, isError, reduced, filed } = kept;
  const told = toldIn(reduced.text);
  if (told === undefined) return undefined;
  const { text: observation, changed: clamped } = sluice.clampText(told);
  const artifacts = reduced.artifacts.map((artifact) => shownArtifact(artifact, server));
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
    filed: filed.display === undefined ? { server } : shownDisplay(filed.display, artifacts, server),
  };
}

/** What the viewer is to do, and the file that it opens: the one the tool names, else the first that opens by itself. */
export function shownDisplay(
  display: ResultDisplay,
  artifacts: readonly ShownArtifact[],
  server: string,
): ShownDisplay {
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

/** A file of a result is its server's to whoever looks where it came from. */
export function shownArtifact({ scope: _, ...artifact }: AnswerRef, server: string): ShownArtifact {
  return { ...artifact, namespace: server };
}

/** The contract's JSON text, where the result is written as one whose files were stored: text and structure are the same. */
function toldIn(text: string): string | undefined {
  const { content, structuredContent, isError } = JSON.parse(text) as Readonly<Record<string, unknown>>;
  const [block] = Array.isArray(content) ? (content as readonly { readonly text?: unknown }[]) : [];
  const told = block?.text;
  if (typeof told !== "string" || !told.startsWith('{"results":') || structuredContent === undefined) return undefined;
  const blocks = JSON.stringify([{ type: "text", text: told }]);
  const whole = `{"content":${blocks},"structuredContent":${told}${isError === true ? ',"isError":true' : ""}}`;
  return whole === text ? told : undefined;
}
