/**
 * Which servers died after they were connected, and came back. Loaded when the first connection fails or is checked.
 * @module
 */
import { SluiceError } from "mcp-sluice";
import type { Connection } from "./connection.js";
import type { Problem, ServerAddress, ShownServer, ShownTool } from "./messages.js";

interface HealthDeps {
  /** Connections whose tools are known, without those whose server died. */
  readonly ready: Set<Connection>;
  readonly say: (connection: Connection, now: Pick<ShownServer, "status"> & Partial<ShownServer>) => void;
}

/** The servers that died. */
export class Health {
  readonly #deps: HealthDeps;
  /** With the tools that each had, which stay listed since it may come back. */
  readonly #fallen = new WeakMap<Connection, readonly ShownTool[]>();

  constructor(deps: HealthDeps) {
    this.#deps = deps;
  }

  /** A server that was connected does not answer. */
  async fell(connection: Connection, error: unknown): Promise<void> {
    const { ready, say } = this.#deps;
    const known = this.#fallen.get(connection);
    if (!ready.delete(connection) && known === undefined) return;
    this.#fallen.set(connection, known ?? []);
    const { name } = connection.address;
    const message = error instanceof SluiceError ? error.message : `${name} does not answer: check that it is running.`;
    const problem = withAddress({ code: "E_TOOL_CONNECTION", message }, connection.address);
    const tools = known ?? (await connection.tools().catch(() => []));
    if (ready.has(connection)) return;
    this.#fallen.set(connection, tools);
    say(connection, { status: "failed", problem, tools });
  }

  /** A server that did not answer does so again. */
  async answered(connection: Connection): Promise<void> {
    const tools = this.#fallen.get(connection);
    if (tools === undefined || !this.#fallen.delete(connection)) return;
    this.#deps.ready.add(connection);
    this.#deps.say(connection, { status: "ready", tools: await connection.tools().catch(() => tools) });
  }
}

/** The problem with the address that was typed, without what may be a secret in it. */
export function withAddress(problem: Problem, { kind, url }: ServerAddress): Problem {
  if (kind !== "http" || problem.code === "E_CANCELLED") return problem;
  const { origin, pathname } = new URL(url);
  return { ...problem, message: `${origin}${pathname}: ${problem.message}` };
}
