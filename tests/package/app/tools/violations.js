/**
 * What the policy forbade here. Imported before everything else, so that nothing is missed.
 * @module
 */
export const violations = [];

addEventListener("securitypolicyviolation", ({ effectiveDirective, blockedURI }) =>
  violations.push(`${effectiveDirective} ${blockedURI}`),
);
