/** `<sluice-viewer>`: what is too large, gone, broken or not there yet, and what can be done about it, also by keyboards, screen readers and on strict pages. */
import { afterEach, describe, expect, test, vi } from "vitest";
import { page, userEvent } from "vitest/browser";
import type { ArtifactBytes, ShownArtifact } from "../../../../web/ui/shown.js";
import type { SluiceViewer } from "../../../../web/ui/viewer.js";
import { refusedBy, violations } from "../support.js";
import {
  buttonOf,
  given,
  notice,
  part,
  pdf,
  saying,
  settled,
  texts,
  viewing,
  type Given,
  png,
  wav,
} from "./fixtures.js";

const MB = 1024 ** 2;

// Bytes that come one piece at a time, when told to.
function slow(): { bytes: ArtifactBytes; give: () => void; cancelled: () => boolean } {
  let control: ReadableStreamDefaultController<Uint8Array> | undefined;
  let wasCancelled = false;
  const stream = new ReadableStream<Uint8Array>({
    start: (controller) => void (control = controller),
    cancel: () => void (wasCancelled = true),
  });
  return {
    bytes: { open: () => Promise.resolve(stream) },
    give: () => control?.enqueue(new Uint8Array(1000).fill(65)),
    cancelled: () => wasCancelled,
  };
}

describe("above the limit", () => {
  test("a text shows its first part, and all of it when asked", async () => {
    const text = "0123456789abcde\n".repeat((3 * MB) / 16);
    const file = given(text, "text/plain", "log.txt");
    const viewer = await viewing(file);
    await settled(viewer);
    expect(notice(viewer)).toBe("The first 1.0 MB of 3.0 MB is shown. Load all (3.0 MB)");
    expect(file.opened).toEqual([{ start: 0, end: MB + 1 }]);
    buttonOf(viewer, "Load all (3.0 MB)").click();
    await viewer.updateComplete;
    await settled(viewer);
    expect(notice(viewer)).toBe("");
    const scroller = await part(viewer, ".text");
    await vi.waitFor(() => {
      scroller.scrollTop = scroller.scrollHeight;
      expect(texts(viewer, ".line .number")).toContain(String((3 * MB) / 16));
    });
  });

  test("what can only be shown whole waits to be asked, and reads nothing", async () => {
    const file = given(pdf(1, { padding: 21 * MB }), "application/pdf", "large.pdf");
    const viewer = await viewing(file);
    await saying(viewer, /only be shown as a whole/);
    expect(file.opened).toEqual([]);
    expect(notice(viewer)).toBe("It is large and can only be shown as a whole. Load all (21.0 MB)");
    buttonOf(viewer, "Load all (21.0 MB)").click();
    await vi.waitFor(() => expect(file.opened).toHaveLength(1));
    await part(viewer, ".sheet canvas");
  });

  test("nothing is trusted to be as small as it says", async () => {
    const file = given(new Blob([new Uint8Array(25 * MB)]), "image/png", "bomb.png", { size_bytes: 10 });
    const viewer = await viewing(file);
    await saying(viewer, /only be shown as a whole/);
    expect(notice(viewer)).toMatch(/Load all \(10 B\)$/);
  });
});

describe("what is not there", () => {
  test("has expired, and nothing can be done", async () => {
    const viewer = await viewing({
      ...given("", "text/plain", "old.txt"),
      bytes: { open: () => Promise.resolve(null) },
    });
    await saying(viewer, /^It has expired\.$/);
    expect(notice(viewer)).toBe("It has expired.");
  });

  test("has expired behind an address, too", async () => {
    const bytes: ArtifactBytes = { open: () => Promise.resolve(null), href: "/no/such/picture.png" };
    const viewer = await viewing({ artifact: { id: "demo_1", mime_type: "image/png" }, bytes });
    await saying(viewer, /expired/);
    expect(notice(viewer)).toBe("It has expired.");
  });

  test("may come when it is tried again", async () => {
    const open = vi
      .fn<ArtifactBytes["open"]>()
      .mockRejectedValueOnce(new Error("/secret/path"))
      .mockImplementation(() => Promise.resolve(new Blob(["here"]).stream()));
    const viewer = await viewing({ artifact: { id: "demo_1", mime_type: "text/plain" }, bytes: { open } });
    await saying(viewer, /could not be read/);
    expect(notice(viewer)).toBe("It could not be read. Try again");
    buttonOf(viewer, "Try again").click();
    await settled(viewer);
    await vi.waitFor(() => expect(texts(viewer, ".written")).toEqual(["here"]));
  });

  test("is asked for when it is deferred", async () => {
    const { artifact, bytes } = given("", "text/plain", "later.txt", { deferred: true });
    const viewer = await viewing({ artifact, bytes });
    const asked = new Promise<ShownArtifact>((resolve) => {
      document.body.addEventListener("sluice-fetch", (event) => resolve((event as CustomEvent<ShownArtifact>).detail), {
        once: true,
      });
    });
    await vi.waitFor(() => buttonOf(viewer, "Fetch").click());
    expect((await asked).id).toBe(artifact.id);
  });
});

