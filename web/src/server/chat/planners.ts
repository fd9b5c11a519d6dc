/**
 * The planners of a server's chats: of one model, with the tools of whoever asks.
 * @module
 */
import type { ArtifactScope } from "../../artifacts/store.js";
import type { CatalogSource } from "../../planner/tool.js";
import { type ReactPlannerOptions, ReactPlanner } from "../../planner/react-planner.js";
import type { HostStateStore, StateStore } from "../../planner/state-store.js";
import type { SluiceServerOptions } from "../options.js";
import type { ServeDeps } from "../deps.js";

/** Seconds after which another process goes on with the runs of one that died. */
export const LEASE_SECONDS = 15;

/** Seconds of one run, those not counted in which it waits for a person. */
const MAX_SECONDS = 15 * 60;

/** Makes planners; null where there is no model. Throws SluiceError E_CONFIG_…, E_INVALID_ARGUMENT. */
export function plannersOf(options: SluiceServerOptions, deps: ServeDeps): MakePlanner | null {
  const { llm, tools = [], config, instructions, budget } = options;
  const { store, state, sources, files } = deps;
  if (llm === undefined) return null;
  // Whoever could do nothing with files is not told their names.
  const userFiles =
    options.sources?.some(({ user_files }) => user_files === true) === true ? files?.userFiles : undefined;
  const made = (catalog: readonly CatalogSource[]): ReactPlanner => {
    const given: ReactPlannerOptions = {
      catalog,
      llm,
      artifactStore: store,
      stateStore: withoutHistory(state.runs),
      leaseSeconds: LEASE_SECONDS,
      budget: { maxSeconds: MAX_SECONDS, ...budget },
      ...(config !== undefined && { config }),
      ...(instructions !== undefined && { instructions }),
      ...(userFiles !== undefined && { userFiles }),
    };
    return new ReactPlanner(given);
  };
  // What is wrong with it is found here, and not by whoever asks first.
  made(tools);
  return async (scope, signal) => made([...(await sources.planned({ scope, signal })), ...tools]);
}

/** Events are in the channels of their runs: by traces, which sessions may name alike, nobody could tell whose they are. */
function withoutHistory(runs: StateStore): HostStateStore {
  return {
    savePlannerState: (token, payload) => runs.savePlannerState(token, payload),
    loadPlannerState: (token) => runs.loadPlannerState(token),
    claimPlannerState: (token, owner, leaseSeconds) => runs.claimPlannerState(token, owner, leaseSeconds),
    updatePlannerState: (token, owner, payload) => runs.updatePlannerState(token, owner, payload),
    releasePlannerState: (token, owner, then) => runs.releasePlannerState(token, owner, then),
  };
}

/** Makes the planner of a run, with the tools that there are for whoever it is for. Throws the signal's reason. */
type MakePlanner = (scope: ArtifactScope, signal: AbortSignal) => Promise<ReactPlanner>;

/** What chats work with. */
export interface ChatDeps extends Pick<ServeDeps, "state" | "store" | "limits" | "announcer" | "report"> {
  readonly planner: MakePlanner;
  /** Notes whose a request for consent is that a pause asks for. Throws SluiceError E_STORE_…. */
  readonly noteConsent: (session: string, payload: Readonly<Record<string, unknown>>) => Promise<void>;
}
