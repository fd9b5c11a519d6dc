/**
 * What axe finds in an element, in both themes, and what a strict policy would refuse of it.
 * @module
 */
import axe from "axe-core";

/** One line for each thing that axe finds; none is as it should be. */
export async function violations(element: Element): Promise<readonly string[]> {
  const found: string[] = [];
  for (const theme of ["light", "dark"]) {
    document.documentElement.style.colorScheme = theme;
    document.body.style.background = "Canvas";
    // Regions and headings are the page's.
    const { violations: all } = await axe.run(element, { rules: { region: { enabled: false } } });
    for (const { id, nodes } of all) found.push(...nodes.map(({ html }) => `${theme}: ${id}: ${html}`));
  }
  document.documentElement.style.colorScheme = "";
  return found;
}

/** What `work` does that a page without inline styles and scripts refuses. Holds for this page from now on. */
export async function refusedBy(work: () => Promise<void>): Promise<readonly string[]> {
  const refused: string[] = [];
  const note = ({ effectiveDirective, sample }: SecurityPolicyViolationEvent): void =>
    void refused.push(`${effectiveDirective} ${sample}`);
  document.addEventListener("securitypolicyviolation", note);
  const policy = document.createElement("meta");
  policy.httpEquiv = "Content-Security-Policy";
  policy.content = "style-src 'self'; script-src 'self' 'wasm-unsafe-eval'";
  document.head.append(policy);
  await work();
  // Reports are told in tasks of their own.
  await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
  document.removeEventListener("securitypolicyviolation", note);
  return refused;
}
