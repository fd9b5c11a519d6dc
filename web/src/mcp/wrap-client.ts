/**
 * Wraps an existing client with an interceptor.
 * @module
 */
import { stringifyDeep } from "../core/value.js";
import { decodePieces } from "../jsonrpc/bytes.js";
import type { McpInterceptor } from "./interceptor.js";
import { createInterceptor, INTERCEPTOR_OPTIONS, type InterceptorOptions } from "./interceptor-options.js";
import { writeInstruction } from "./catalog.js";
import { MIN_RUN } from "./description-guard.js";
import { toolDefinitions } from "./artifact-tools.js";
import { objectOr, RpcCode, stringOr } from "../jsonrpc/rpc.js";
import { checkOptionNames, DEFAULT_NAMESPACE, isObject } from "../errors/arguments.js";

/** Methods of the SDKs' clients and the MCP requests they make. */
const METHODS: Readonly<Record<string, string>> = {
  callTool: "tools/call",
  listTools: "tools/list",
  readResource: "resources/read",
  listResources: "resources/list",
  listResourceTemplates: "resources/templates/list",
  getPrompt: "prompts/get",
  listPrompts: "prompts/list",
};

/** Methods of `experimental.tasks` of SDK v1, and the member of the request's parameters that their first argument is. */
const TASK_METHODS: Readonly<Record<string, readonly [method: string, parameter: string]>> = {
  getTask: ["tasks/get", "taskId"],
  getTaskResult: ["tasks/result", "taskId"],
  listTasks: ["tasks/list", "cursor"],
  cancelTask: ["tasks/cancel", "taskId"],
};

type Method = (...args: readonly unknown[]) => unknown;
type Handler = (message: unknown, ...rest: readonly unknown[]) => unknown;
type Params = object | undefined;

/**
 * Returns a client that answers like `client`, with large content stored, and with tools that read and edit it. Errors, and what the server
 * asks for, tells and reports, are without bytes too. Works with clients of SDK v1 and v2, connected or not; `client` itself is not changed, and
 * handlers that were set on it before are not told otherwise. Results have been received whole by then; our transports accept larger ones.
 *
 * @example
 * const gated = wrapClient(client, { store, namespace: "files" });
 * const result = await gated.callTool({ name: "read_media_file", arguments: { path: "report.pdf" } });
 */
export function wrapClient<Client extends object>(client: Client, options: InterceptorOptions = {}): Client {
  const exchange = new Exchange(client, checkOptionNames(options, "wrapClient", INTERCEPTOR_OPTIONS));
  return new Proxy(client, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name, target);
      if (name === "experimental" && isObject(value)) return exchange.wrapExperimental(value);
      if (typeof value !== "function" || name === "constructor") return value;
      return exchange.wrapMethod(String(name), value.bind(target) as Method);
    },
    set: (target, name, value: unknown) => {
      const isFallback = name === "fallbackNotificationHandler" || name === "fallbackRequestHandler";
      const handler = isFallback && typeof value === "function" ? exchange.wrapHandler(value as Handler) : value;
      return Reflect.set(target, name, handler, target);
    },
  });
}

/** Passes calls through an interceptor as messages. */
class Exchange {
  readonly #client: Readonly<
    Partial<Record<"getServerCapabilities" | "getServerVersion" | "getInstructions", () => unknown>>
  >;
  readonly #options: InterceptorOptions;
  #interceptor: Promise<McpInterceptor> | undefined;
  #lastId = 0;
  /** Messages that the server sent before the next answer, and that come before it. */
  readonly #reading = new Set<Promise<unknown>>();
  /** What the server says of itself, without bytes. */
  #introduction: Readonly<Record<string, unknown>> | undefined;

