/** `<sluice-viewer>`: pages of HTML are drawn as they look, and do nothing. */
import fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import { InertPage } from "../../../../web/ui/viewer/inert-page.js";
import type { SluiceViewer } from "../../../../web/ui/viewer.js";
import { eventually, refusedBy, violations } from "../support.js";
import { buttonOf, given, notice, part, settled, texts, viewing } from "./fixtures.js";

const HOSTILE = `<!doctype html><html lang="de" onclick="top.hit = 1"><head><title>A page</title><base href="https://example.com/">
<meta http-equiv="refresh" content="0; url=/page-probe-refresh"><meta http-equiv="Content-Security-Policy" content="img-src *">
<link rel="stylesheet" href="/page-probe-style"><script src="/page-probe-script"></script>
<style>@import "/page-probe-import"; @import url(/page-probe-import);
@font-face { font-family: Probe; src: url(/page-probe-font) } @keyframes k { from { background: url(/page-probe-frame-of) } }
:root { --picture: url(/page-probe-variable); --hidden: u\\72l(/page-probe-escape) }
h1 { color: rgb(1, 2, 3); background: url(/page-probe-background); font-family: Probe; animation: k 1s }
p { background-image: var(--none, im\\61ge-set("/page-probe-raw" 1x)) } h1 { list-style: inside var(--none, u\\72l(/page-probe-list)) }
p { background: var(--picture), var(--hidden); background: var(--none, red) url(/page-probe-shorthand) }
@media all { @supports (color: red) { h1 { list-style: image-set("/page-probe-set" 1x); border-image: u\\72l(/page-probe-border) } } }</style></head>
<body onload="top.hit = 1" background="/page-probe-attribute"><h1 id="title">Report</h1><p style="cursor: url(/page-probe-cursor), auto">Text</p>
<script>top.hit = 2; parent.postMessage("hit", "*"); top.location = "/page-probe-top"; fetch("/page-probe-fetch")</script>
<img src="/page-probe-image" srcset="/page-probe-set 2x" onerror="top.hit = 3" alt="A picture"><iframe src="/page-probe-frame"></iframe>
<object data="/page-probe-object">An object</object><embed src="/page-probe-embed"><video src="/page-probe-video" autoplay></video>
<picture><source srcset="/page-probe-source"><img src="page-probe-relative"></picture><input type="image" src="/page-probe-input">
<svg><rect fill="u\\72l(/page-probe-paint#a)" filter="u\\72l(/page-probe-filter#a)" mask="u\\72l(/page-probe-mask#a)"
cursor="u\\72l(/page-probe-pointer), auto" width="9" height="9" /><image href="/page-probe-svg" /><use xlink:href="/page-probe-use#a" /><rect fill="url(/page-probe-fill#a)" />
<a><set attributeName="href" to="javascript:top.hit=4" /><text>Set</text></a><script>top.hit = 5</script></svg>
<form action="/page-probe-form"><input name="mail"><button id="send" formaction="/page-probe-button" autofocus>Send</button></form>
<a id="self" href="/page-probe-link" ping="/page-probe-ping">Link</a><a id="top" href="javascript:top.hit=6" target="_top">Link</a>
<template><img src="/page-probe-template"></template><noscript><p id="quiet">No script ran</p></noscript><form name="body"></form></body></html>`;

afterEach(() => document.body.replaceChildren());

/** A frame that forbids no more than scripts: what is written into it, it would fetch. */
async function frame(): Promise<Window & typeof globalThis> {
  const made = document.createElement("iframe");
  made.setAttribute("sandbox", "allow-same-origin");
  made.srcdoc = "<!doctype html>";
  const loaded = new Promise((resolve) => made.addEventListener("load", resolve, { once: true }));
  document.body.append(made);
  await loaded;
  return made.contentWindow as Window & typeof globalThis;
}

/** A copy of a page in such a frame, whose text came in these pieces. */
async function copied(...pieces: readonly string[]): Promise<Document> {
  const view = await frame();
  const page = new InertPage(view.document, false);
  for (const piece of pieces) page.write(piece);
  page.end();
  return view.document;
}

