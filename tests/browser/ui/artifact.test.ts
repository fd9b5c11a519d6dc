/** `<sluice-artifact>`: what it says, what it offers, and how it is used. */
import { beforeEach, describe, expect, test, vi } from "vitest";
import { userEvent } from "vitest/browser";
import { SluiceArtifact } from "../../../web/ui/artifact.js";
import type { ArtifactBytes, ShownArtifact } from "../../../web/ui/shown.js";
import { eventually, refusedBy, violations } from "./support.js";

const SHA = "6c0e0628".padEnd(64, "0");
const REPORT: ShownArtifact = {
  id: "demo_6c0e06280000",
  mime_type: "application/pdf",
  size_bytes: 4_194_304,
  filename: "report.pdf",
  sha256: SHA,
  namespace: "demo",
  source: { tool: "make_report", description: "PDF, 4.0 MB, 12 pages" },
  stored_at: Date.UTC(2026, 0, 2),
};
const ALL = ["preview", "download", "copy", "save", "open", "delete"] as const;

function bytesOf(text: string): ArtifactBytes {
  return { open: () => Promise.resolve(new Blob([text]).stream()) };
}

beforeEach(() => document.body.replaceChildren());

async function shown(artifact: ShownArtifact, more: Partial<SluiceArtifact> = {}): Promise<SluiceArtifact> {
  const element = Object.assign(new SluiceArtifact(), { artifact, ...more });
  document.body.append(element);
  await element.updateComplete;
  return element;
}

function part(element: SluiceArtifact, selector: string): HTMLElement {
  const found = element.renderRoot.querySelector<HTMLElement>(selector);
  if (found === null) throw new Error(`There is no ${selector}.`);
  return found;
}

function focused(element: SluiceArtifact): string | undefined {
  return element.shadowRoot?.activeElement?.id;
}

function buttons(element: SluiceArtifact): readonly (string | undefined)[] {
  return [...element.renderRoot.querySelectorAll(".row > button, .row > a")].map(
    (each) => each.getAttribute("aria-label") ?? undefined,
  );
}

function entries(element: SluiceArtifact): readonly HTMLElement[] {
  return [...element.renderRoot.querySelectorAll<HTMLElement>("[role=menuitem]")];
}

/** Opens the menu, which has entries only while it is open. */
async function opened(element: SluiceArtifact): Promise<readonly HTMLElement[]> {
  await userEvent.click(part(element, "#more"));
  await eventually(() => expect(entries(element)).not.toEqual([]));
  return entries(element);
}

const labels = (all: readonly HTMLElement[]): readonly string[] => all.map((item) => item.textContent.trim());

/** What the menu offers. */
async function items(element: SluiceArtifact): Promise<readonly string[]> {
  const offered = labels(await opened(element));
  part(element, "#menu").hidePopover();
  await eventually(() => expect(entries(element)).toEqual([]));
  return offered;
}

/** Chooses an entry of the menu, and returns what it had. */
async function choose(element: SluiceArtifact, label: string | RegExp): Promise<readonly string[]> {
  const all = await opened(element);
  const offered = labels(all);
  const entry = all.find(({ textContent }) =>
    typeof label === "string" ? textContent.trim() === label : label.test(textContent),
  );
  if (entry === undefined) throw new Error(`There is no ${String(label)}.`);
  await userEvent.click(entry);
  await element.updateComplete;
  return offered;
}

function events(element: SluiceArtifact): readonly string[] {
  const seen: string[] = [];
  for (const name of ["preview", "save", "open", "delete", "fetch"]) {
    document.body.addEventListener(`sluice-${name}`, (event) => {
      if (event.target !== element) return;
      seen.push(`${name} ${(event as CustomEvent<ShownArtifact>).detail.id}`);
    });
  }
  return seen;
}