describe("reading", () => {
  const artifact: ShownArtifact = { id: "demo_slow", mime_type: "text/plain", filename: "slow.txt", size_bytes: 4000 };
  const others: ShownArtifact = { ...artifact, id: "demo_other" };

  test("tells how far it is", async () => {
    const { bytes, give } = slow();
    const viewer = await viewing({ artifact, bytes });
    give();
    const bar = await part<HTMLProgressElement>(viewer, "progress");
    expect([bar.value, bar.max]).toEqual([1000, 4000]);
    expect(notice(viewer)).toBe("1000 B of 3.9 KB");
  });

  test.each([
    ["the element leaves", (viewer: HTMLElement) => viewer.remove()],
    [
      "another artifact comes",
      (viewer: HTMLElement) => void Object.assign(viewer, { artifact: others, bytes: slow().bytes }),
    ],
    ["another tab is opened", (viewer: HTMLElement) => void Object.assign(viewer, { tab: "info" })],
  ])("ends when %s", async (_, act) => {
    const { bytes, give, cancelled } = slow();
    const viewer = await viewing({ artifact, bytes });
    give();
    await part(viewer, "progress");
    act(viewer);
    await vi.waitFor(() => expect(cancelled()).toBe(true));
  });

  test("does not begin anew when the same is given again", async () => {
    const file = given("text", "text/plain", "a.txt");
    const viewer = await viewing(file);
    await settled(viewer);
    viewer.artifact = { ...file.artifact };
    viewer.bytes = { ...file.bytes };
    await viewer.updateComplete;
    expect(file.opened).toHaveLength(1);
  });
});

describe("Info", () => {
  const SHA = "6c0e0628".padEnd(64, "0");
  afterEach(() => vi.restoreAllMocks());

  test("tells what is known, and shows every character of a name", async () => {
    const file = given("x", "text/plain", "photo\u202Egpj.exe", {
      size_bytes: 4_194_304,
      sha256: SHA,
      source: { tool: "make_report", description: "Text, 1 line" },
      stored_at: Date.UTC(2026, 0, 2),
    });
    const viewer = await viewing(file);
    viewer.tab = "info";
    await viewer.updateComplete;
    const told = texts(viewer, "dd").map((text) => text.replace(/\s+/g, " ").trim());
    expect(told).toEqual([
      "photo\uFFFDgpj.exe",
      "text/plain",
      "4.0 MB (4,194,304 bytes)",
      `${SHA} Copy`,
      file.artifact.id,
      "make_report",
      new Date(Date.UTC(2026, 0, 2)).toLocaleString().replace(/\s+/g, " "),
      "Text, 1 line",
    ]);
    expect(viewer.renderRoot.textContent).not.toContain("\u202E");
  });

  test("copies the hash", async () => {
    const copied = vi.spyOn(navigator.clipboard, "writeText").mockResolvedValue();
    const viewer = await viewing(given("x", "text/plain", "a.txt", { sha256: SHA }));
    viewer.tab = "info";
    await viewer.updateComplete;
    buttonOf(viewer, "Copy").click();
    await saying(viewer, /^Copied$/);
    expect(copied).toHaveBeenCalledWith(SHA);
  });
});

describe("Download", () => {
  test("is a link where the bytes have an address", async () => {
    const { artifact, bytes } = given("x", "text/plain", "a/b:c.txt");
    const viewer = await viewing({ artifact, bytes: { ...bytes, href: "/artifacts/1?key=2" } });
    const link = await part<HTMLAnchorElement>(viewer, "header a");
    expect(link.getAttribute("href")).toBe("/artifacts/1?key=2&download");
    expect(link.hasAttribute("download")).toBe(false);
  });

  test("reads all bytes where they have none", async () => {
    const viewer = await viewing(given("all of it", "text/html", "page.html"));
    let saved: Promise<Response> | undefined;
    const click = vi.spyOn(HTMLAnchorElement.prototype, "click").mockImplementation(function (this: HTMLAnchorElement) {
      saved = fetch(this.href);
    });
    buttonOf(viewer, "Download").click();
    await saying(viewer, /^Downloaded$/);
    const response = await saved;
    expect(await response?.text()).toBe("all of it");
    expect(response?.headers.get("content-type")).toBe("application/octet-stream");
    click.mockRestore();
  });
});

