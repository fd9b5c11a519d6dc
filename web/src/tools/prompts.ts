/**
 * The prompts of a source (MCP, "Prompts"), as a host reads them.
 * @module
 */
import type { ArtifactRef, ArtifactStore } from "../artifacts/store.js";
import { readSettings } from "../config/check.js";
import { RESOURCES_SCHEMA } from "../config/schema.mjs";
import type { ResourcesConfig } from "../config/types.js";
import type { SluiceError } from "../errors/error.js";
import { isObject } from "../errors/arguments.js";
import { ToolClientError, toUnsupportedError } from "./errors.js";
import type { ToolContext } from "./context.js";
import { keepContents } from "./resources/cache.js";
import type { GuardList } from "./resources/reader.js";
import { describeEntry, fitEntries, isFitUri, type Listing } from "./resources/listing.js";
import type { ListedPrompt, PromptConnection, PromptMessage } from "./source-features.js";

/** What a prompt gives. */
export interface PromptReading {
  /** In the source's order. */
  readonly messages: readonly PromptMessage[];
  /** The artifacts that the messages refer to. */
  readonly artifacts: readonly ArtifactRef[];
  /** Errors of the store. The messages are complete nevertheless. */
  readonly failures: readonly SluiceError[];
}

export interface PromptDeps {
  /** The source's name. */
  readonly namespace: string;
  /** The source's store. */
  readonly store: ArtifactStore;
  /** Takes bytes out of what the source lists. */
  readonly guardList?: GuardList | undefined;
  /** `resources` of the source's `artifact_extraction`, which says how long a text may be. */
  readonly config?: ResourcesConfig | undefined;
  /** Works over the caller's session. The prompts are undefined if the source has none. */
  readonly use: <T>(
    context: ToolContext,
    work: (prompts: PromptConnection | undefined, signal: AbortSignal) => Promise<T>,
  ) => Promise<T>;
}

/** Maximum UTF-16 units of a prompt's name, and of an argument's. */
const MAX_NAME = 256;
/** Maximum number of a prompt's arguments. */
const MAX_ARGUMENTS = 64;

/**
 * Lists prompts, without those whose names cannot be shown.
 *
 * @throws ToolNodeError E_TOOL_UNSUPPORTED if the source has none.
 */
export function listPrompts(deps: PromptDeps, context: ToolContext): Promise<Listing<ListedPrompt>> {
  const { guardList = async <Entry>(listed: readonly Entry[]) => listed } = deps;
  return withPrompts(deps, context, async (prompts, signal) =>
    fitEntries(await guardList(await prompts.list(signal)), fitPrompt),
  );
}

/** Gets a prompt for the context's scope. Throws ToolNodeErrors. */
export async function getPrompt(
  deps: PromptDeps,
  name: string,
  args: Readonly<Record<string, string>>,
  context: ToolContext,
): Promise<PromptReading> {
  if (!isFitUri(name, MAX_NAME)) throw new ToolClientError("A prompt has a name: take it from listPrompts.");
  if (!isObject(args) || Object.values(args).some((value) => typeof value !== "string")) {
    throw new ToolClientError(`The arguments of the prompt ${JSON.stringify(name)} must be an object of texts.`);
  }
  const { namespace, store, config = {} } = deps;
  const { scope = {}, signal } = context;
  const settings = readSettings(config, RESOURCES_SCHEMA, "resources") as Required<ResourcesConfig>;
  const inlineChars = Math.max(0, settings.inline_text_if_under_chars - 1);
  const messages = await withPrompts(deps, context, (prompts, over) =>
    prompts.get(name, args, { scope, inlineChars, signal: over }),
  );
  const result = { contents: messages.map(({ content }) => content) };
  const { artifacts, failures } = await keepContents(result, { namespace, store, storesText: false, scope, signal });
  return { messages, artifacts, failures };
}

function withPrompts<T>(
  { namespace, use }: PromptDeps,
  context: ToolContext,
  work: (prompts: PromptConnection, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  return use(context, async (prompts, signal) => {
    if (prompts === undefined) throw toUnsupportedError(`The source ${namespace} has no prompts.`);
    return work(prompts, signal);
  });
}

function fitPrompt(prompt: ListedPrompt): ListedPrompt | undefined {
  const { name } = prompt;
  const args = prompt.arguments.map((each) => {
    const { description } = describeEntry(each);
    return { name: each.name, ...(description !== undefined && { description }), required: each.required };
  });
  const isFit = [name, ...args.map((each) => each.name)].every((each) => isFitUri(each, MAX_NAME));
  if (!isFit || args.length > MAX_ARGUMENTS) return undefined;
  return { ...describeEntry(prompt), name, arguments: args };
}
