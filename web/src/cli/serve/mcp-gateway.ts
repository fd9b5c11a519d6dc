/**
 * Offers sources that are programs to pages, with one process for each MCP session that a page opens.
 * @module
 */
import { inherited } from "../../mcp/stdio/gated-stdio.js";
import type { ServedMcp } from "../../server/options.js";
import type { ServedSession } from "../../server/sessions/session.js";
import { readToolConfig, type ExternalToolConfig } from "../../tools/config/config.js";
import { resolveVariables } from "../../tools/config/resolved-config.js";
import type { Variables } from "../../tools/config/variables.js";
import { CommandSessions, MCP_PATH, SHARES } from "../proxy/command-sessions.js";
import { heldBody, type HttpRequest } from "../proxy/http-listener.js";
import type { Terminal } from "../terminal/terminal.js";

interface GatewayDeps {
  readonly sources: readonly ExternalToolConfig[];
  readonly variables: Variables;
  readonly terminal: Terminal;
  /** Whether a session has ended, here or in another process. */
  readonly isOver: (session: string) => Promise<boolean>;
}

/** Milliseconds between two checks for sessions that expired or ended in another process. */
const LOOK = 15_000;

/** Sources by name, each with the processes of its sessions. */
export class McpGateway implements ServedMcp, AsyncDisposable {
  readonly names: ReadonlySet<string>;
  readonly #sources: ReadonlyMap<string, CommandSessions>;
  readonly #isOver: GatewayDeps["isOver"];
  readonly #timer: NodeJS.Timeout;

  constructor({ sources, variables, terminal, isOver }: GatewayDeps) {
    const programs = sources.flatMap((source) => {
      const program = programOf(source, variables);
      if (program === undefined) return [];
      const deps = { ...program, open: undefined, terminal, namespace: source.name, ...SHARES };
      return [[source.name, new CommandSessions(deps)] as const];
    });
    this.#sources = new Map(programs);
    this.names = new Set(this.#sources.keys());
    this.#isOver = isOver;
    this.#timer = setInterval(() => void this.#look(), LOOK).unref();
  }

  readonly answer: ServedMcp["answer"] = async (source, request, session, holdProgram) => {
    const sessions = this.#sources.get(source);
    if (sessions === undefined) return new Response(null, { status: 404 });
    return sessions.handle({ ...(await heldRequest(request, session)), holdProgram });
  };

  readonly end = async (session: string): Promise<void> => {
    await Promise.all([...this.#sources.values()].map((sessions) => sessions.end(session)));
  };

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all([...this.#sources.values()].map((sessions) => sessions[Symbol.asyncDispose]()));
  }

  async #look(): Promise<void> {
    const owners = new Set([...this.#sources.values()].flatMap(({ owners: own }) => [...own]));
    for (const owner of owners) {
      // Unknown: checked again next time.
      if (await this.#isOver(owner).catch(() => false)) await this.end(owner);
    }
  }
}

interface Program {
  readonly command: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

/** The command of a source; undefined if it is no program, asks each user for consent, or lacks a variable. */
function programOf(source: ExternalToolConfig, variables: Variables): Program | undefined {
  if (source.transport !== "mcp" || source.auth_type === "oauth2_user") return undefined;
  try {
    const { endpoint, env, auth_type, auth_config } = resolveVariables(readToolConfig(source), variables);
    if (endpoint?.kind !== "stdio") return undefined;
    const { env: variable, token, api_key } = auth_config;
    const credential = auth_type === "bearer" ? token : auth_type === "api_key" ? api_key : undefined;
    const told = variable === undefined || credential === undefined ? {} : { [variable]: credential };
    return { command: endpoint.argv, env: { ...inherited(), ...env, ...told } };
  } catch {
    // The user learns what is missing when a tool is used.
    return undefined;
  }
}

async function heldRequest(request: Request, { id, identity }: ServedSession): Promise<HttpRequest> {
  const { method, headers, signal } = request;
  const user = JSON.stringify([identity.tenant_id ?? null, identity.user_id]);
  return { method, path: MCP_PATH, headers, owner: id, user, body: await heldBody(request), signal };
}
