/** What the tests use of oidc-provider, which ships no types. */
declare module "oidc-provider" {
  import type { IncomingMessage, ServerResponse } from "node:http";

  export class Provider {
    constructor(issuer: string, setup: Readonly<Record<string, unknown>>);
    readonly AccessToken: {
      find(
        token: string,
      ): Promise<
        { readonly accountId: string; readonly aud?: string; readonly scopes: ReadonlySet<string> } | undefined
      >;
    };
    readonly ClientCredentials: {
      find(token: string): Promise<{ readonly clientId: string; readonly scope?: string } | undefined>;
    };
    callback(): (request: IncomingMessage, response: ServerResponse) => void;
  }
}
