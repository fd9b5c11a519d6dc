/**
 * The sources that a server was given.
 * @module
 */
import type { SluiceServerOptions } from "../options.js";
import type { ServeTerms } from "../terms.js";
import { ServedSources } from "./served-sources.js";

/** Makes them. Throws as `ServedSources`. */
export function givenSources(options: SluiceServerOptions, terms: Omit<ServeTerms, "sources">): ServedSources {
  const { sources = [], variables, providers, oauthClient } = options;
  const { store, files, state, announcer, report, over } = terms;
  const userFiles = files?.userFiles ?? null;
  return new ServedSources({
    sources,
    variables,
    providers,
    oauthClient,
    store,
    userFiles,
    state,
    announcer,
    report,
    over,
  });
}
