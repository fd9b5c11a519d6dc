/**
 * Whether a path of a tool's configuration names a place of a result.
 * @module
 */

/** A path such as `report.pages[0].pdf` or `items.*.data` in steps. */
export function stepsOf(path: string): readonly string[] {
  const steps = path.split(/[.[\]]+/).filter((step) => step !== "");
  return steps[0] === "$" ? steps.slice(1) : steps;
}

/**
 * Whether steps name the place of some keys. As in the core, a path begins at the result, at `result`, at `structuredContent`,
 * at `result` in there, or in the JSON of a text block.
 */
export function namesPlace(steps: readonly string[], keys: readonly string[]): boolean {
  if (steps.length === 0 || steps.length > keys.length) return false;
  const before = keys.slice(0, keys.length - steps.length).join("/");
  const starts = /^(?:result|structuredContent|structuredContent\/result|content\/\d+(?:\/text)?(?:\/result)?)?$/.test(
    before,
  );
  return starts && steps.every((step, index) => step === "*" || step === keys[keys.length - steps.length + index]);
}