const CSV = `name,amount\n${"Anna,12\n".repeat(200)}`;
const CODE = `// A comment\nexport function add(a: number, b: number): number {\n  return a + b; // "sum"\n}\n`.repeat(
  20,
);
const FILES: readonly (readonly [string, () => Promise<Given>, string])[] = [
  ["an image", async () => given(await png(200, 100), "image/png", "chart.png"), "img"],
  ["a PDF", () => Promise.resolve(given(pdf(3), "application/pdf", "report.pdf")), "canvas"],
  ["a page", () => Promise.resolve(given("<h1>Hello</h1>", "text/html", "page.html")), "iframe"],
  ["code", () => Promise.resolve(given(CODE, "text/x-typescript", "add.ts")), ".token-comment"],
  ["a table", () => Promise.resolve(given(CSV, "text/csv", "rows.csv")), ".record .cell"],
  ["sound", () => Promise.resolve(given(wav(), "audio/wav", "tone.wav")), "audio"],
  ["bytes", () => Promise.resolve(given(new Uint8Array(5000), null, "data")), ".bytes"],
];

function focused(viewer: SluiceViewer): string {
  const { activeElement } = viewer.shadowRoot ?? {};
  return activeElement?.id || activeElement?.textContent.trim() || (activeElement?.className ?? "");
}

describe.each(FILES)("with %s", (_, file, sign) => {
  test("axe finds nothing in any tab, in both themes", async () => {
    const viewer = await viewing(await file());
    await part(viewer, sign);
    const found = [...(await violations(viewer))];
    for (const tab of ["source", "info"] as const) {
      viewer.tab = tab;
      await viewer.updateComplete;
      if (tab === "source") await part(viewer, ".row");
      found.push(...(await violations(viewer)));
    }
    expect(found).toEqual([]);
  });

  test("nothing is wider than a narrow page", async () => {
    const viewer = await viewing(await file());
    await page.viewport(390, 700);
    await part(viewer, sign);
    expect(document.documentElement.scrollWidth).toBeLessThanOrEqual(390);
    const small = [...viewer.renderRoot.querySelectorAll("button, a.button, input")].filter(
      (each) => each.checkVisibility() && each.getBoundingClientRect().height < 44,
    );
    expect(small).toEqual([]);
  });
});

test("tabs are gone through with arrows, and shown at once", async () => {
  const viewer = await viewing(given("text", "text/plain", "a.txt"));
  await settled(viewer);
  (await part(viewer, "#tab-preview")).focus();
  await userEvent.keyboard("{ArrowRight}");
  await vi.waitFor(() => expect(focused(viewer)).toBe("tab-source"));
  expect(viewer.tab).toBe("source");
  await userEvent.keyboard("{End}");
  await vi.waitFor(() => expect(focused(viewer)).toBe("tab-info"));
  await userEvent.keyboard("{ArrowRight}");
  await vi.waitFor(() => expect(focused(viewer)).toBe("tab-preview"));
  const chosen = [...viewer.renderRoot.querySelectorAll("[role=tab]")].map(({ ariaSelected }) => ariaSelected);
  expect(chosen).toEqual(["true", "false", "false"]);
  expect((await part(viewer, "[role=tabpanel]")).getAttribute("aria-labelledby")).toBe("tab-preview");
});

test("Tab goes from the file to its tabs, its tools, what is drawn, and on", async () => {
  const viewer = await viewing(given(CSV, "text/csv", "rows.csv"));
  await settled(viewer);
  const seen: string[] = [];
  for (let step = 0; step < 5; step += 1) {
    await userEvent.keyboard("{Tab}");
    seen.push(focused(viewer));
  }
  expect(seen[0]).toBe("Download");
  expect(seen[1]).toBe("tab-preview");
  expect(viewer.shadowRoot?.activeElement?.className).toBe("table");
});

// Last, since the policy stays with the page.
test("a page without inline styles and scripts refuses nothing", async () => {
  const refused = await refusedBy(async () => {
    for (const [, file, sign] of FILES) {
      const viewer = await viewing(await file());
      await part(viewer, sign);
    }
  });
  expect(refused).toEqual([]);
});
