/**
 * `${NAME}` and `$NAME` in a source's document, as UTCP writes variables.
 * @module
 */
import { ToolAuthError } from "../errors.js";
import { subjectOf } from "../adapting/place.js";
import type { SourceTerms } from "./terms.js";

const REFERENCE = /\$(?:\{([A-Za-z0-9_]{1,128})\}|([A-Za-z_][A-Za-z0-9_]{0,127}))/g;

/** The name that OpenAPI conversion gives a credential, and what `auth_config` calls it. */
const INVENTED: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^API_KEY_\d+$/, ["api_key", "token"]],
  [/^USERNAME_\d+$/, ["username"]],
  [/^PASSWORD_\d+$/, ["password"]],
];

/** Looks up what a document names; undefined where it has no value. */
export type DocumentVariables = (name: string) => string | undefined;

/** The variables that a document of a source may name: its own, and those of the host that carry its name. */
export function documentVariables(terms: SourceTerms): DocumentVariables {
  const { name: source, env = {}, auth_config: auth = {}, variables } = terms;
  // The prefix of UTCP: `my_api` and the variable KEY are `my__api_KEY`.
  const prefix = source.replace(/\W/g, "_").replaceAll("_", "__");
  return (name) => own(env, name) ?? own(auth, name) ?? variables?.(`${prefix}_${name}`) ?? invented(auth, name);
}

/**
 * The text with values in place of variables. A bare `$name` without a value is text, such as `$filter` of OData.
 *
 * @throws ToolAuthError for a `${NAME}` without a value.
 */
export function filledIn(text: string, variables: DocumentVariables, source: string): string {
  return text.replace(REFERENCE, (written: string, braced: string | undefined, bare: string | undefined) => {
    const value = variables(braced ?? bare ?? "");
    if (value !== undefined) return value;
    if (bare !== undefined) return written;
    throw new ToolAuthError(
      `${subjectOf({ source })} needs the variable ${braced}, which has no value: set it in env, or in auth_config.`,
    );
  });
}

function own(values: Readonly<Record<string, string>>, name: string): string | undefined {
  return Object.hasOwn(values, name) ? values[name] : undefined;
}

function invented(auth: Readonly<Record<string, string>>, name: string): string | undefined {
  const keys = INVENTED.find(([pattern]) => pattern.test(name))?.[1] ?? [];
  return keys.map((key) => own(auth, key)).find((value) => value !== undefined);
}
