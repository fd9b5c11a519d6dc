/**
 * A source and everything that stands around it, made of a configuration.
 * @module
 */
import { chosenStore } from "../artifacts/discover.js";
import { NoOpArtifactStore } from "../artifacts/no-op.js";
import { configured } from "../artifacts/retention/configured.js";
import type { ArtifactStore, StoredArtifact } from "../artifacts/store.js";
import { standIn } from "../artifacts/unstored.js";
import { createSluiceOver } from "../core/create.js";
import type { SluiceConfig } from "../core/config.js";
import type { Sluice } from "../core/sluice.js";
import { readDoor, withoutDoor } from "../mcp/door-config.js";
import { ArtifactArguments, artifactReadTool } from "./artifacts.js";
import type { ToolConfig } from "./config.js";
import type { ToolNodeEvent } from "./event.js";
import { ToolConfigError } from "./config/problem.js";
import type { SourceParts, ToolNodeOptions } from "./options.js";
import type { ToolSpec } from "./registry.js";
import { resourceTools } from "./resources/tools.js";
import { RunningSource } from "./running.js";
import type { ToolSource } from "./source.js";
import type { UserFileHandling } from "./user-files/handling.js";
import { resolveVariables, type ResolvedToolConfig, type Variables } from "./variables.js";

/** Copies of artifacts, for tools that take the path of a file. */
export interface ArtifactCopies extends AsyncDisposable {
  /** Writes a copy and gives its path. */
  write(ref: StoredArtifact, signal?: AbortSignal): Promise<string>;
}

/** What is assembled, and by whom. */
export interface AssemblyTerms {
  readonly config: ToolConfig;
  readonly options: ToolNodeOptions;
  readonly variables: Variables;
  /** Chooses the transport. */
  readonly source: (config: ResolvedToolConfig, parts: SourceParts) => ToolSource;
  /** Undefined where there are no files. */
  readonly copies: (store: ArtifactStore) => ArtifactCopies | undefined;
  /** Aborted when the source is closed, before what is assembled is disposed of. */
  readonly over: AbortSignal;
  /** Must not throw. */
  readonly onEvent: (event: ToolNodeEvent) => void;
  readonly onToolsChanged: () => void;
}

/** A source that nothing was asked of yet. */
export interface Assembled extends AsyncDisposable {
  readonly running: RunningSource;
  /** The tools that are offered beside its own. */
  readonly generated: (hasResources: boolean) => readonly ToolSpec[];
}

/**
 * Makes a source of a configuration.
 *
 * @throws ToolNodeError where a variable is missing or the configuration does not suffice; SluiceError E_CONFIG_… for what
 * is wrong with `artifact_extraction`.
 */
export async function assembled(terms: AssemblyTerms): Promise<Assembled> {
  const { options, variables, over, onEvent, onToolsChanged } = terms;
  const { stateStore, store: given, wasm, fetch, onErrorOutput, dialect = "observation" } = options;
  const config = resolveVariables(terms.config, variables);
  const handling = handlingFor(config, options);
  // Sources that have nothing to do with users' files need not load what does.
  const filing = handling === undefined ? undefined : await import("./user-files/filing.js");
  const { store, config: rest } = configured(chosenStore(given, stateStore), config.artifact_extraction);
  const { on_store_failure, arguments: forms, share } = readDoor(rest);
  const onStoreFailure = on_store_failure === "error" ? "throw" : "answer";
  const made = (each: SluiceConfig | undefined): Promise<Sluice> =>
    createSluiceOver({ store, standIn, onFailure: onStoreFailure }, each, wasm);
  const sluice = await made(withoutDoor(rest));
  const gate = filing === undefined ? sluice : await made(filing.contractConfig(withoutDoor(rest)));
  const source = terms.source(config, {
    sluice: gate,
    store,
    variables,
    ...(handling !== undefined && { command: (argv, scope) => handling.command(argv, scope) }),
    ...(fetch !== undefined && { fetch }),
    ...(onErrorOutput !== undefined && { onErrorOutput }),
  });
  const copies = terms.copies(store);
  const writeCopy =
    copies && ((ref: StoredArtifact, signal?: AbortSignal): Promise<string> => copies.write(ref, signal));
  const reachable = handling?.within(store, config.name) ?? store;
  const artifacts = new ArtifactArguments({ store: reachable, namespace: config.name, forms, share, writeCopy });
  const running = new RunningSource({
    config,
    source,
    sluice,
    gate,
    store,
    onStoreFailure,
    dialect,
    parts: options,
    artifacts,
    ...(filing !== undefined &&
      handling !== undefined && {
        filing: new filing.Filing({
          handling,
          sluice,
          store,
          dialect,
          onProblem: (tool, error) => onEvent({ kind: "failed", tool: `${config.name}.${tool}`, error }),
        }),
      }),
    over,
    onEvent,
    onToolsChanged,
  });
  const reading = store instanceof NoOpArtifactStore ? [] : [forArtifacts(config, reachable, sluice)];
  return {
    running,
    generated: (hasResources) => (hasResources ? [...forResources(running, config, sluice), ...reading] : reading),
    [Symbol.asyncDispose]: async () => {
      await running[Symbol.asyncDispose]();
      await copies?.[Symbol.asyncDispose]();
    },
  };
}

/** Who keeps users' files, where the source's tools have to do with them. */
function handlingFor({ user_files }: ResolvedToolConfig, { userFiles }: ToolNodeOptions): UserFileHandling | undefined {
  if (!user_files) return undefined;
  if (userFiles !== undefined) return userFiles;
  const message = "user_files needs somebody who keeps files: give the ToolNode the option userFiles.";
  throw new ToolConfigError("user_files", message);
}

/** The tool for a source's artifacts. */
function forArtifacts(config: ResolvedToolConfig, store: ArtifactStore, sluice: Sluice): ToolSpec {
  const { name: namespace, transport: source, artifact_extraction } = config;
  return artifactReadTool({ namespace, source, store, sluice, config: artifact_extraction });
}

/** The tools for a source's resources. */
function forResources(running: RunningSource, config: ResolvedToolConfig, sluice: Sluice): readonly ToolSpec[] {
  const { name, transport, artifact_extraction } = config;
  const { resources, guardrail } = artifact_extraction;
  if (resources?.enabled === false) return [];
  const tools = resourceTools({
    reader: running.resources,
    namespace: name,
    source: transport,
    sluice,
    config: guardrail === undefined ? {} : { guardrail },
  });
  return tools.map((tool) => telling(tool, running));
}

/** The same tool, of whose results the host is told. */
function telling(tool: ToolSpec, running: RunningSource): ToolSpec {
  const name = tool.name.slice(tool.extra.namespace.length + 1);
  return {
    ...tool,
    call: async (args, context) => {
      const answer = await tool.call(args, context);
      running.tell(name, answer);
      return answer;
    },
  };
}
