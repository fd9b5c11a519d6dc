/**
 * A process of an agent whose tool needs a user's consent. Does one thing, prints what came of it as a line of JSON, and then
 * stays until it is killed.
 *
 * node consent-program FOLDER ORIGIN CORE 0 ISSUER REDIRECT run
 * node consent-program FOLDER ORIGIN CORE 0 ISSUER REDIRECT callback URL
 * node consent-program FOLDER ORIGIN CORE 0 ISSUER REDIRECT forget
 * node consent-program FOLDER ORIGIN CORE 0 ISSUER REDIRECT resume TOKEN
 */
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { MemoryArtifactStore } from "../../../web/src/artifacts/memory.js";
import { FileStateStore } from "../../../web/src/planner/file-state-store.js";
import { OpenAiClient } from "../../../web/src/planner/llm/openai.js";
import { ReactPlanner } from "../../../web/src/planner/react-planner.js";
import { OAuthManager, ToolNode, type StoredToken, type TokenStore } from "../../../web/src/tools.js";

const [folder = "", origin = "", core = "", , issuer = "", redirect_uri = "", verb = "", word = ""] =
  process.argv.slice(2);
const scope = { user_id: "ada" };

/** As a host would have it in its database. */
class FolderTokenStore implements TokenStore {
  readonly #root = join(folder, "tokens");

  async store(user: string, provider: string, token: StoredToken): Promise<void> {
    await mkdir(this.#root, { recursive: true });
    const aside = this.#path(user, `${provider} ${process.pid}`);
    await writeFile(aside, JSON.stringify(token));
    await rename(aside, this.#path(user, provider));
  }

  async get(user: string, provider: string): Promise<StoredToken | null> {
    return readFile(this.#path(user, provider), "utf8").then(
      (text) => JSON.parse(text) as StoredToken,
      () => null,
    );
  }

  async delete(user: string, provider: string): Promise<void> {
    await rm(this.#path(user, provider), { force: true });
  }

  #path(user: string, provider: string): string {
    return join(this.#root, Buffer.from(JSON.stringify([user, provider])).toString("base64url"));
  }
}

const stateStore = new FileStateStore(join(folder, "state"));
const manager = new OAuthManager({
  providers: { crm: { issuer, client_id: "public", redirect_uri, scopes: ["openid"] } },
  tokenStore: new FolderTokenStore(),
  stateStore,
});
const artifactStore = new MemoryArtifactStore();

async function planner(): Promise<ReactPlanner> {
  const wasm = new URL(core);
  const node = new ToolNode(
    { name: "crm", transport: "http", connection: `${origin}/openapi.json`, auth_type: "oauth2_user" },
    { authManager: manager, store: artifactStore, wasm },
  );
  await node.connect();
  const llm = new OpenAiClient({ model: "scripted", baseUrl: `${origin}/v1` });
  return new ReactPlanner({ catalog: [node], llm, artifactStore, stateStore, wasm });
}

async function done(): Promise<object> {
  if (verb === "callback") {
    return { kind: "answered", ...(await manager.handleCallback(new URL(word), { user: scope })) };
  }
  if (verb === "forget") {
    await manager.forget(scope, "crm");
    return { kind: "forgotten" };
  }
  const agent = await planner();
  return verb === "run" ? agent.run("Who am I?", { scope }) : agent.resume(word, { scope });
}

// Those that are to begin at the same time do.
await fetch(`${origin}/ready`, { method: "POST" });
const line = await done().catch((error: Error & { readonly code?: string }) => {
  return { kind: "error", code: error.code, message: error.message };
});
process.stdout.write(`${JSON.stringify(line)}\n`);
setInterval(() => undefined, 60_000);
