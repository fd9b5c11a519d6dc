/**
 * What chats work with.
 * @module
 */
import type { ArtifactScope } from "../../artifacts/store.js";
import type { ReactPlanner } from "../../planner/react-planner.js";
import type { ServeTerms } from "../terms.js";

/** Makes the planner of a run, with the tools that there are for whoever it is for. Throws the signal's reason. */
export type MakePlanner = (scope: ArtifactScope, signal: AbortSignal) => Promise<ReactPlanner>;

/** What chats work with. */
export interface ChatTerms extends Pick<ServeTerms, "state" | "store" | "limits" | "announcer" | "report"> {
  readonly planner: MakePlanner;
  /** Notes whose a request for consent is that a pause asks for. Throws SluiceError E_STORE_…. */
  readonly noteConsent: (session: string, payload: Readonly<Record<string, unknown>>) => Promise<void>;
}
