/**
 * The fonts of the page: Geist and Geist Mono, variable, Latin alone, 53 KB. Other letters come from the system.
 * @module
 */
import sans from "@fontsource-variable/geist/files/geist-latin-wght-normal.woff2?url";
import mono from "@fontsource-variable/geist-mono/files/geist-mono-latin-wght-normal.woff2?url";

/**
 * Has the browser fetch them, and change to them. It is called after the first result, which does not wait for letters: until then
 * `page.css` has a font of the system in the same size.
 */
export function addFonts(): void {
  for (const [family, url] of [
    ["Geist", sans],
    ["Geist Mono", mono],
  ] as const) {
    document.fonts.add(new FontFace(family, `url("${url}")`, { weight: "100 900", display: "swap" }));
  }
}