/** What a copy would fetch, run or go to. */
function harmful({ documentElement, adoptedStyleSheets }: Document): readonly string[] {
  const found: string[] = [];
  for (const node of [documentElement, ...documentElement.querySelectorAll("*")]) {
    if (node.matches("script, iframe, frame, object, embed, link, base, template, form, style"))
      found.push(node.outerHTML);
    for (const { name, value } of node.attributes) {
      const isSafe = /^(?:src|poster)$/.test(name)
        ? /^\s*data:/i.test(value)
        : /^(?:about:srcdoc)?#|^data:image\//.test(value);
      if (value.includes("probe")) found.push(`${name}=${value}`);
      if (/^on|^(?:action|formaction|srcset|background|target|ping|autofocus|autoplay)$/i.test(name)) found.push(name);
      if (/^(?:src|poster|href|xlink:href)$/.test(name) && !isSafe) found.push(`${name}=${value}`);
    }
  }
  const rules = adoptedStyleSheets.flatMap(({ cssRules }) => [...cssRules].map(({ cssText }) => cssText));
  const styles = [...documentElement.querySelectorAll("[style]")].map((each) => each.getAttribute("style") ?? "");
  found.push(...[...rules, ...styles].filter((text) => /probe/.test(text) && /url|image-set|\\/.test(text)));
  return found;
}

const fetched = (view: Window): readonly string[] =>
  view.performance.getEntriesByType("resource").map(({ name }) => name.replace(/^data:.*/, "data"));

describe("a hostile page", () => {
  test("runs nothing, asks for nothing and leads nowhere, where nothing but the copy keeps it from that", async () => {
    const here = location.href;
    const page = await copied(HOSTILE);
    const view = page.defaultView as Window;
    expect(harmful(page)).toEqual([]);
    for (const id of ["send", "self", "top"]) page.getElementById(id)?.click();
    // Layout asks for what is seen; another page comes and goes meanwhile.
    page.documentElement.getBoundingClientRect();
    await frame();
    expect(fetched(view)).toEqual([]);
    expect(window).not.toHaveProperty("hit");
    expect([location.href, view.location.href]).toEqual([here, "about:srcdoc"]);
    expect(page.body.innerText).toMatch(/Report\s+Text\s+.*An object[^]*Send\s+LinkLink\s+No script ran/);
  });

  test("is drawn without a complaint where a site forbids inline styles", async () => {
    const complaints: string[] = [];
    const note = ({ target }: Event): void =>
      (target as HTMLIFrameElement).contentDocument?.addEventListener("securitypolicyviolation", (event) =>
        complaints.push(`${event.effectiveDirective} ${event.blockedURI}`),
      );
    let viewer: SluiceViewer | undefined;
    const refused = await refusedBy(async () => {
      const shown = viewing(given(HOSTILE, "text/html", "report.html"));
      document.querySelector("sluice-viewer")?.renderRoot.addEventListener("load", note, true);
      viewer = await shown;
      viewer.renderRoot.addEventListener("load", note, true);
      await settled(viewer);
      await frame();
    });
    expect([refused, complaints]).toEqual([[], []]);
    const drawn = await part<HTMLIFrameElement>(viewer as SluiceViewer, "iframe");
    expect(drawn.getAttribute("sandbox")).toBe("allow-same-origin");
    const [view, page] = [drawn.contentWindow, drawn.contentDocument] as [Window, Document];
    expect(view.getComputedStyle(page.querySelector("h1") as Element).color).toBe("rgb(1, 2, 3)");
    expect(texts(viewer as SluiceViewer, "p.bar")[0]).toMatch(/^A copy without scripts, forms, links/);
    expect(await violations(viewer as SluiceViewer)).toEqual([]);
  });

  // What hostile pages are made of, in any order, cut anywhere.
  const BITS =
    "<svg>|</svg>|<math>|<table>|<tr>|<td>|</table>|<p>|</p>|<a href='/page-probe'>|<style>|</style>|<script>|</script>|<!--|-->|" +
    "<![CDATA[|]]>|<img src=/page-probe>|<foreignObject>|<template>|</template>|<form id=x>|<iframe srcdoc='|'>|" +
    "p{background:url(/page-probe)}|@media all{|}|<use href='//page-probe#a'/>|<title>|</title>|<textarea>|<noscript>|<plaintext>|" +
    "<p style='background:|url(/page-probe)'>|<a\u0000b>|<x\"y>|<body onload=top.hit=1>|<html style='--a:u\\72l(/page-probe)'>|&lt;img&gt;|" +
    "<svg><rect filter='u\\72l(/page-probe)'>|p{background:var(--a,u\\72l(/page-probe))}";
  const bits = fc.constantFrom(...BITS.split("|"));

  test("does no harm whatever it is made of, and is the same in any pieces", { timeout: 120_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(bits, { maxLength: 25 }),
        fc.array(fc.nat(400), { maxLength: 4 }),
        async (parts, cuts) => {
          const text = parts.join("");
          const at = [
            0,
            ...cuts.map((cut) => Math.min(cut, text.length)).toSorted((one, other) => one - other),
            text.length,
          ];
          const [whole, cut] = [
            await copied(text),
            await copied(...at.slice(1).map((end, index) => text.slice(at[index], end))),
          ];
          expect(harmful(whole)).toEqual([]);
          expect(fetched(whole.defaultView as Window)).toEqual([]);
          expect(cut.documentElement.outerHTML).toBe(whole.documentElement.outerHTML);
          document.body.replaceChildren();
        },
      ),
      { numRuns: 150 },
    );
    expect(window).not.toHaveProperty("hit");
  });
});

