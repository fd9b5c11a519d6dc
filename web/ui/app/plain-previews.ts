/**
 * In the place of previews that bring a library of their own, which the app leaves out as it does colours: Markdown and HTML
 * are shown as text, and archives as bytes. Hosts render Markdown themselves, and models list archives.
 * @module
 */
export { renderCode as renderMarkdown, renderCode as renderPage } from "../viewer/code.js";
export { renderHex as renderArchive } from "../viewer/hex.js";
