/**
 * How patiently a model is asked: checked, with what is left out.
 * @module
 */
import { SluiceError } from "../../errors/error.js";
import { checkOptions, COUNT, FUNCTION, OBJECT, type OptionTest, type OptionTests } from "../../errors/options.js";
import type { ResiliencePolicy, RetryRules } from "../../tools/resilience/resilience.js";
import type { AskingOptions } from "./asking.js";

/** What every client is given beside its own. */
export const ASKING: OptionTests<AskingOptions> = { resilience: OBJECT, onRetry: FUNCTION };

/** A day: what is longer overflows a timer before long. */
const MAX_WAIT_S = 86_400;

const WAIT: OptionTest = [
  `a number of seconds from 0 to ${MAX_WAIT_S}`,
  (value) => typeof value === "number" && value >= 0 && value <= MAX_WAIT_S,
];

const POLICY: OptionTests<ResiliencePolicy> = {
  timeout_s: [
    `a number of seconds above 0, at most ${MAX_WAIT_S}`,
    (value) => typeof value === "number" && value > 0 && value <= MAX_WAIT_S,
  ],
  max_concurrency: COUNT,
  retry_policy: OBJECT,
};

const RULES: OptionTests<RetryRules> = {
  max_attempts: COUNT,
  wait_exponential_min_s: WAIT,
  wait_exponential_max_s: WAIT,
  retry_on_status: [
    "a list of HTTP statuses, such as [429, 503]",
    (value) =>
      Array.isArray(value) && value.every((status) => Number.isInteger(status) && status >= 100 && status < 600),
  ],
};

/** The policy of a client's options, of which all may be left out. Throws E_INVALID_ARGUMENT. */
export function patienceOf(resilience: NonNullable<AskingOptions["resilience"]>): ResiliencePolicy {
  checkOptions(resilience, POLICY, "resilience", wrongIn("resilience"));
  // A model may think for long before its first word.
  const { timeout_s = 120, max_concurrency = 10, retry_policy: rules = {} } = resilience;
  checkOptions(rules, RULES, "resilience.retry_policy", wrongIn("resilience.retry_policy"));
  const { max_attempts = 3, wait_exponential_min_s = 0.5, wait_exponential_max_s = 8 } = rules;
  const { retry_on_status = [408, 429, 500, 502, 503, 504] } = rules;
  return {
    timeout_s,
    max_concurrency,
    retry_policy: { max_attempts, wait_exponential_min_s, wait_exponential_max_s, retry_on_status },
  };
}

/** The error of an option of a client. */
export function wrongOption(sentence: string, path: string): SluiceError {
  return new SluiceError("E_INVALID_ARGUMENT", sentence, { path });
}

function wrongIn(path: string): (sentence: string, name: string) => SluiceError {
  return (sentence, name) => wrongOption(sentence, `${path}.${name}`);
}
