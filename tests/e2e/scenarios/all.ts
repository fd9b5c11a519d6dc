/**
 * Every scenario, in both eras.
 * @module
 */
import { ERAS } from "../script.js";
import { ends } from "./ends.js";
import { LEGACY, MODERN } from "./eras.js";
import { results } from "./results.js";
import type { Scenario } from "./scenario.js";
import { talk } from "./talk.js";

/** Under names that tell the era. */
export const SCENARIOS: readonly Scenario[] = ERAS.flatMap((era) => {
  const own = era === "2025" ? LEGACY : MODERN;
  return [...results(era), ...talk(era), ...own, ...ends(era)].map((scenario) => ({
    ...scenario,
    name: `${era}: ${scenario.name}`,
  }));
});
