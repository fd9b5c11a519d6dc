/**
 * Where a command offers its metrics: at its own address, at another one, or nowhere.
 * @module
 */
import { METRICS_PATH, startMetrics, metricsResponse, type MetricsOptions } from "../../telemetry/metrics-endpoint.js";
import { readSecret } from "../configuration.js";
import { tell, type Terminal } from "../terminal/terminal.js";
import { isLoopback, listenAddress, ListenGuard, serveHttp, formatUrl, type ListenAddress } from "./http-listener.js";

/** The token that a scrape must have. */
const TOKEN_VARIABLE = "SLUICE_METRICS_TOKEN";

const SHORTEST_TOKEN = 16;

/** Where the metrics are, and who gets them. */
export interface MetricsPlace extends MetricsOptions {
  /** An address of their own. Without one they are at that of the command. */
  readonly address?: ListenAddress;
}

/**
 * Reads where the metrics are. Undefined if nowhere: a user who has to sign in, or is on another machine, must not see them
 * without a token. Throws UsageError.
 */
export function metricsPlace(
  said: string | undefined,
  env: NodeJS.ProcessEnv,
  command: string,
  { host, isOpen }: { readonly host: string; readonly isOpen: boolean },
): MetricsPlace | undefined {
  const token = readSecret(env, TOKEN_VARIABLE, SHORTEST_TOKEN, command);
  const guarded = token === undefined ? {} : { token };
  if (said !== undefined) return { ...guarded, address: listenAddress(said, command, "metrics") };
  return token !== undefined || (isOpen && isLoopback(host)) ? guarded : undefined;
}

/** The metrics of a command that listens. */
interface OfferedMetrics extends AsyncDisposable {
  /** Who gets them at the command's own address. Undefined if they are elsewhere, or nowhere. */
  readonly here: MetricsOptions | undefined;
}

/** Offers the metrics, at their own address if they have one. Throws CommandError if it cannot listen there. */
export async function offerMetrics(place: MetricsPlace | undefined, terminal: Terminal): Promise<OfferedMetrics> {
  if (place === undefined) return toOffered(undefined);
  // Loaded while the command starts, which does not wait for it.
  startMetrics().catch(() => undefined);
  const { address } = place;
  if (address === undefined) return toOffered(place);
  const service = await serveHttp(address, {
    guard: new ListenGuard(address, undefined),
    handler: async ({ method, path, headers }) =>
      path.split("?")[0] === METRICS_PATH
        ? metricsResponse({ method, headers }, place)
        : new Response(null, { status: 404 }),
  });
  tell(terminal, `metrics at ${formatUrl(address.host, service.port, METRICS_PATH)}`);
  return toOffered(undefined, service);
}

function toOffered(here: MetricsOptions | undefined, service?: AsyncDisposable): OfferedMetrics {
  return { here, [Symbol.asyncDispose]: async () => service?.[Symbol.asyncDispose]() };
}
