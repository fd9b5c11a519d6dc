/**
 * Previews of HTML from servers, sandboxed.
 * @module
 */
import { type Drawn, element, gone, type PreviewInput, WHOLE_LIMIT } from "./preview.js";
import { isThere, limitFor, mustFit, textOf } from "./artifact-reader.js";

/**
 * Prepended to a page without a URL: a policy that fetches nothing, and a base that opens links in windows, which the sandbox
 * forbids.
 */
const GUARD =
  "<!doctype html>" +
  `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; ` +
  `img-src data:; font-src data:; media-src data:; form-action 'none'; base-uri 'none'">` +
  '<base target="_blank">';

/** The note below the page. Without a URL the policy of the surrounding page applies too and may forbid styles. */
const OFF = "Scripts, forms and the network are off.";
const OFF_HERE = "Scripts, forms and the network are off, and styles where this site forbids them.";

/**
 * Draws a page in a frame. What it tries and is kept from, the browser reports on the console, as errors of the frame: that could only
 * be avoided by showing other bytes than those that are stored. At a URL, the response carries `Content-Security-Policy: sandbox`, which removes its origin. Scripts
 * are off, as `allow-scripts` is missing here too.
 */
export async function renderPage(host: HTMLElement, input: PreviewInput, signal: AbortSignal): Promise<Drawn> {
  const { href } = input.bytes;
  const frame = element("iframe", "page", { title: input.name, referrerpolicy: "no-referrer" });
  frame.setAttribute("sandbox", href === undefined ? "" : "allow-same-origin");
  let drawn: Drawn = {};
  let show: () => void;
  if (href === undefined) {
    const { text, part } = await read(input, signal);
    if (part !== undefined) drawn = { part };
    show = () => void (frame.srcdoc = GUARD + text);
  } else {
    mustFit(input, limitFor(input, WHOLE_LIMIT));
    if (!(await isThere(input))) throw gone();
    show = () => void (frame.src = href);
  }
  signal.throwIfAborted();
  stayHere(frame, show, signal);
  const bar = element("p", "bar soft", { id: "page-limits" }, href === undefined ? OFF_HERE : OFF);
  frame.setAttribute("aria-describedby", bar.id);
  show();
  host.append(bar, frame);
  return drawn;
}

async function read(input: PreviewInput, signal: AbortSignal): Promise<{ text: string; part?: number }> {
  const limit = limitFor(input, WHOLE_LIMIT);
  const slices = textOf(input, limit, signal);
  let text = "";
  for (;;) {
    const { done, value } = await slices.next();
    if (!done) text += value;
    else return value ? { text, part: limit } : { text };
  }
}

// A link that is followed replaces the page within the frame: the page comes back, and after some attempts nothing does.
function stayHere(frame: HTMLIFrameElement, show: () => void, signal: AbortSignal): void {
  let loads = 0;
  frame.addEventListener(
    "load",
    () => {
      loads += 1;
      // Ours are the first, and each that follows one that was not.
      if (loads % 2 === 1) return;
      if (loads < 20) show();
      else frame.remove();
    },
    { signal },
  );
}
