/**
 * The clients of both SDKs, which find out by themselves where to sign in, and the person who does.
 * @module
 */
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from "@modelcontextprotocol/client";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as HttpV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { consent, REDIRECT } from "../../tools/auth/authorization-server.js";

const INFO = { name: "test", version: "1.0.0" };

/** What the tests use of a client; the SDKs' own types differ in what does not matter here. */
export interface AnyClient {
  connect(transport: unknown): Promise<void>;
  close(): Promise<void>;
  listTools(): Promise<{ readonly tools: readonly { readonly name: string }[] }>;
  callTool(params: object): Promise<{ readonly content: readonly { readonly type: string; readonly text?: string }[] }>;
}

interface AnyTransport {
  readonly sessionId?: string;
  finishAuth(code: string, iss?: string): Promise<void>;
  terminateSession(): Promise<void>;
}

type NewTransport = new (url: URL, options: object) => AnyTransport;

/** The clients that there are. */
export const CLIENTS: readonly (readonly [string, () => AnyClient, NewTransport])[] = [
  ["SDK v1", () => new ClientV1(INFO) as unknown as AnyClient, HttpV1 as unknown as NewTransport],
  ["SDK v2, 2025-11-25", () => new ClientV2(INFO), HttpV2 as unknown as NewTransport],
  [
    "SDK v2, 2026-07-28",
    () => new ClientV2(INFO, { versionNegotiation: { mode: { pin: "2026-07-28" } } }),
    HttpV2 as unknown as NewTransport,
  ],
];

/** What a client keeps of its registration and its tokens. */
export class Keeping {
  readonly redirectUrl = REDIRECT;
  readonly clientMetadata = {
    client_name: "Test",
    redirect_uris: [REDIRECT],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
  };
  /** Where the person was sent to consent. */
  readonly asked: URL[] = [];
  kept: { client?: object; tokens?: { access_token: string; refresh_token?: string }; verifier?: string } = {};

  clientInformation = (): object | undefined => this.kept.client;
  saveClientInformation = (client: object): void => void (this.kept.client = client);
  tokens = (): object | undefined => this.kept.tokens;
  saveTokens = (tokens: { access_token: string }): void => void (this.kept.tokens = tokens);
  redirectToAuthorization = (url: URL): void => void this.asked.push(url);
  saveCodeVerifier = (verifier: string): void => void (this.kept.verifier = verifier);
  codeVerifier = (): string => this.kept.verifier ?? "";
}

/** A client that somebody signed in. */
export interface SignedInClient extends AsyncDisposable {
  readonly client: AnyClient;
  readonly transport: AnyTransport;
  readonly keeping: Keeping;
}

/** Connects a client that knows of nothing but the address: it is refused, finds the provider, and the person signs in. */
export async function connected(
  url: string,
  login: string,
  [, makeClient, Transport]: (typeof CLIENTS)[number],
): Promise<SignedInClient> {
  const keeping = new Keeping();
  const open = (): AnyTransport => new Transport(new URL(url), { authProvider: keeping });
  const first = open();
  const refused: unknown = await makeClient()
    .connect(first)
    .then(
      () => new Error("it was let in without a token"),
      (error: unknown) => error,
    );
  const asked = keeping.asked.at(-1);
  if (asked === undefined) throw refused;
  const back = await consent(asked.href, { login });
  await first.finishAuth(back.searchParams.get("code") ?? "", back.searchParams.get("iss") ?? undefined);
  const [client, transport] = [makeClient(), open()];
  await client.connect(transport);
  return { client, transport, keeping, [Symbol.asyncDispose]: () => client.close() };
}
