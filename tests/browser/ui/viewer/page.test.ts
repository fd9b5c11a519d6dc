/** `<sluice-viewer>`: pages of HTML are drawn, and do nothing. */
import { afterEach, describe, expect, test, vi } from "vitest";
import { given, part, settled, texts, viewing } from "./fixtures.js";

const HOSTILE = `<!doctype html><html><head><title>A page</title>
<meta http-equiv="refresh" content="0; url=/page-probe-refresh">
<link rel="stylesheet" href="/page-probe-style"><script src="/page-probe-script"></script>
<style>@import "/page-probe-import"; h1 { color: rgb(1, 2, 3); background: url(/page-probe-background) }</style></head>
<body onload="top.hit = 1"><h1 id="title">Report</h1>
<script>top.hit = 2; top.postMessage("hit", "*"); parent.postMessage("hit", "*"); top.location = "/page-probe-top"; fetch("/page-probe-fetch")</script>
<img src="/page-probe-image" onerror="top.hit = 3"><iframe src="/page-probe-frame"></iframe>
<object data="/page-probe-object"></object><video src="/page-probe-video" autoplay></video>
<form action="/page-probe-form"><button id="send" autofocus>Send</button></form>
<a id="self" href="/page-probe-link">Link</a><a id="top" href="/page-probe-top" target="_top">Link</a></body></html>`;

// What a page asks for in a frame that forbids nothing.
async function plain(srcdoc: string): Promise<readonly string[]> {
  const frame = Object.assign(document.createElement("iframe"), { srcdoc });
  const loaded = new Promise((resolve) => frame.addEventListener("load", resolve, { once: true }));
  document.body.append(frame);
  await loaded;
  // Those that were refused are in the list, too, without an answer.
  const asked = frame.contentWindow?.performance.getEntriesByType("resource") ?? [];
  const answered = asked.filter((each) => (each as PerformanceResourceTiming).responseStatus > 0);
  frame.remove();
  return answered.flatMap(({ name }) => /page-probe-(\w+)/.exec(name)?.[1] ?? []);
}

afterEach(() => document.body.replaceChildren());

describe("a page without an address", () => {
  test("runs nothing and leads nowhere", async () => {
    const messages: unknown[] = [];
    const note = ({ data }: MessageEvent): void => void messages.push(data);
    addEventListener("message", note);
    const here = location.href;
    const viewer = await viewing(given(HOSTILE, "text/html", "report.html"));
    const frame = await part<HTMLIFrameElement>(viewer, "iframe");
    let loads = 0;
    frame.addEventListener("load", () => (loads += 1));
    await vi.waitFor(() => expect(loads).toBe(1), { timeout: 20_000 });
    expect(frame.getAttribute("sandbox")).toBe("");
    expect(texts(viewer, "p.bar")).toEqual([
      "Scripts, forms and the network are off, and styles where this site forbids them.",
    ]);
    // What it does at once it has done by the time that another page has come and gone.
    await plain("<p>Another</p>");
    removeEventListener("message", note);
    expect(loads).toBe(1);
    expect(messages).not.toContain("hit");
    expect(window).not.toHaveProperty("hit");
    expect(location.href).toBe(here);
    expect(frame.contentDocument).toBeNull();
  });

  test("asks for nothing, even where the sandbox would let it", async () => {
    // Neither policies nor sandboxes stop what the page itself is asked to be replaced by: that is shown above.
    const page = HOSTILE.replace(/<meta http-equiv="refresh".*?>/, "").replace(/<a .*<\/a>/, "");
    const scriptless = page.replace(/<script>.*?<\/script>/s, "");
    const viewer = await viewing(given(page, "text/html", "report.html"));
    const { srcdoc } = await part<HTMLIFrameElement>(viewer, "iframe");
    expect(await plain(scriptless)).toEqual(expect.arrayContaining(["style", "import", "image", "object"]));
    expect(await plain(srcdoc)).toEqual([]);
    expect(window).not.toHaveProperty("hit", 1);
    expect(window).not.toHaveProperty("hit", 2);
  });

  test("cannot undo what stands before it", async () => {
    const escape = `</head></html><!-- --></iframe>--><head><base href="https://example.com/"><meta charset="utf-16">`;
    const viewer = await viewing(given(escape + HOSTILE, "text/html", "report.html"));
    await settled(viewer);
    const frame = await part<HTMLIFrameElement>(viewer, "iframe");
    const parsed = new DOMParser().parseFromString(frame.srcdoc, "text/html");
    expect(parsed.head.firstElementChild?.getAttribute("content")).toMatch(/^default-src 'none';/);
    expect(parsed.querySelector("base")?.target).toBe("_blank");
  });
});

describe("a page with an address", () => {
  test("is in a frame without scripts, and comes back when a link is followed", async () => {
    const blob = URL.createObjectURL(new Blob(['<a id="link" href="about:blank">away</a>'], { type: "text/html" }));
    const { artifact, bytes } = given("x", "text/html", "report.html");
    const viewer = await viewing({ artifact, bytes: { ...bytes, href: blob } });
    const frame = await part<HTMLIFrameElement>(viewer, "iframe");
    expect(frame.getAttribute("sandbox")).toBe("allow-same-origin");
    expect(texts(viewer, "p.bar")).toEqual(["Scripts, forms and the network are off."]);
    const link = await vi.waitFor(() => {
      const found = frame.contentDocument?.querySelector<HTMLElement>("#link");
      expect(found).toBeTruthy();
      return found;
    });
    link?.click();
    await vi.waitFor(() => {
      const again = frame.contentDocument?.querySelector<HTMLElement>("#link");
      expect(again).toBeTruthy();
      expect(again).not.toBe(link);
    });
    URL.revokeObjectURL(blob);
  });
});