describe("a card", () => {
  test("says what an artifact is, where it came from, and offers one action, its original, and a menu", async () => {
    const element = await shown(REPORT, { bytes: bytesOf("x") });
    expect(part(element, "#name").textContent).toBe("report.pdf");
    expect(part(element, ".head .soft").textContent).toBe("application/pdf · 4.0 MB · from make_report");
    expect(buttons(element)).toEqual([
      "Preview: report.pdf",
      "Download original: report.pdf",
      "More actions for report.pdf",
    ]);
    expect(element.renderRoot.querySelector("dl")).toBeNull();
    expect(await choose(element, "Provenance")).toEqual(["Copy ref", "Provenance"]);
    await eventually(() => expect(focused(element)).toBe("provenance"));
    expect(part(element, "dl").textContent).toContain(SHA);
    expect(part(element, "dl").textContent).toContain("4,194,304 B");
    await choose(element, "Hide provenance");
    expect(focused(element)).toBe("more");
    expect(element.renderRoot.querySelector("dl")).toBeNull();
  });

  test("of an artifact of which only the id is known says so", async () => {
    const element = await shown({ id: "a_0123456789ab" });
    expect(part(element, "#name").textContent).toBe("a_0123456789ab");
    expect(part(element, ".head .soft").textContent).toBe("unknown type");
    expect(buttons(element)).toEqual(["Preview: a_0123456789ab", "More actions for a_0123456789ab"]);
  });

  test("shows words of servers as text, without what hides or moves it", async () => {
    const element = await shown({
      ...REPORT,
      filename: "in\u202evoice<img src=x onerror=alert(1)>\n.pdf",
      mime_type: "text/html\u0007",
      source: { tool: "x".repeat(5_000), description: "\u200b<script>" },
    });
    expect(part(element, "#name").textContent).toBe("in voice<img src=x onerror=alert(1)> .pdf");
    expect(element.renderRoot.querySelector("img, script")).toBeNull();
    expect(part(element, ".head .soft").textContent.length).toBeLessThan(200);
  });

  test("that is deferred offers to fetch, and nothing else", async () => {
    const element = await shown({ ...REPORT, deferred: true }, { bytes: bytesOf("x"), actions: ALL });
    const seen = events(element);
    expect(buttons(element)).toEqual(["Fetch: report.pdf", "More actions for report.pdf"]);
    expect(await items(element)).toEqual(["Provenance"]);
    expect(getComputedStyle(part(element, ".card")).borderStyle).toBe("dashed");
    await userEvent.click(part(element, "#fetch"));
    expect(seen).toEqual([`fetch ${REPORT.id}`]);
  });

  test("of what was not stored says why, and offers only where it came from", async () => {
    const source = { tool: "make_report", truncated: true, warning: "The disk is full: delete artifacts." };
    const element = await shown({ ...REPORT, id: "truncated_0123456789ab", source }, { bytes: bytesOf("x") });
    expect(part(element, ".note").textContent).toBe("The disk is full: delete artifacts.");
    expect(part(element, ".head .soft").textContent).toContain("not stored");
    expect(await items(element)).toEqual(["Provenance"]);
    expect(buttons(element)).toHaveLength(1);
  });
});

describe("actions", () => {
  test("are told with the artifact, out of shadow trees", async () => {
    const element = await shown(REPORT, { actions: ["preview", "save", "open"] });
    const seen = events(element);
    await userEvent.click(part(element, "#preview"));
    for (const label of ["Save to My Files", "Open in canvas"]) await choose(element, label);
    expect(seen).toEqual(["preview", "save", "open"].map((name) => `${name} ${REPORT.id}`));
  });

  test("beyond the first are in a menu that the keyboard opens, walks and leaves", async () => {
    const element = await shown(REPORT, { bytes: bytesOf("x"), actions: ALL });
    const seen = events(element);
    const more = part(element, "#more");
    more.focus();
    await userEvent.keyboard("{Enter}");
    const at = (): number => entries(element).findIndex((item) => item === element.shadowRoot?.activeElement);
    await eventually(() => expect([at(), more.getAttribute("aria-expanded")]).toEqual([0, "true"]));
    const all = ["Copy ref", "Save to My Files", "Open in canvas", "Delete", "Provenance"];
    expect(labels(entries(element))).toEqual(all);
    const below = part(element, "#menu").getBoundingClientRect().top - more.getBoundingClientRect().bottom;
    expect(below).toBeGreaterThanOrEqual(0);
    await userEvent.keyboard("{ArrowUp}");
    expect(at()).toBe(4);
    await userEvent.keyboard("{ArrowDown}");
    expect(at()).toBe(0);
    await userEvent.keyboard("{End}");
    expect(at()).toBe(4);
    await userEvent.keyboard("o");
    expect(at()).toBe(2);
    await userEvent.keyboard("{Escape}");
    await eventually(() => expect([focused(element), more.getAttribute("aria-expanded")]).toEqual(["more", "false"]));
    await userEvent.keyboard("{ArrowDown}");
    await eventually(() => expect(at()).toBe(0));
    await userEvent.keyboard("{ArrowDown}{Enter}");
    expect(seen).toEqual([`save ${REPORT.id}`]);
    expect(focused(element)).toBe("more");
  });

  test("a menu stays within the window", async () => {
    const element = await shown(REPORT, { actions: ALL, compact: true });
    Object.assign(element.style, { position: "fixed", right: "0", bottom: "0" });
    await userEvent.click(part(element, "#more"));
    await eventually(() => expect(part(element, "#more").getAttribute("aria-expanded")).toBe("true"));
    const { left, right, top, bottom } = part(element, "#menu").getBoundingClientRect();
    expect(Math.min(left, top)).toBeGreaterThanOrEqual(0);
    expect(bottom).toBeLessThanOrEqual(part(element, "#more").getBoundingClientRect().top);
    expect([right <= innerWidth, bottom <= innerHeight]).toEqual([true, true]);
  });

  test("deleting asks once, and focus stays", async () => {
    const element = await shown(REPORT, { actions: ["delete"] });
    const seen = events(element);
    const ask = async (): Promise<void> => {
      await userEvent.click(part(element, "#delete"));
      await eventually(() => expect(focused(element)).toBe("no"));
    };
    await ask();
    await userEvent.keyboard("{Enter}");
    await eventually(() => expect(focused(element)).toBe("delete"));
    await ask();
    await userEvent.keyboard("{Escape}");
    await eventually(() => expect(focused(element)).toBe("delete"));
    expect(seen).toEqual([]);
    await ask();
    await userEvent.click(part(element, "#yes"));
    expect(seen).toEqual([`delete ${REPORT.id}`]);
  });

  test("a question is not asked of the next artifact", async () => {
    const element = await shown(REPORT, { actions: ["delete"] });
    await userEvent.click(part(element, "#delete"));
    element.artifact = { ...REPORT, id: "demo_000000000000" };
    await element.updateComplete;
    expect(element.renderRoot.querySelector("#yes")).toBeNull();
  });

  test("copying says so, or shows what to copy", async () => {
    const element = await shown(REPORT);
    await choose(element, "Copy ref");
    await eventually(() => {
      const said = part(element, "[role=status]").textContent.trim();
      const byHand = element.renderRoot.querySelector(".ref")?.textContent;
      expect([said, byHand]).toContain(said === "Copied" ? "Copied" : `artifact://${REPORT.id}`);
    });
  });
});

