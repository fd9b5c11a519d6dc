/**
 * Wraps an existing client with an interceptor.
 * @module
 */
import { stringifyDeep } from "../core/value.js";
import { textOf } from "../jsonrpc/bytes.js";
import { createInterceptor, INTERCEPTOR_OPTIONS, type InterceptorOptions, type McpInterceptor } from "./interceptor.js";
import { writeInstruction } from "./catalog.js";
import { toolDefinitions } from "./artifact-tools.js";
import { objectOr } from "../jsonrpc/rpc.js";
import { checkOptionNames, DEFAULT_NAMESPACE } from "../errors/arguments.js";

/** Methods of the SDKs' clients and the MCP requests they make. */
const METHODS: Readonly<Record<string, string>> = {
  callTool: "tools/call",
  listTools: "tools/list",
  readResource: "resources/read",
  listResources: "resources/list",
  listResourceTemplates: "resources/templates/list",
};

type Method = (params?: object, ...rest: readonly unknown[]) => Promise<object>;

/**
 * Returns a client that answers like `client`, with large content stored, and with tools that read and edit it. Works with
 * clients of SDK v1 and v2, connected or not; `client` itself is not changed. Results have been received whole by then;
 * our transports accept larger ones.
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
      if (typeof value !== "function" || name === "constructor") return value;
      const method = value.bind(target) as Method;
      if (name === "getInstructions") return () => exchange.instructions(method);
      const rpc = typeof name === "string" && Object.hasOwn(METHODS, name) ? METHODS[name] : undefined;
      if (name === "request") return exchange.requests(method);
      if (rpc === undefined) return method;
      return (params?: object, ...rest: readonly unknown[]) =>
        exchange.call(rpc, params, (changed) => method(changed, ...rest));
    },
  });
}

/** Passes calls through an interceptor as messages. */
class Exchange {
  readonly #client: { readonly getServerCapabilities?: () => unknown };
  readonly #options: InterceptorOptions;
  #interceptor: Promise<McpInterceptor> | undefined;
  #lastId = 0;

  constructor(client: object, options: InterceptorOptions) {
    this.#client = client;
    this.#options = options;
  }

  /** The server's instructions with our sentence appended. */
  instructions(server: () => unknown): string {
    const tools = toolDefinitions(this.#options.namespace ?? DEFAULT_NAMESPACE).map(({ name }) => name);
    const own = server();
    return [...(typeof own === "string" && own !== "" ? [own] : []), writeInstruction(tools)].join("\n\n");
  }

  /** Wraps the client's `request`: requests of the methods above go through the interceptor. */
  requests(send: Method): Method {
    return (request, ...rest) => {
      const { method, params } = objectOr(request);
      if (typeof method !== "string" || !Object.values(METHODS).includes(method)) return send(request, ...rest);
      return this.call(method, params as object | undefined, (changed) =>
        send({ ...request, ...(changed !== undefined && { params: changed }) }, ...rest),
      );
    };
  }

  async call(
    method: string,
    params: object | undefined,
    server: (params: object | undefined) => Promise<object>,
  ): Promise<object> {
    const interceptor = await (this.#interceptor ??= createInterceptor(this.#options));
    const capabilities = objectOr(this.#client.getServerCapabilities?.());
    interceptor.introduce({ hasTools: true, hasResources: capabilities["resources"] !== undefined });
    const id = (this.#lastId += 1);
    const request = JSON.stringify({ jsonrpc: "2.0", id, method, params });
    const { forward, answers } = await interceptor.fromClient(new TextEncoder().encode(request));
    const [own] = answers;
    if (forward === undefined) return resultOf((await own) ?? "");
    const sent = new TextDecoder().decode(forward);
    const changed = sent === request ? params : (objectOr(JSON.parse(sent))["params"] as object);
    try {
      return await interceptResult(interceptor, id, await server(changed));
    } finally {
      interceptor.forget(String(id));
    }
  }
}

async function interceptResult(interceptor: McpInterceptor, id: number, result: object): Promise<object> {
  const pieces: Uint8Array[] = [];
  const put = async (bytes: Uint8Array): Promise<void> => void pieces.push(bytes);
  const incoming = interceptor.fromServer(
    { forward: put, complete: async () => undefined, nonProtocol: put },
    () => undefined,
  );
  const sent = new TextEncoder().encode(stringifyDeep({ jsonrpc: "2.0", id, result }));
  try {
    await incoming.write(sent);
    await incoming.end();
  } finally {
    await incoming[Symbol.asyncDispose]();
  }
  // An unchanged result is returned as the same object.
  if (pieces.length === 1 && pieces[0] === sent) return result;
  return resultOf(textOf(pieces));
}

/** The result of a response. Throws the error of an error response. */
function resultOf(response: string | undefined): object {
  const { result, error } = objectOr(JSON.parse(response ?? "{}"));
  if (typeof result === "object" && result !== null) return result;
  const { code, message, data } = objectOr(error);
  throw Object.assign(new Error(String(message)), { code, data });
}
