/**
 * The folder `examples` as a user has it: in a project where the package is installed.
 * @module
 */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, mkdtemp, realpath, rm, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { inject, onTestFinished } from "vitest";
import { ROOT } from "./run.js";

/** What examples need beside the package and what comes with it: those of the checkout. */
const OTHERS = ["@modelcontextprotocol/server", "oidc-provider"];

/** A copy of the examples, until it is disposed of. */
export class Examples implements AsyncDisposable {
  private constructor(readonly folder: string) {}

  static async copied(): Promise<Examples> {
    const folder = await mkdtemp(join(inject("app"), "examples-"));
    await cp(join(ROOT, "examples"), folder, { recursive: true });
    for (const name of OTHERS) {
      const link = join(folder, "node_modules", name);
      await mkdir(dirname(link), { recursive: true });
      await symlink(await realpath(join(ROOT, "node_modules", name)), link);
    }
    return new Examples(folder);
  }

  /** Starts a program for the test around, with the one PATH that the package's users are sure to have. */
  start(program: string, args: readonly string[] = [], env: Readonly<Record<string, string>> = {}): Started {
    const started = new Started(
      spawn("node", [join(this.folder, program), ...args], {
        cwd: this.folder,
        env: { PATH: inject("path"), HOME: this.folder, ...env },
        stdio: ["ignore", "pipe", "pipe"],
      }),
    );
    onTestFinished(() => started.kill());
    return started;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** A program that runs. */
export class Started {
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown>;
  #text = "";
  #onText: () => void = () => undefined;

  constructor(child: ChildProcess) {
    this.#child = child;
    this.#ended = once(child, "close");
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding("utf8").on("data", (piece: string) => {
        this.#text += piece;
        this.#onText();
      });
    }
  }

  /** What it printed so far. */
  get text(): string {
    return this.#text;
  }

  /** Waits until it has printed what is looked for, and gives that. Fails where it ends before. */
  async printed(pattern: RegExp): Promise<string> {
    const found = new Promise<string>((resolve) => {
      this.#onText = () => {
        const [match] = pattern.exec(this.#text) ?? [];
        if (match !== undefined) resolve(match);
      };
      this.#onText();
    });
    const ended = this.#ended.then(() => {
      throw new Error(`It ended:\n${this.#text}`);
    });
    return Promise.race([found, ended]);
  }

  /** All that it printed, once it has ended by itself. */
  async whole(): Promise<string> {
    await this.#ended;
    if (this.#child.exitCode !== 0) throw new Error(`It failed:\n${this.#text}`);
    return this.#text;
  }

  /** As Ctrl-C does. */
  async interrupt(): Promise<void> {
    this.#child.kill("SIGINT");
    await this.#ended;
  }

  /** Ends it, if it has not ended yet. */
  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#ended;
  }
}