describe("the original", () => {
  test("is a link where its bytes have an address", async () => {
    const bytes = { ...bytesOf("x"), href: "/s/key/artifacts/demo_6c0e06280000" };
    const element = await shown(REPORT, { bytes });
    const link = part(element, "#download");
    expect(link.getAttribute("href")).toBe("/s/key/artifacts/demo_6c0e06280000?download");
    expect(link.hasAttribute("download")).toBe(false);
  });

  test("is read on click where they have none, and is the same bytes", async () => {
    const element = await shown({ ...REPORT, filename: "../a:b.pdf" }, { bytes: bytesOf("whole") });
    const saved = nextFile();
    await userEvent.click(part(element, "#download"));
    expect(await saved).toEqual({ name: "_a_b.pdf", text: "whole", type: "application/octet-stream" });
    await eventually(() => expect(part(element, "[role=status]").textContent).toContain("Saved as a file"));
  });

  test("that is gone says so; one that cannot be read can be tried again", async () => {
    const open = vi
      .fn<ArtifactBytes["open"]>()
      .mockRejectedValueOnce(new Error("/home/ada/secret"))
      .mockResolvedValueOnce(null);
    const element = await shown(REPORT, { bytes: { open } });
    await userEvent.click(part(element, "#download"));
    await eventually(() => expect(part(element, ".bad").textContent).toContain("Its bytes could not be read."));
    expect(part(element, ".bad").textContent).not.toContain("ada");
    await userEvent.click(part(element, ".bad button"));
    await eventually(() => expect(part(element, ".bad").textContent.trim()).toBe("It has expired or was deleted."));
    expect(element.renderRoot.querySelector(".bad button")).toBeNull();
  });

  test("is no longer read once the element is gone", async () => {
    const isOver = vi.fn<() => void>();
    const endless = new ReadableStream<Uint8Array>({ cancel: isOver });
    const element = await shown(REPORT, { bytes: { open: () => Promise.resolve(endless) } });
    await userEvent.click(part(element, "#download"));
    await eventually(() => expect(part(element, "#download").textContent).toContain("Preparing…"));
    element.remove();
    await eventually(() => expect(isOver).toHaveBeenCalledOnce());
  });
});

describe("accessibility", () => {
  test.each([
    ["a card", REPORT, {}],
    ["a chip", REPORT, { compact: true }],
    ["a deferred card", { ...REPORT, deferred: true }, {}],
    ["a deferred chip", { ...REPORT, deferred: true }, { compact: true }],
    ["what was not stored", { ...REPORT, source: { truncated: true, warning: "Full." } }, {}],
  ])("axe finds nothing in %s", async (_, artifact, more) => {
    const element = await shown(artifact, { bytes: bytesOf("x"), actions: ALL, ...more });
    if (element.compact !== true) await choose(element, /Provenance/);
    expect(await violations(element)).toEqual([]);
  });

  test("nor in its menu and its question", async () => {
    const element = await shown(REPORT, { actions: ALL });
    await userEvent.click(part(element, "#more"));
    expect(await violations(element)).toEqual([]);
    await userEvent.keyboard("d{Enter}");
    await eventually(() => expect(focused(element)).toBe("no"));
    expect(await violations(element)).toEqual([]);
  });

  test("nothing in it needs inline styles or scripts", async () => {
    const refused = await refusedBy(async () => {
      const element = await shown(REPORT, { actions: ALL });
      await userEvent.click(part(element, "#more"));
    });
    expect(refused).toEqual([]);
  });
});

/** The next file that the page hands to the browser, which is not asked to keep it. */
function nextFile(): Promise<{ name: string; text: string; type: string }> {
  return new Promise((resolve, reject) => {
    const click = vi.spyOn(HTMLAnchorElement.prototype, "click").mockImplementation(function (this: HTMLAnchorElement) {
      click.mockRestore();
      const read = async (): Promise<{ name: string; text: string; type: string }> => {
        const blob = await (await fetch(this.href)).blob();
        return { name: this.download, text: await blob.text(), type: blob.type };
      };
      read().then(resolve, reject);
    });
  });
}
