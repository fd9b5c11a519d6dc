/**
 * `sluice tools connect` and `disconnect`: signs in to a source, and shows what it has; or signs out.
 *
 * The operands and options are in `../commands/sources.ts`.
 * @module
 */
import { MemoryArtifactStore } from "../../artifacts/memory.js";
import { countNoun } from "../../core/amounts.js";
import { SluiceError } from "../../errors/error.js";
import type { ToolNode } from "../../tools-node.js";
import type { ExternalToolConfig } from "../../tools/config/config.js";
import { ToolAuthError } from "../../tools/errors.js";
import { Exit, toExitCode, UsageError } from "../exit.js";
import { report } from "../terminal/report.js";
import type { Invocation } from "../command.js";
import { onOneLine, textWidth, wrap, type Output, type Terminal } from "../terminal/terminal.js";
import { readSource } from "./named-sources.js";
import { StatusLine } from "../terminal/progress.js";
import type { SignInOptions } from "../sign-in/sign-in.js";
import { loadSignIn, usingSource } from "./source-connection.js";

export async function run(invocation: Invocation, terminal: Terminal): Promise<number> {
  const [name = ""] = invocation.operands;
  const config = await readSource(name, invocation);
  const { errors, output } = terminal;
  const found =
    config.auth_type === "oauth2_user"
      ? await connectSignedIn(config, invocation, terminal)
      : await look(config, terminal);
  await print(found, output);
  for (const failure of found.failures) await report(failure, errors, undefined);
  return found.failures.length === 0 ? Exit.ok : toExitCode(found.failures[0]);
}

/** Connects with the kept token. Without one, or if the source refuses it, the person signs in. */
async function connectSignedIn(config: ExternalToolConfig, invocation: Invocation, terminal: Terminal): Promise<Found> {
  const options = signInOptions(invocation);
  const signIn = await loadSignIn(terminal);
  const kept = await signIn.token(config);
  if (kept !== null) {
    try {
      return await look(config, terminal, kept);
    } catch (error) {
      if (!(error instanceof ToolAuthError)) throw error;
      await signIn.forget(config.name);
    }
  }
  return look(config, terminal, await signIn.ask(config, options));
}

function signInOptions(invocation: Invocation): SignInOptions {
  const port = invocation.value("port");
  if (port !== undefined && !(/^\d{1,5}$/.test(port) && Number(port) <= 65_535)) {
    throw new UsageError("--port takes a number up to 65535, such as 8976", invocation.command);
  }
  return {
    browser: invocation.has("no-browser") ? false : undefined,
    clientId: invocation.value("client-id"),
    issuer: invocation.value("issuer"),
    port: port === undefined ? undefined : Number(port),
  };
}

async function look(config: ExternalToolConfig, terminal: Terminal, token?: string): Promise<Found> {
  const { name } = config;
  const { signal, errors } = terminal;
  const status = new StatusLine(errors, `connecting to ${name}`);
  const begun = performance.now();
  const looking = usingSource(config, { store: new MemoryArtifactStore(), terminal, token }, async (node) => {
    const milliseconds = performance.now() - begun;
    const tools = node.getTools().map((tool) => onOneLine(tool.name.slice(name.length + 1)));
    return { name, milliseconds, tools, ...(await countResources(node, signal)) };
  });
  return looking.finally(() => status.done());
}

/** `sluice tools disconnect`: deletes the token of a source. */
export async function disconnect(invocation: Invocation, terminal: Terminal): Promise<number> {
  const [name = ""] = invocation.operands;
  const wasThere = await (await loadSignIn(terminal)).forget(name);
  await terminal.errors.write(
    wasThere ? `signed out of ${onOneLine(name)}\n` : `you were not signed in to ${onOneLine(name)}\n`,
  );
  return wasThere ? Exit.ok : Exit.failure;
}

/** The resources of a source, and the errors of listing them. */
interface Resources {
  /** `3 resources`, `1 template`; empty if the source has none. */
  readonly counts: readonly string[];
  readonly failures: readonly unknown[];
}

interface Found extends Resources {
  readonly name: string;
  /** Time to connect and list the tools. */
  readonly milliseconds: number;
  /** Names without the source's prefix. */
  readonly tools: readonly string[];
}

async function countResources(node: ToolNode, signal: AbortSignal): Promise<Resources> {
  const counts: string[] = [];
  const failures: unknown[] = [];
  const lists = [
    async () => countNoun((await node.listResources({ signal })).items.length, "resource"),
    async () => countNoun((await node.listResourceTemplates({ signal })).items.length, "template"),
  ];
  for (const count of lists) {
    try {
      counts.push(await count());
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof SluiceError && error.code === "E_TOOL_UNSUPPORTED")) failures.push(error);
    }
  }
  return { counts, failures };
}

async function print({ name, milliseconds, tools, counts, failures }: Found, output: Output): Promise<void> {
  const names = wrap(tools.join(", "), textWidth(output) - 2).map((line) => `  ${line}\n`);
  await output.write(`${output.bold(name)}: connected in ${duration(milliseconds)}\n`);
  await output.write(`${countNoun(tools.length, "tool")}${tools.length === 0 ? "\n" : `:\n${names.join("")}`}`);
  if (counts.length > 0) await output.write(`${counts.join(", ")}\n`);
  else if (failures.length === 0) await output.write("no resources\n");
}

/** `312 ms`, `2.4 s`. */
function duration(milliseconds: number): string {
  return milliseconds < 1000 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1000).toFixed(1)} s`;
}
