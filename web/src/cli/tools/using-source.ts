/**
 * A source for as long as a command needs it.
 * @module
 */
import type { ArtifactStore } from "../../artifacts/store.js";
import { ToolNode } from "../../tools-node.js";
import type { ExternalToolConfig } from "../../tools/config.js";
import type { ToolNodeEvent } from "../../tools/event.js";
import { joined } from "../../transports/bytes.js";
import { CommandError, Exit } from "../exit.js";
import type { Output } from "../terminal.js";
import { printable } from "../words.js";

/** What a source is used with. */
export interface SourceUse {
  readonly store: ArtifactStore;
  /** Gives up, whatever goes on. */
  readonly signal: AbortSignal;
  readonly onEvent?: (event: ToolNodeEvent) => void;
  /** Where the last words of a program go that cannot be connected to. */
  readonly errors: Output;
}

/** Bytes of what a program says that are kept, from its end. */
const LAST_WORDS = 4096;

/** Lines of them that are shown. */
const MAX_LINES = 10;

/** Connects, works, and closes the source however that ends. Throws what the source throws; the signal's reason. */
export async function usingSource<T>(
  config: ExternalToolConfig,
  { signal, errors, ...options }: SourceUse,
  work: (node: ToolNode) => Promise<T>,
): Promise<T> {
  if (config.auth_type === "oauth2_user") throw needsUsers(config.name);
  let said: Uint8Array = new Uint8Array(0);
  const onErrorOutput = (chunk: Uint8Array): void => {
    said = joined([said, chunk]).slice(-LAST_WORDS);
  };
  const node = new ToolNode(config, { ...options, onErrorOutput });
  try {
    await node.connect({ signal }).catch(async (error: unknown) => {
      signal.throwIfAborted();
      await tellLastWords(config.name, said, errors);
      throw error;
    });
    return await work(node);
  } finally {
    await node.close();
  }
}

/** Why a program did not start it says itself, if anybody does. */
async function tellLastWords(name: string, said: Uint8Array, errors: Output): Promise<void> {
  const lines = new TextDecoder().decode(said).split("\n").map(printable);
  for (const line of lines.filter((each) => each.trim() !== "").slice(-MAX_LINES)) {
    await errors.write(errors.dim(`${name}: ${line}\n`));
  }
}

function needsUsers(name: string): CommandError {
  return new CommandError(
    Exit.refused,
    `the source ${name} wants each user to sign in, which a program with an OAuthManager can ask for and the command line cannot: give a source with "auth_type": "bearer" and a token in a file with --config`,
  );
}
