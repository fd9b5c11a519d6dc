/** A made-up home folder with configurations of hosts, and the commands that change them. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { PassThrough } from "node:stream";
import type { Invocation } from "../../../../web/src/cli/command.js";
import { toExitCode } from "../../../../web/src/cli/exit.js";
import { doctor } from "../../../../web/src/cli/install/doctor.js";
import { install, uninstall, type InstallDeps } from "../../../../web/src/cli/install/install.js";
import { parse } from "../../../../web/src/cli/parse.js";
import { report } from "../../../../web/src/cli/terminal/report.js";
import { Output, type Terminal } from "../../../../web/src/cli/terminal/terminal.js";
import { emptyFolder } from "../../../support/folder.js";
import type { Ended } from "../command.js";

/** What hosts start, where a test starts nothing. */
export const PROGRAM: readonly string[] = ["/usr/bin/node", "/opt/sluice/dist/cli/main.js"];

interface RunOptions {
  readonly platform?: NodeJS.Platform;
  readonly env?: NodeJS.ProcessEnv;
  readonly program?: readonly string[];
  /** The person at the terminal: gets each question, and answers. Without one standard input is no terminal. */
  readonly person?: (question: string) => Promise<string>;
}

const COMMANDS = { install, uninstall, doctor };

/** A home folder. */
export class Home {
  private constructor(readonly folder: string) {}

  static async open(): Promise<Home> {
    return new Home(await emptyFolder());
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  async write(name: string, text: string | Uint8Array): Promise<string> {
    await mkdir(dirname(this.path(name)), { recursive: true });
    await writeFile(this.path(name), text);
    return this.path(name);
  }

  read(name: string): Promise<string> {
    return readFile(this.path(name), "utf8");
  }

  /** Runs `sluice install`, `uninstall` or `doctor` on this home, as the program would. */
  async run(args: readonly string[], options: RunOptions = {}): Promise<Ended> {
    const [out, err] = [new PassThrough(), new PassThrough()];
    const input = Object.assign(new PassThrough(), { isTTY: options.person !== undefined });
    err.on("data", (chunk: Buffer) => {
      const question = /^(.*) \[y\/N\] $/m.exec(chunk.toString())?.[1];
      if (question !== undefined) void options.person?.(question).then((answer) => input.write(`${answer}\n`));
    });
    const env = { ...options.env };
    const { signal } = new AbortController();
    const terminal: Terminal = { input, output: new Output(out, env), errors: new Output(err, env), env, signal };
    const kept = [out, err].map((stream) => {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      return () => Buffer.concat(chunks).toString();
    });
    const code = await this.#code(args, terminal, options);
    const [stdout = "", stderr = ""] = kept.map((text) => text());
    return { code, stdout, stderr };
  }

  async #code(args: readonly string[], terminal: Terminal, options: RunOptions): Promise<number> {
    const machine = {
      platform: options.platform ?? "linux",
      home: this.folder,
      env: terminal.env,
      folder: this.folder,
    };
    const deps: InstallDeps = { machine, program: options.program ?? PROGRAM };
    try {
      const invocation = invocationOf(args);
      return await COMMANDS[invocation.command as keyof typeof COMMANDS](invocation, terminal, deps);
    } catch (error) {
      await report(error, terminal.errors, undefined);
      return toExitCode(error, true);
    }
  }
}

function invocationOf(args: readonly string[]): Invocation {
  const request = parse(args);
  if (request.kind !== "run") throw new Error(`${args.join(" ")} runs nothing`);
  return request.invocation;
}
