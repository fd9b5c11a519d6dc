/**
 * Serves the chat, and beside it the provider and the calendar that it asks: a process of their own, at another origin.
 * @module
 */
import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { PreviewServer, UserConfig, ViteDevServer } from "vite";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** Starts them for the first page that asks where they are, and ends them with the server. */
function beside(server: ViteDevServer | PreviewServer): void {
  let world: World | undefined;
  server.httpServer?.once("close", () => {
    if (world?.process.connected === true) world.process.disconnect();
  });
  server.middlewares.use("/calendar.json", (_request, response) => {
    const redirect_uri = new URL("callback.html", server.resolvedUrls?.local[0]).href;
    world ??= started(redirect_uri);
    void world.url.then(
      (url) => response.setHeader("content-type", "application/json").end(JSON.stringify({ url, redirect_uri })),
      (error: unknown) => {
        server.config.logger.error(String(error));
        response.writeHead(502).end();
      },
    );
  });
}

interface World {
  readonly process: ChildProcess;
  readonly url: Promise<string>;
}

function started(redirect_uri: string): World {
  const provider = fork(here("../../agent-with-oauth/provider.mjs"), [redirect_uri, "0"], { silent: true });
  let errors = "";
  provider.stderr?.setEncoding("utf8").on("data", (text: string) => (errors += text));
  const url = new Promise<string>((resolve, reject) => {
    provider.once("message", (message: { readonly url: string }) => resolve(message.url));
    provider.once("exit", () => reject(new Error(`The provider ended:\n${errors}`)));
  });
  return { process: provider, url };
}

const config: UserConfig = {
  root: here("."),
  build: { rolldownOptions: { input: ["index.html", "callback.html"].map(here) } },
  plugins: [{ name: "calendar", configureServer: beside, configurePreviewServer: beside }],
};
export default config;
