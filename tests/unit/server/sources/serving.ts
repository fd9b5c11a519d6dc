/**
 * Servers in front of real sources, each over in the end of its test.
 * @module
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { MemoryArtifactStore } from "../../../../web/src/index.js";
import { SluiceServer, type SluiceServerOptions } from "../../../../web/src/serve.js";
import type { ExternalToolConfig } from "../../../../web/src/tools-node.js";
import { byHeaders, Visitor } from "../visitor.js";
import { Telling } from "./told.js";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** The fixture of ours, which has resources, questions and faults; over stdio. */
export const FIXTURE = `"${process.execPath}" "${here("../../../e2e/fixture/stdio.mjs")}"`;

/** A program that changes its tools, hangs and dies. */
export const CHANGING = `"${process.execPath}" "${here("../../tools/changing-server.mjs")}"`;

/** A program whose resources fail, hang and die. */
export const TROUBLED = `"${process.execPath}" "${here("troubled-server.mjs")}"`;

/** The fixture over HTTP, one process for all who connect to it; gives its address. */
export async function overHttp(): Promise<string> {
  const child = spawn(process.execPath, [here("../../../e2e/fixture/http.mjs")], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill());
  const lines = createInterface({ input: child.stdout });
  const [url] = (await once(lines, "line")) as [string];
  return url;
}

/** Tried again at once. */
export const retry_policy = { wait_exponential_min_s: 0.01, wait_exponential_max_s: 0.1 };

/** A program as a source. */
export function program(
  name: string,
  connection: string = FIXTURE,
  more: Partial<ExternalToolConfig> = {},
): ExternalToolConfig {
  return { name, transport: "mcp", connection, retry_policy, ...more };
}

/** What a server serves to people who are known by headers. */
export interface Serving {
  readonly server: SluiceServer;
  readonly store: MemoryArtifactStore;
  /** What nobody who asked was told. */
  readonly errors: readonly unknown[];
}

/** A server for the time of a test, or until what `onEnd` takes is called. */
export function served(
  options: Partial<SluiceServerOptions>,
  onEnd: (end: () => Promise<void>) => void = onTestFinished,
): Serving {
  const store = new MemoryArtifactStore();
  const errors: unknown[] = [];
  const server = new SluiceServer({
    store,
    authenticate: byHeaders,
    onError: (error) => errors.push(error),
    ...options,
  });
  onEnd(() => server[Symbol.asyncDispose]());
  return { server, store, errors };
}

/** A session of somebody. */
export function visitor({ server }: Pick<Serving, "server">, user: string = "ada"): Promise<Visitor> {
  return Visitor.of(server, { user });
}

/** A call whose events are told. */
export async function called(by: Visitor, name: string, args: object = {}, more: object = {}): Promise<Telling> {
  return new Telling(await by.ask(`/tools/${encodeURIComponent(name)}`, posted({ args, ...more })));
}

/** The same, answered in JSON. */
export function calledOnce(by: Visitor, name: string, args: object = {}): Promise<Response> {
  const headers = { "content-type": "application/json", accept: "application/json" };
  return by.ask(`/tools/${encodeURIComponent(name)}`, { ...posted({ args }), headers });
}

/** Listens to the session's events. */
export async function listening(by: Visitor, lastId?: string): Promise<Telling> {
  const headers: Record<string, string> = lastId === undefined ? {} : { "last-event-id": lastId };
  return new Telling(await by.ask("/events", { headers }));
}

/** A body of JSON. */
export function posted(value: unknown): RequestInit & { readonly headers: Record<string, string> } {
  return { method: "POST", body: JSON.stringify(value), headers: { "content-type": "application/json" } };
}

/** Asks another server in the same session. */
export function elsewhere(
  { server }: Pick<Serving, "server">,
  by: Visitor,
  path: string,
  init: RequestInit = {},
): Promise<Response> {
  const headers = new Headers(init.headers);
  headers.set("authorization", `Bearer ${by.token}`);
  return server.fetch(new Request(`http://127.0.0.1:8080${path}`, { ...init, headers }));
}