describe("a page", () => {
  const styleOf = (page: Document, selector: string): CSSStyleDeclaration =>
    (page.defaultView as Window).getComputedStyle(page.querySelector(selector) as Element);

  test("looks as it is written", async () => {
    const page = await copied(`<!doctype html><html lang="en" class="dark"><head><style media="all">
      .dark tbody tr:nth-child(2) { color: rgb(1, 1, 1) } .a::before { content: "\\201C" } .md\\:b { color: rgb(2, 2, 2) }
      @media all { li { color: rgb(3, 3, 3); background: url(/page-probe); & b { color: rgb(4, 4, 4) } } }</style>
      <style media="print">p { display: none }</style><style type="text/less">p { color: rgb(9, 9, 9) }</style></head>
      <body style="margin: 7px" bgcolor="#eeeeff"><P Class="a md:b" STYLE="padding: 3px; background: url(data:image/gif;base64,R0lGODlhAQABAAAAACw=)">One &amp; two
      <table><tr><td>1<tr><td>2</table><ul><li>a<li><b>b</b></ul><pre>\n first</pre><my-card data-x="1" aria-label="Card">Card</my-card></body></html>`);
    expect(page.documentElement.lang).toBe("en");
    expect([...page.body.children].map(({ localName }) => localName)).toEqual(["p", "table", "ul", "pre", "my-card"]);
    expect([styleOf(page, "body").marginTop, styleOf(page, "body").backgroundColor]).toEqual([
      "7px",
      "rgb(238, 238, 255)",
    ]);
    expect([styleOf(page, "tr + tr").color, styleOf(page, "p").color]).toEqual(["rgb(1, 1, 1)", "rgb(2, 2, 2)"]);
    expect([styleOf(page, "li").color, styleOf(page, "b").color]).toEqual(["rgb(3, 3, 3)", "rgb(4, 4, 4)"]);
    expect([styleOf(page, "p").display, styleOf(page, "p").paddingTop]).toEqual(["block", "3px"]);
    expect(styleOf(page, "p").backgroundImage).toMatch(/^url\("data:image\/gif/);
    expect(page.querySelector("pre")?.textContent).toBe(" first");
    expect(page.querySelector("my-card")?.outerHTML).toBe('<my-card data-x="1" aria-label="Card">Card</my-card>');
  });

  test("has its drawings", async () => {
    const page =
      await copied(`<svg viewBox="0 0 10 10" width="100"><defs><linearGradient id="g"><stop offset="0" stop-color="red"/></linearGradient>
      <rect id="r" width="5" height="5"/></defs><rect id="a" width="5" height="5" fill="url(#g)"/><use id="b" xlink:href="#r" x="5"/>
      <foreignObject width="5" height="5"><p>Within</p></foreignObject></svg><p>After</p>`);
    const boxes = ["a", "b"].map((id) => page.getElementById(id)?.getBoundingClientRect().width);
    expect(boxes).toEqual([50, 50]);
    expect(page.querySelector("linearGradient")).toBeInstanceOf(
      (page.defaultView as Window & typeof globalThis).SVGLinearGradientElement,
    );
    expect([...page.querySelectorAll("p")].map(({ namespaceURI }) => namespaceURI)).toEqual(
      Array.from({ length: 2 }, () => "http://www.w3.org/1999/xhtml"),
    );
  });

  test("jumps within itself", async () => {
    const page = await copied('<a href="#end">End</a><div style="height: 5000px"></div><h2 id="end">The end</h2>');
    page.querySelector("a")?.click();
    await eventually(() => expect(page.documentElement.scrollTop).toBeGreaterThan(3000));
    expect(page.querySelector("h2")?.textContent).toBe("The end");
  });

  test.each([
    ["says its encoding", '<meta charset="windows-1252"><p>', "", "text/html"],
    ["is declared with one", "<p>", "; charset=iso-8859-1", "text/html"],
    ["says it as XML does", '<?xml version="1.0" encoding="ISO-8859-1"?><html><p>', "", "application/xhtml+xml"],
    [
      "is XHTML",
      '<?xml version="1.0"?><html><head><meta charset="latin1"/><script src="a.js"/></head><p>',
      "",
      "application/xhtml+xml",
    ],
  ])("that %s is read in it", async (_, begin, parameter, type) => {
    const bytes = new Uint8Array([...new TextEncoder().encode(begin), 0xe4, 0x62]);
    const viewer = await viewing(given(bytes, type + parameter, "page.html"));
    await settled(viewer);
    const drawn = await part<HTMLIFrameElement>(viewer, "iframe");
    expect(drawn.contentDocument?.querySelector("p")?.textContent).toBe("äb");
  });

  test("that is long is shown in part, then as a whole", async () => {
    const viewer = await viewing(given("<p>A paragraph of some words.</p>\n".repeat(20_000), "text/html", "long.html"));
    await settled(viewer);
    expect(notice(viewer)).toMatch(/^The first 1\d\d\.\d KB of 6\d\d\.\d KB is shown\. Load all/);
    const count = async (): Promise<number> =>
      (await part<HTMLIFrameElement>(viewer, "iframe")).contentDocument?.querySelectorAll("p").length ?? 0;
    expect(await count()).toBeLessThan(5500);
    buttonOf(viewer, /^Load all/).click();
    await eventually(async () => expect(await count()).toBe(20_000));
  });

  test.each([
    ["is empty", ""],
    ["is made by scripts", '<!doctype html><title>App</title><div id="root"> </div><script>draw()</script>'],
  ])("that %s says that there is nothing to see", async (_, text) => {
    const viewer = await viewing(given(text, "text/html", "app.html"));
    await settled(viewer);
    expect(notice(viewer)).toBe("It shows nothing by itself: a page that scripts make, or an empty one.");
  });

  test.each([
    ["many", "<style>p { color: red }</style>".repeat(600)],
    ["long", `<style>${"p { color: red }".repeat(150_000)}</style>`],
    ["deep", `<style>${"@media all{".repeat(20_000)}</style>`],
  ])("whose style sheets are too %s is shown without them, and says so", async (_, styles) => {
    const viewer = await viewing(given(`${styles}<p>end`, "text/html", "styled.html"));
    await settled(viewer);
    expect(notice(viewer)).toBe("It is shown without styles that are too many, too long or too deep.");
    const drawn = await part<HTMLIFrameElement>(viewer, "iframe");
    expect(drawn.contentDocument?.querySelector("p")?.textContent).toBe("end");
  });

  test.each([
    ["deep", "<div>".repeat(50_000)],
    ["full of attributes", `<p ${Array.from({ length: 20_000 }, (_, at) => `data-${at}=1`).join(" ")}>`],
    ["of half a tag", `<p title="${"a".repeat(1_000_000)}`],
    ["of tables in tables", "<table><tr><td>".repeat(10_000)],
    ["one long text", `<p>${"word ".repeat(2_000_000)}`],
    ["of imports", `<style>${"@import url(".repeat(150_000)}</style><p>end`],
  ])("that is %s is drawn", async (_, text) => {
    const viewer = await viewing(given(text, "text/html", "odd.html"));
    await settled(viewer);
    expect((await part<HTMLIFrameElement>(viewer, "iframe")).contentDocument?.body).toBeTruthy();
  });
});
