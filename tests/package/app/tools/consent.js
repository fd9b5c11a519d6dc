/**
 * A person's consent, asked for in a window of its own; the provider sends it back to `callback.html`.
 * @module
 */
import { OAuthManager, ToolNode } from "mcp-sluice/tools";

const channel = new BroadcastChannel("consent");

/** The address that the provider sent somebody back to. */
function sentBack() {
  return new Promise((resolve) => {
    channel.addEventListener("message", ({ data }) => resolve(new URL(data)), { once: true });
  });
}

/** A provider that is configured, asked before any call is made. */
export async function consent({ url, issuer, redirect_uri, user }, openWindow) {
  const auth_params = { prompt: "login consent" };
  const provider = { issuer, client_id: "page", redirect_uri, scopes: ["openid"], auth_params };
  const manager = new OAuthManager({ providers: { far: provider } });
  const { display_name, auth_url } = await manager.getAuthRequest({ provider: "far", user_id: user });
  const back = sentBack();
  openWindow(auth_url);
  await manager.handleCallback(await back, { user });

  const node = new ToolNode(
    { name: "far", transport: "mcp", connection: url, auth_type: "oauth2_user" },
    { authManager: manager },
  );
  const scope = { user_id: user };
  await node.connect({ scope });
  const { value } = await node.call("far.whoami", {}, { scope });
  await node.close();
  return { asked: [display_name], value };
}

/** A provider that the server tells of, asked when it is needed. */
export async function consentWhileCalling({ url, redirect_uri, user }, openWindow) {
  const manager = new OAuthManager({ providers: {} });
  const asked = [];
  const pause = async (_reason, { auth_url, display_name }) => {
    asked.push(display_name);
    const back = sentBack();
    openWindow(auth_url);
    await manager.handleCallback(await back, { user });
  };
  const node = new ToolNode(
    { name: "far", transport: "mcp", connection: url, auth_type: "oauth2_user" },
    { authManager: manager, oauthClient: { redirect_uri } },
  );
  const context = { scope: { user_id: user }, pause };
  await node.connect(context);
  const { value } = await node.call("far.whoami", {}, context);
  await node.close();
  return { asked, value };
}
