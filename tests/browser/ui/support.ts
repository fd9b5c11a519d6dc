/**
 * Support for tests of elements: accessibility, a strict content security policy, and waiting.
 * @module
 */
import axe from "axe-core";
import { vi } from "vitest";

/** One line for each violation that axe finds, in both themes. */
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

/** Retries an assertion, for as long as a busy machine may need. */
export function eventually<T>(holds: () => T | Promise<T>): Promise<T> {
  return vi.waitFor(holds);
}
