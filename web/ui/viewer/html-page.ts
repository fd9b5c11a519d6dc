/**
 * Previews of HTML from servers: an inert copy of the page, in a frame without scripts.
 * @module
 */
import { Pace } from "../pace.js";
import { limitFor, readText } from "./artifact-reader.js";
import { InertPage } from "./inert-page.js";
import { type Drawn, element, type PreviewInput, PreviewProblem, WHOLE_LIMIT } from "./preview.js";

/** The size of a page in elements, at first and at most. */
const AT_FIRST = 5000;
const AT_MOST = 100_000;
/** Characters that are drawn without a look at the clock. */
const PIECE = 4096;

/** The page that the copy is written into. Its policy would stop what the copy should not have in the first place. */
const EMPTY =
  "<!doctype html>" +
  `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; ` +
  `img-src data:; font-src data:; media-src data:; form-action 'none'; base-uri 'none'">`;

const NOTE = "A copy without scripts, forms, links and pictures from elsewhere. The source is as it was sent.";

const BLANK = "It shows nothing by itself: a page that scripts make, or an empty one.";
const UNSTYLED = "It is shown without styles that are too many, too long or too deep.";

/**
 * Draws a page in a frame. The browser is given a copy that asks for nothing and runs nothing, element by element: a page that is
 * parsed by the browser is stopped by the policies around it too, but each attempt is an error on the console, and where a site
 * forbids inline styles the page had none.
 */
export async function renderPage(host: HTMLElement, input: PreviewInput, signal: AbortSignal): Promise<Drawn> {
  const bar = element("p", "bar soft", { id: "page-limits" }, NOTE);
  const frame = element("iframe", "page", {
    title: input.name,
    "aria-describedby": bar.id,
    referrerpolicy: "no-referrer",
    // No scripts: the origin is shared with what draws, not with what is drawn.
    sandbox: "allow-same-origin",
    srcdoc: EMPTY,
  });
  const loaded = waitForLoad(frame, signal);
  host.append(bar, frame);
  await loaded;
  const { contentDocument } = frame;
  if (contentDocument === null) throw new PreviewProblem("This site cannot show pages.", "source");
  return drawPage(new InertPage(contentDocument, input.type.includes("xhtml")), input, signal);
}

function waitForLoad(frame: HTMLIFrameElement, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    frame.addEventListener("load", () => resolve(), { once: true, signal });
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  });
}

async function drawPage(page: InertPage, input: PreviewInput, signal: AbortSignal): Promise<Drawn> {
  const limit = limitFor(input, WHOLE_LIMIT);
  const most = input.whole ? AT_MOST : AT_FIRST;
  const slices = readText(input, limit, signal);
  const pace = new Pace();
  let bytes = 0;
  for (;;) {
    const { done, value } = await slices.next();
    if (done) {
      page.end();
      return toDrawn(page, value ? limit : undefined);
    }
    for (let at = 0; at < value.length; at += PIECE) {
      const piece = value.slice(at, at + PIECE);
      if (page.size >= most) {
        await slices.return(true);
        page.end();
        return toDrawn(page, bytes);
      }
      page.write(piece);
      bytes += new Blob([piece]).size;
      await pace.rest();
      signal.throwIfAborted();
    }
  }
}

function toDrawn({ isBlank, lacksStyles }: InertPage, part?: number): Drawn {
  const note = isBlank ? BLANK : lacksStyles ? UNSTYLED : undefined;
  return { ...(part !== undefined && { part }), ...(note !== undefined && { note }) };
}