  constructor(client: object, options: InterceptorOptions) {
    this.#client = client;
    this.#options = options;
    // It may be connected already.
    if (this.#client.getServerVersion?.() !== undefined) void this.#introduce().catch(() => undefined);
  }

  /** A method of the client by its name. */
  wrapMethod(name: string, method: Method): Method {
    const rpc = Object.hasOwn(METHODS, name) ? METHODS[name] : undefined;
    if (rpc !== undefined)
      return (params, ...rest) => this.call(rpc, params as Params, rest, (...args) => method(...args));
    switch (name) {
      case "getInstructions":
        return () => this.#readInstructions();
      case "getServerVersion":
        return () => this.#readIntroduction("serverInfo", method());
      case "request":
        return this.#wrapRequest(method);
      case "setNotificationHandler":
      case "setRequestHandler":
        return (...args) =>
          method(...args.map((arg) => (typeof arg === "function" ? this.wrapHandler(arg as Handler, args[0]) : arg)));
      case "connect":
        return async (...args) => {
          await this.#guardErrors(() => method(...args));
          await this.#introduce();
        };
      default:
        return (...args) => {
          const outcome = method(...args);
          return outcome instanceof Promise ? this.#guardErrors(() => outcome) : outcome;
        };
    }
  }

  /** The tasks of SDK v1. */
  wrapExperimental(experimental: object): object {
    const { tasks } = objectOr(experimental);
    if (!isObject(tasks)) return experimental;
    const get = (target: object, name: string | symbol): unknown => {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      const method = value.bind(target) as Method;
      const [rpc, parameter] = TASK_METHODS[String(name)] ?? [];
      if (rpc !== undefined && parameter !== undefined) {
        return (first: unknown, ...rest: readonly unknown[]) =>
          this.call(rpc, { [parameter]: first }, rest, (params, ...more) =>
            method(objectOr(params)[parameter], ...more),
          );
      }
      if (name === "callToolStream") {
        return (params: Params, ...rest: readonly unknown[]) => this.#stream("tools/call", params, rest, method);
      }
      if (name !== "requestStream") return method;
      return (request: unknown, ...rest: readonly unknown[]) => {
        const { method: asked, params } = objectOr(request);
        const send: Method = (changed, ...more) => method({ ...objectOr(request), params: changed }, ...more);
        return this.#stream(String(asked), params as Params, rest, send);
      };
    };
    return { ...experimental, tasks: new Proxy(tasks, { get }) };
  }

  /** A handler of messages from the server. `named` is what it was set for: a method, or a schema of v1. */
  wrapHandler(handler: Handler, named?: unknown): Handler {
    return async (message, ...rest) => {
      const { method, params } = objectOr(message);
      // For methods of their own, handlers of v2 get the parameters alone.
      const isBare = typeof method !== "string";
      const of = isBare ? stringOr(named) : method;
      if (of === undefined) return handler(message, ...rest);
      const guarded = await this.#readUnasked(of, isBare ? message : params);
      return handler(
        isBare ? guarded : { ...objectOr(message), ...(params !== undefined && { params: guarded }) },
        ...rest,
      );
    };
  }

  /** Makes a request. `rest` is what the caller passes behind its parameters. */
  async call(method: string, params: Params, rest: readonly unknown[], send: Method): Promise<object> {
    const interceptor = await this.#open();
    const id = (this.#lastId += 1);
    const { own, changed } = await sendThrough(interceptor, id, method, params);
    if (own !== undefined) return own;
    const progress = new ProgressLine((each) => this.#readUnasked("notifications/progress", each));
    try {
      const result = (await this.#guardErrors(() => send(changed, ...progress.wrap(rest)))) as object;
      await Promise.allSettled(this.#reading);
      await progress.settle();
      return await interceptResult(interceptor, id, result);
    } finally {
      interceptor.forget(String(id));
    }
  }

  /** The messages of a call that is a task: its state, and at last its result or an error. */
  async *#stream(
    method: string,
    params: Params,
    rest: readonly unknown[],
    send: Method,
  ): AsyncGenerator<unknown, void, undefined> {
    const interceptor = await this.#open();
    const id = (this.#lastId += 1);
    const { own, changed } = await sendThrough(interceptor, id, method, params);
    if (own !== undefined) {
      yield { type: "result", result: own };
      return;
    }
    const progress = new ProgressLine((each) => this.#readUnasked("notifications/progress", each));
    try {
      for await (const message of send(changed, ...progress.wrap(rest)) as AsyncIterable<
        Readonly<Record<string, unknown>>
      >) {
        await Promise.allSettled(this.#reading);
        await progress.settle();
        const { result, error, task } = message;
        if (isObject(result)) yield { ...message, result: await interceptResult(interceptor, id, result) };
        else if (error !== undefined) yield { ...message, error: await this.#guardError(error) };
        else if (isObject(task))
          yield { ...message, task: await this.#readUnasked("notifications/tasks/status", task) };
        else yield message;
      }
    } finally {
      interceptor.forget(String(id));
    }
  }

  /** The client's `request`, which makes any. */
  #wrapRequest(send: Method): Method {
    return (request, ...rest) => {
      const { method, params } = objectOr(request);
      if (typeof method !== "string") return send(request, ...rest);
      return this.call(method, params as Params, rest, (changed, ...more) =>
        send({ ...objectOr(request), ...(changed !== undefined && { params: changed }) }, ...more),
      );
    };
  }

  async #open(): Promise<McpInterceptor> {
    const interceptor = await (this.#interceptor ??= createInterceptor(this.#options));
    const capabilities = objectOr(this.#client.getServerCapabilities?.());
    interceptor.introduce({ hasTools: true, hasResources: capabilities["resources"] !== undefined });
    return interceptor;
  }

  /** Reads what the server says of itself. */
  async #introduce(): Promise<void> {
    const introduction = {
      instructions: this.#client.getInstructions?.(),
      serverInfo: this.#client.getServerVersion?.(),
    };
    const interceptor = await this.#open();
    const id = (this.#lastId += 1);
    // Without capabilities nothing is added to it.
    await sendThrough(interceptor, id, "initialize", {});
    this.#introduction = { ...(await interceptResult(interceptor, id, introduction)) };
    interceptor.forget(String(id));
  }

  /** The server's instructions with our sentence appended. */
  #readInstructions(): string {
    const tools = toolDefinitions(this.#options.namespace ?? DEFAULT_NAMESPACE).map(({ name }) => name);
    const own = this.#readIntroduction("instructions", this.#client.getInstructions?.());
    return [...(typeof own === "string" && own !== "" ? [own] : []), writeInstruction(tools)].join("\n\n");
  }

  /** A part of what the server says of itself. What is long waits until it has been looked into, which takes a moment. */
  #readIntroduction(part: string, said: unknown): unknown {
    const isShort = said === undefined || JSON.stringify(said).length < MIN_RUN;
    return isShort ? said : this.#introduction?.[part];
  }

  /** What the server tells or asks without being asked: its parameters. Throws if they cannot be passed on. */
  #readUnasked(method: string, params: unknown): Promise<unknown> {
    const read = (async () => {
      const message = { jsonrpc: "2.0", method, params };
      const passed = await passThrough(await this.#open(), message);
      if (passed === message) return params;
      if (passed === undefined) throw new Error("The server's message could not be passed on.");
      return objectOr(passed)["params"];
    })();
    const forget = (): void => void this.#reading.delete(read);
    this.#reading.add(read);
    read.then(forget, forget);
    return read;
  }

  /** Does what the client does, whose errors may hold words of the server's. */
  async #guardErrors(work: () => unknown): Promise<unknown> {
    try {
      return await work();
    } catch (error) {
      throw await this.#guardError(error);
    }
  }

  async #guardError(error: unknown): Promise<unknown> {
    if (!(error instanceof Error)) return error;
    const { message, data } = error as Error & { readonly data?: unknown };
    const told = {
      jsonrpc: "2.0",
      id: 0,
      error: { code: RpcCode.serverError, message, ...(data !== undefined && { data }) },
    };
    const passed = await passThrough(await this.#open(), told);
    if (passed === told) return error;
    const guarded = objectOr(objectOr(passed)["error"]);
    // Of the same class, with the same members. A stack begins with the message.
    const copy = Object.assign(Object.create(Object.getPrototypeOf(error) as object) as Error, error, {
      message: stringOr(guarded["message"]) ?? "The server's error could not be passed on.",
      ...(data !== undefined && { data: guarded["data"] }),
    });
    copy.stack = `${error.name}: ${copy.message}`;
    return copy;
  }
}

/** Hands a caller's `onprogress` what comes, in order, without bytes. */
class ProgressLine {
  readonly #read: (params: unknown) => Promise<unknown>;
  #last: Promise<unknown> = Promise.resolve();

  constructor(read: (params: unknown) => Promise<unknown>) {
    this.#read = read;
  }

  /** The arguments of a request, with its `onprogress` behind a guard. */
  wrap(args: readonly unknown[]): readonly unknown[] {
    return args.map((arg) => {
      const { onprogress } = objectOr(arg);
      if (typeof onprogress !== "function") return arg;
      const tell = (params: unknown): void => {
        const read = this.#read(params);
        this.#last = this.#last.then(async () => (onprogress as Handler)(await read)).catch(() => undefined);
      };
      return { ...objectOr(arg), onprogress: tell };
    });
  }

  /** Resolves when everything so far was handed on. */
  async settle(): Promise<void> {
    await this.#last;
  }
}

interface Sent {
  /** The answer, if it is ours. */
  readonly own?: object;
  /** The parameters to send. */
  readonly changed?: Params;
}

async function sendThrough(interceptor: McpInterceptor, id: number, method: string, params: Params): Promise<Sent> {
  const request = JSON.stringify({ jsonrpc: "2.0", id, method, params });
  const { forward, answers } = await interceptor.fromClient(new TextEncoder().encode(request));
  if (forward === undefined) return { own: readResult((await answers[0]) ?? "") };
  const sent = new TextDecoder().decode(forward);
  return { changed: sent === request ? params : (objectOr(JSON.parse(sent))["params"] as object) };
}

async function interceptResult(interceptor: McpInterceptor, id: number, result: object): Promise<object> {
  const message = { jsonrpc: "2.0", id, result };
  const passed = await passThrough(interceptor, message);
  return passed === message ? result : readResult(passed);
}

/** A message as the interceptor lets it through; the same object if it is unchanged, undefined for none. */
async function passThrough(interceptor: McpInterceptor, message: object): Promise<object | undefined> {
  const pieces: Uint8Array[] = [];
  const put = async (bytes: Uint8Array): Promise<void> => void pieces.push(bytes);
  const incoming = interceptor.fromServer(
    { forward: put, complete: async () => undefined, nonProtocol: put },
    () => undefined,
  );
  const sent = new TextEncoder().encode(stringifyDeep(message));
  try {
    await incoming.write(sent);
    await incoming.end();
  } finally {
    await incoming[Symbol.asyncDispose]();
  }
  if (pieces.length === 0) return undefined;
  const text = decodePieces(pieces);
  return text === decodePieces([sent]) ? message : objectOr(JSON.parse(text));
}

/** The result of a response. Throws the error of an error response. */
function readResult(response: string | object | undefined): object {
  const { result, error } = objectOr(typeof response === "string" ? JSON.parse(response || "{}") : response);
  if (typeof result === "object" && result !== null) return result;
  const { code, message, data } = objectOr(error);
  throw Object.assign(new Error(String(message)), { code, data });
}
