/**
 * The tools over stored artifacts that a model is given: one row for each, which every host lists and calls.
 * @module
 */
import type { ArtifactRef, ArtifactStore } from "../artifacts/store.js";
import type { ArtifactTool, ArtifactToolResult, ArtifactToolsOptions, Sluice } from "../core/types.js";
import { editTool } from "./artifact-editor/definition.js";
import { describeError, writeFailure } from "./artifact-reader/answer.js";
import { ArtifactReader, type ArtifactReaderOptions } from "./artifact-reader/artifact-reader.js";
import { ArtifactSource, loadPart, type ReadSource } from "./artifact-reader/source.js";
import { nameTool, readTool, type ToolDefinition } from "./artifact-reader/definition.js";

/** What a tool works with. */
export interface ToolDeps extends Pick<ArtifactReaderOptions, "sluice" | "showsImages"> {
  readonly source: ReadSource;
  /** The name of one of our tools as the model knows it now, of its name without a namespace. Left out: by each artifact's namespace. */
  readonly nameOf?: (name: string) => string;
  /** Most characters of an answer, as code points of its JSON, or what tells it for each answer. Defaults to 10,000. */
  readonly maxChars?: number | (() => number) | undefined;
  /** Called with each artifact that a tool made to be passed on: an edit, a file of an archive, a long answer to a query. */
  readonly onStored?: ((ref: ArtifactRef) => void) | undefined;
}

/** What the tools of one namespace work with. */
interface OwnToolsDeps extends Omit<ToolDeps, "nameOf" | "onStored"> {
  /** What the model calls a tool of a name, now. Left out: that name. */
  readonly nameForModel?: (tool: string) => string;
  /** The same, with the name of the tool. */
  readonly onStored?: (tool: string, ref: ArtifactRef) => void;
}

/** Answers calls. Rejects only with the signal's reason. */
interface ToolCalls {
  call(args: unknown, options?: { readonly signal?: AbortSignal }): Promise<ArtifactToolResult>;
}

/** One tool: its name without a namespace, its definition, and what answers its calls. */
interface ToolRow {
  readonly name: string;
  readonly define: (namespace: string) => ToolDefinition;
  readonly open: (deps: ToolDeps) => ToolCalls;
}

const READ = "artifact_read";
const EDIT = "artifact_edit";

/** All tools, in the order in which they are listed. The first one is the one that sentences in results name. */
export const ARTIFACT_TOOLS: readonly ToolRow[] = [
  {
    name: READ,
    define: readTool,
    open: ({ source, nameOf, maxChars, sluice, showsImages, onStored }) =>
      new ArtifactReader(source, {
        ...(sluice !== undefined && { sluice }),
        ...(showsImages !== undefined && { showsImages }),
        ...(onStored !== undefined && { onStored }),
        ...(nameOf !== undefined && { tool: () => nameOf(READ) }),
        ...(maxChars !== undefined && { maxChars }),
      }),
  },
  {
    name: EDIT,
    define: editTool,
    open: ({ source, nameOf = (name) => name, maxChars, onStored }) => ({
      call: async (args, options) => {
        try {
          const { ArtifactEditor } = await loadPart(() => import("./artifact-editor/artifact-editor.js"));
          const editor = new ArtifactEditor(source, {
            tool: nameOf(EDIT),
            readTool: nameOf(READ),
            ...(maxChars !== undefined && { maxChars: typeof maxChars === "number" ? maxChars : maxChars() }),
            onStored,
          });
          return await editor.call(args, options);
        } catch (error) {
          options?.signal?.throwIfAborted();
          return writeFailure(describeError(error, "The artifact could not be edited just now: try again."));
        }
      },
    }),
  },
];

/** The tools of a namespace as MCP lists them, in order. Pure, because hosts fingerprint definitions. */
export function toolDefinitions(namespace: string): readonly ToolDefinition[] {
  return ARTIFACT_TOOLS.map(({ define }) => define(namespace));
}

/** The tools of a namespace under their MCP names, over a source. */
export function artifactToolsOver(
  namespace: string,
  { onStored, nameForModel = (name) => name, ...deps }: OwnToolsDeps,
): readonly ArtifactTool[] {
  const nameToolForModel = (name: string): string => nameForModel(nameTool(namespace, name));
  return ARTIFACT_TOOLS.map(({ name, define, open }) => {
    const tool = open({
      ...deps,
      nameOf: nameToolForModel,
      onStored: (ref) => onStored?.(nameTool(namespace, name), ref),
    });
    return { ...define(namespace), call: (args, options) => tool.call(args, options) };
  });
}

/** The tools that `Sluice.tools` gives, over a store. Their names begin with the namespace, if one is given. */
export function artifactTools(
  store: ArtifactStore,
  { namespace, scope = {}, clientShowsImages = false }: ArtifactToolsOptions,
  sluice: Pick<Sluice, "look" | "documents" | "tables">,
): readonly ArtifactTool[] {
  const source = new ArtifactSource(store, scope, namespace);
  return artifactToolsOver(namespace ?? "", { source, sluice, showsImages: () => clientShowsImages });
}
