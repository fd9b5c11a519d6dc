/**
 * Signs a person in to a source from the command line: with a kept token, or with consent in a browser.
 * @module
 */
import { createInterface } from "node:readline";
import { untilAborted } from "../../core/abort.js";
import { ToolAuthError } from "../../tools/errors.js";
import type { ExternalToolConfig } from "../../tools/config/config.js";
import { parseConnection } from "../../tools/config/connection.js";
import { discoverMcpProvider } from "../../tools/auth/mcp-discovery.js";
import { OAuthManager } from "../../tools/auth/oauth-manager.js";
import type { OAuthProviderConfig } from "../../tools/auth/oauth-client.js";
import { substitute, toVariables } from "../../tools/config/variables.js";
import { CommandError, Exit } from "../exit.js";
import { tokenFolder } from "../store/folders.js";
import { printable, type Terminal } from "../terminal/terminal.js";
import { CallbackListener, hasBrowser, openBrowser } from "./browser.js";
import { fileSealing, TokenFiles } from "./token-files.js";

/** Milliseconds that a person may take. */
const MAX_WAIT = 5 * 60 * 1000;

/** Tokens are kept per account of the machine, so there is one user. */
const USER = "me";

/** Options for signing in. */
export interface SignInOptions {
  /** Whether to open a browser. Default: if there is likely to be one. */
  readonly browser?: boolean | undefined;
  /** This program's id at the provider. Default: the one in the environment, or a new registration. */
  readonly clientId?: string | undefined;
  /** The provider, for sources that do not name theirs. */
  readonly issuer?: string | undefined;
  /** The port that the browser returns to. Default: any free one. */
  readonly port?: number | undefined;
}

