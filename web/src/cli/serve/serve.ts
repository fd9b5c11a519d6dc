/**
 * `sluice serve`: sessions, artifacts, resources, events and chat over HTTP, with the playground in front.
 *
 * The operands and options are in `../commands/serve.ts`.
 * @module
 */
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { HostGuard } from "../../server/http/host-guard.js";
import { openListener, type ClosableServer } from "../../server/http/listen.js";
import type { SluiceServerOptions } from "../../server/options.js";
import type { Authenticate } from "../../server/session.js";
import { SluiceServer } from "../../server/sluice-server.js";
import { printKeys } from "../config.js";
import { cannotListen, Exit, awaitSignal } from "../exit.js";
import { formatUrl } from "../proxy/http-listener.js";
import { offerMetrics } from "../proxy/metrics-listener.js";
import type { Invocation } from "../command.js";
import type { Terminal } from "../terminal/terminal.js";
import { createAuthentication, oidcOptions, providerOptions, serverOptions } from "./server-options.js";
import { Front } from "./front.js";
import { serveKeys } from "./config-file.js";
import { ServeLog } from "./log.js";
import { Page } from "./page.js";
import { readSettings, type ServeSettings } from "./settings.js";
import { openState, openStores } from "./stores.js";

/** The playground, if its package is installed beside this one. */
async function playground(): Promise<Page | null> {
  let manifest: string;
  try {
    manifest = createRequire(import.meta.url).resolve("mcp-sluice-playground/package.json");
  } catch {
    return null;
  }
  return Page.open(join(dirname(manifest), "site"));
}

/** Serves until a signal arrives, and returns the exit code. Throws UsageError, CommandError, and SluiceError for a wrong key. */
export async function run(invocation: Invocation, terminal: Terminal): Promise<number> {
  if (invocation.has("keys")) {
    await printKeys(serveKeys(), terminal.output);
    return Exit.ok;
  }
  const settings = await readSettings(invocation, terminal.env);
  const log = new ServeLog(terminal, settings.secrets, invocation.has("verbose"));
  // Errors in the settings are reported before anything is opened.
  const options = await serverOptions(settings);
  const authenticate = await createAuthentication(settings);
  const over = awaitSignal();
  const front = new Front(log);
  const listening = await openFront(front, settings);
  try {
    return await runServer({ settings, options, authenticate, terminal, log, front, listening, over });
  } finally {
    await listening[Symbol.asyncDispose]();
  }
}

interface Serving {
  readonly settings: ServeSettings;
  readonly options: Omit<SluiceServerOptions, "store">;
  readonly authenticate: Authenticate | undefined;
  readonly terminal: Terminal;
  readonly log: ServeLog;
  readonly front: Front;
  readonly listening: ClosableServer;
  /** Resolves with the exit code of the signal that ends it. */
  readonly over: Promise<number>;
}

/** Opens everything and waits for the end. Running requests are waited for before anything is closed, in reverse order. */
async function runServer(serving: Serving): Promise<number> {
  const { settings, options, authenticate, terminal, log, front, listening, over } = serving;
  const { config, address, token, files } = settings;
  const providers = providerOptions(settings, listening.port);
  await using state = await openState(settings);
  await using stores = await openStores(settings, state.clock);
  await using metrics = await offerMetrics(settings.metrics, terminal);
  await using server = new SluiceServer({
    ...options,
    ...providers,
    ...oidcOptions(settings, listening.port),
    ...(authenticate !== undefined && { authenticate }),
    ...(files.isOn && { filesStore: stores.files }),
    ...(stores.large !== undefined && { files: { ...options.files, largeStore: stores.large } }),
    store: stores.sessions,
    state,
    ...(metrics.here !== undefined && { metrics: metrics.here }),
    onError: (error) => log.failed(error),
  });
  const hosts = new HostGuard(options);
  const takesLinks = token !== undefined || config.auth?.tokens !== undefined;
  front.open({ server, page: await playground(), hosts, takesLinks });
  log.say(`listening on ${formatUrl(address.host, listening.port, "/")}`);
  const code = await over;
  await endServer(listening, settings, log);
  return code;
}

/** Lets balancers notice, and running requests finish. A signal skips the first, and one more ends the process at once. */
async function endServer(listening: ClosableServer, settings: ServeSettings, log: ServeLog): Promise<void> {
  const { drainSeconds, graceSeconds } = settings;
  const [skip, closing] = [new AbortController(), new AbortController()];
  if (drainSeconds > 0) {
    log.say(`stopping: ready fails for ${drainSeconds} s, and all else is served; a second signal skips that`);
    void awaitSignal(closing.signal).then(() => skip.abort());
  }
  const left = await listening.close({
    signal: skip.signal,
    onClosing: () => {
      closing.abort();
      const again = drainSeconds > 0 ? "one more" : "a second";
      log.say(`stopping: running requests have ${graceSeconds} s; ${again} signal stops at once`);
    },
    onWaiting: (open) => log.say(`stopping: waiting for ${open}`),
  });
  if (left !== "") log.say(`stopped: after ${graceSeconds} s there were still ${left}, which were ended`);
}

async function openFront(
  front: Front,
  { address, drainSeconds, graceSeconds }: ServeSettings,
): Promise<ClosableServer> {
  try {
    return await openListener(front, { ...address, drainSeconds, graceSeconds });
  } catch (error) {
    const at = formatUrl(address.host, address.port, "");
    throw cannotListen(Exit.failure, at, "--listen HOST:PORT", (error as Error).cause ?? error);
  }
}
