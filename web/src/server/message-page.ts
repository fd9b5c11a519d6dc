/**
 * What a person sees who comes by a link that leads to no page of the playground: a page without script.
 * @module
 */
import { SAFETY } from "./artifacts/headers.js";

/** What is said. */
export interface Message {
  /** The HTTP status. */
  readonly status: number;
  /** In a few words. */
  readonly title: string;
  /** What there is to do. */
  readonly text: string;
}

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** The page. Its texts are shown as they are, whatever is in them. */
export function messagePage({ status, title, text }: Message): Response {
  const body = new TextEncoder().encode(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escaped(title)}</title>
<style>
:root { color-scheme: light dark }
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 32rem; margin: 15vh auto; padding: 0 1rem }
</style>
</head>
<body>
<main>
<h1>${escaped(title)}</h1>
<p>${escaped(text)}</p>
</main>
</body>
</html>
`);
  return new Response(body, {
    status,
    headers: {
      ...SAFETY,
      "Cache-Control": "no-store",
      "Content-Type": "text/html; charset=utf-8",
      "Content-Length": String(body.byteLength),
    },
  });
}

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ESCAPES[character] ?? "");
}