/** Signs in to sources at which each user has a token (`auth_type: "oauth2_user"`). */
export class SignIn {
  readonly #terminal: Terminal;
  readonly #files: TokenFiles;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
    this.#files = new TokenFiles(tokenFolder(terminal.env, process.platform), fileSealing(terminal.env));
  }

  /** The kept token, renewed if it is about to expire; null if the person has to sign in. */
  async token({ name }: ExternalToolConfig): Promise<string | null> {
    const config = await this.#files.client(name);
    if (config === undefined) return null;
    return this.#manager(name, config).getToken(USER, name, { signal: this.#terminal.signal });
  }

  /** The token in place of one that the source refused before its end; null if the person has to sign in. */
  async renew({ name }: ExternalToolConfig, refused: string): Promise<string | null> {
    const config = await this.#files.client(name);
    if (config === undefined) return null;
    const manager = this.#manager(name, config);
    await manager.refused(USER, name, refused);
    return manager.getToken(USER, name, { signal: this.#terminal.signal });
  }

  /** Deletes a source's token. Returns whether there was one. */
  async forget(name: string): Promise<boolean> {
    const wasThere = (await this.#files.get(USER, name)) !== null;
    await this.#files.delete(USER, name);
    await this.#files.forgetClient(name);
    return wasThere;
  }

  /**
   * Has the person sign in with a browser, and returns the token.
   *
   * @throws CommandError 77 without a sign-in within five minutes; ToolNodeError if the provider refuses or cannot be
   * reached; the signal's reason.
   */
  async ask(source: ExternalToolConfig, options: SignInOptions): Promise<string> {
    const { name } = source;
    const { signal } = this.#terminal;
    const late = AbortSignal.timeout(MAX_WAIT);
    const until = AbortSignal.any([signal, late]);
    const consent = new Consent(signal);
    const take = consent.take.bind(consent);
    const listener = await CallbackListener.open(options.port ?? 0, take);
    let stopPasting: (() => void) | undefined;
    try {
      const config = await this.#provider(source, listener.redirectUri, options);
      const manager = this.#manager(name, config);
      consent.manager = manager;
      const { auth_url } = await manager.getAuthRequest({ provider: name, user_id: USER }, { signal });
      await this.#invite(name, auth_url, options);
      stopPasting = this.#takePasted(listener.redirectUri, take);
      await untilAborted(consent.given, until);
      await this.#files.keepClient(name, config);
      return (await manager.getToken(USER, name, { signal })) ?? "";
    } catch (error) {
      signal.throwIfAborted();
      if (!late.aborted) throw error;
      const minutes = MAX_WAIT / 60_000;
      throw new CommandError(Exit.refused, `there was no sign-in to ${name} within ${minutes} minutes: start again`);
    } finally {
      stopPasting?.();
      await listener[Symbol.asyncDispose]();
    }
  }

  #manager(name: string, config: OAuthProviderConfig): OAuthManager {
    return new OAuthManager({ providers: { [name]: config }, tokenStore: this.#files });
  }

  async #provider(
    source: ExternalToolConfig,
    redirect_uri: string,
    { clientId, issuer }: SignInOptions,
  ): Promise<OAuthProviderConfig> {
    const { name, transport, connection } = source;
    const { env, signal } = this.#terminal;
    const prefix = name.toUpperCase().replace(/[^A-Z0-9]/g, "_");
    const client_id = clientId ?? (env[`${prefix}_CLIENT_ID`] || undefined);
    const client_secret = env[`${prefix}_CLIENT_SECRET`] || undefined;
    if (issuer !== undefined) {
      if (client_id === undefined) {
        throw new CommandError(
          Exit.usage,
          `this program must be registered with the provider of ${name}: ${writeRegisterRemedy(prefix)}`,
        );
      }
      return { issuer, client_id, redirect_uri, ...(client_secret !== undefined && { client_secret }) };
    }
    const variables = toVariables(env);
    const fill = (text: string): string => substitute(text, variables, name);
    const endpoint = transport === "mcp" ? parseConnection(connection, fill) : undefined;
    const url = endpoint === undefined || endpoint.kind === "stdio" ? undefined : endpoint.url;
    if (url === undefined) {
      throw new CommandError(
        Exit.usage,
        `the source ${name} does not name its sign-in provider: name it with --issuer`,
      );
    }
    const known = client_id === undefined ? {} : { client_id, ...(client_secret !== undefined && { client_secret }) };
    const client = { redirect_uri, ...known };
    return discoverMcpProvider({ source: name, url, client, signal, remedy: writeRegisterRemedy(prefix) });
  }

  async #invite(name: string, url: string, { browser }: SignInOptions): Promise<void> {
    const { errors, env, input } = this.#terminal;
    const opens = browser ?? hasBrowser(env, process.platform);
    const lead = opens ? `Your browser opens this address, to sign in to ${name}:` : `To sign in to ${name}, open:`;
    await errors.write(`${lead}\n\n  ${printable(url)}\n\n`);
    const elsewhere = input.isTTY === true ? " Signed in on another machine? Paste the address of the last page." : "";
    await errors.write(`Waiting for you to sign in. Ctrl-C cancels.${elsewhere}\n`);
    if (opens) openBrowser(url, env);
  }

  /** A browser on another machine cannot reach our listener: the person pastes the address it ended at. */
  #takePasted(redirectUri: string, take: TakePasted): () => void {
    const { input, errors } = this.#terminal;
    if (input.isTTY !== true) return () => undefined;
    const lines = createInterface({ input });
    lines.on("line", (line) => {
      const text = line.trim();
      if (!URL.canParse(text) || !text.startsWith(redirectUri)) {
        if (text !== "") void errors.write(`That is not the address: it must begin with ${redirectUri}\n`);
        return;
      }
      void take(new URL(text)).catch(() => undefined);
    });
    return () => {
      lines.close();
      input.pause();
    };
  }
}

type TakePasted = (answer: URL) => Promise<unknown>;

/** The remedy if a provider accepts only programs that are registered with it. */
function writeRegisterRemedy(prefix: string): string {
  return `pass the id that you registered as --client-id or in ${prefix}_CLIENT_ID, and its secret, if it has one, in ${prefix}_CLIENT_SECRET.`;
}

/** Waits for the answer to one request for consent, from the listener or pasted. */
class Consent {
  /** Resolves when the person has consented; rejects if the provider gives no token. */
  readonly given: Promise<void>;
  manager: OAuthManager | undefined;
  readonly #signal: AbortSignal;
  #settle: { readonly agreed: () => void; readonly failed: (error: unknown) => void } | undefined;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
    this.given = new Promise((agreed, failed) => {
      this.#settle = { agreed, failed };
    });
  }

  /** Takes the URL that a browser returned with. One that does not answer our request is ignored: any program on this machine can send one. */
  async take(answer: URL): Promise<"taken" | "unknown"> {
    if (this.manager === undefined) return "unknown";
    try {
      await this.manager.handleCallback(answer, { user: USER, signal: this.#signal });
      this.#settle?.agreed();
      return "taken";
    } catch (error) {
      if (error instanceof ToolAuthError && !("user_id" in error)) return "unknown";
      this.#settle?.failed(error);
      throw error;
    }
  }
}
