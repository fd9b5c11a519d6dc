/** `<sluice-meter>`: numbers that add up. */
import * as fc from "fast-check";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { downloadAddress, toFileName, saveAsFile } from "../../../web/ui/download.js";
import { estimateTokens, SluiceMeter, TOKEN_ESTIMATOR } from "../../../web/ui/meter.js";
import { isPlain, plainLines, plainText, toSafeName } from "../../../web/ui/plain-text.js";
import { type ArtifactBytes, isStored, type ShownArtifact } from "../../../web/ui/shown.js";
import { refusedBy, violations } from "./support.js";

describe("the meter", () => {
  beforeEach(() => document.body.replaceChildren());

  async function shown(given: Partial<SluiceMeter>): Promise<SluiceMeter> {
    const element = Object.assign(new SluiceMeter(), given);
    document.body.append(element);
    await element.updateComplete;
    return element;
  }

  function line(element: SluiceMeter): string | undefined {
    return element.renderRoot.querySelector(".line, .soft")?.textContent.replace(/\s+/g, " ").trim();
  }

  function facts(element: SluiceMeter): Readonly<Record<string, string>> {
    const words = (part: Element | null): string => (part?.textContent ?? "").replace(/\s+/g, " ").trim();
    const all = [...element.renderRoot.querySelectorAll(".facts > div")];
    return Object.fromEntries(all.map((fact) => [words(fact.querySelector("dt")), words(fact.querySelector("dd"))]));
  }

  function widths(element: SluiceMeter): readonly number[] {
    return [...element.renderRoot.querySelectorAll<HTMLElement>(".fill")].map((fill) =>
      parseFloat(fill.style.inlineSize),
    );
  }

  test("tells bytes, tokens, and how much was kept out", async () => {
    const element = await shown({ sent: 5_592_990, seen: 312, decoded: 4_194_304 });
    expect(line(element)).toBe("5,592,990 B → 312 B · ≈ 1.4 M → ≈ 80 tokens · 99.99 % kept out");
    expect(widths(element)).toEqual([100, 0.006]);
    expect(element.renderRoot.querySelector(".decoded")?.textContent).toContain("4,194,304 B decoded");
    expect(element.renderRoot.querySelector(".estimator")?.textContent).toContain(TOKEN_ESTIMATOR);
    expect(element.renderRoot.querySelector("[role=img]")?.getAttribute("aria-label")).toBe(
      "The server sent 5,592,990 B, the model sees 312 B: 99.99 % kept out. About 1.4 M tokens became about 80.",
    );
  });

  test.each([
    [1_000_000_000, 1, "99.99 % kept out"],
    [100, 0, "100 % kept out"],
    [200, 100, "50 % kept out"],
    [100_000, 99_999, "less than 0.01 % kept out"],
    [312, 312, "nothing kept out"],
    [312, 340, "grew by 28 B"],
    [0, 28, "grew by 28 B"],
  ])("%d bytes that become %d: %s", async (sent, seen, words) => {
    expect(line(await shown({ sent, seen }))).toMatch(new RegExp(`· ${words}$`));
  });

  test("begins with a sentence that a person would say", async () => {
    const said = async (given: Partial<SluiceMeter>): Promise<string | undefined> =>
      (await shown(given)).renderRoot.querySelector(".sentence")?.textContent.replaceAll(/\s+/g, " ").trim();
    expect(await said({ sent: 5_592_990, seen: 312 })).toBe("Your server sent 5.3 MB. Your model reads 312 B.");
    expect(await said({ sent: 43, seen: 2, unchanged: true })).toBe("Your model reads all of it: 2 B.");
    expect(await said({ sent: 5_592_990, seen: 312, sender: "The demo server" })).toBe(
      "The demo server sent 5.3 MB. Your model reads 312 B.",
    );
    expect(await said({ sent: 110, seen: 79, unchanged: true, failed: true })).toBe(
      "The tool failed. Your model reads why: 79 B.",
    );
    expect(await said({ sent: 4_400_000, seen: 720, file: true })).toBe(
      "This file would cost 1.1 M tokens. Your model reads 180.",
    );
  });

  test("calls a result unchanged whose content is whole, however much JSON was around it", async () => {
    const element = await shown({ sent: 43, seen: 2, unchanged: true, contentSent: 2, contentSeen: 2 });
    expect(line(element)).toBe("2 B · ≈ 1 tokens · unchanged");
    expect(facts(element)).toEqual({ tokens: "≈ 1" });
    // A bar of two lengths would say that something was taken out.
    expect(widths(element)).toEqual([]);
    expect(element.renderRoot.querySelector(".around")?.textContent).toMatch(/41 B sent,\s+0 B seen\.$/);
  });

  test.each([
    [5_592_990, 312, 3, "≈ $4.19 → $0"],
    [56_865, 30_500, 3, "≈ $0.043 → $0.023"],
    [400, 396, 0.1, "≈ $0.000010 → $0.0000099"],
  ])("%d bytes that become %d at $%d: %s", async (sent, seen, price, words) => {
    const element = await shown({ sent, seen, price });
    expect(facts(element)[`a call at $${price} per million`]).toBe(words);
  });

  test("promises no money where nothing is saved", async () => {
    for (const given of [{ seen: 340 }, { seen: 12, unchanged: true }]) {
      const element = await shown({ sent: 312, price: 3, ...given });
      expect(element.renderRoot.textContent).not.toContain("$");
    }
  });

  test("says how much is stored, and is a heading where the page wants one", async () => {
    const element = await shown({ sent: 5_592_990, seen: 312, decoded: 4_194_304, level: 1 });
    expect(facts(element)["stored whole, nothing lost"]).toBe("4.0 MB");
    expect(element.renderRoot.querySelector("[role=heading]")?.getAttribute("aria-level")).toBe("1");
    expect((await shown({ sent: 5, seen: 3 })).renderRoot.querySelector("[role=heading]")).toBeNull();
  });

  test("a result that grew has the longer bar", async () => {
    expect(widths(await shown({ sent: 312, seen: 624 }))).toEqual([50, 100]);
  });

  test.each([
    [3, "≈ 3"],
    [14, "≈ 10"],
    [314, "≈ 310"],
    [9_960, "≈ 10 k"],
    [12_345, "≈ 12 k"],
    [999_999, "≈ 1.0 M"],
    [1_398_248, "≈ 1.4 M"],
  ])("%d tokens are %s", async (count, words) => {
    const element = await shown({ sent: 1_000_000, seen: 1, tokensSent: count, tokensSeen: 1, estimator: "o200k" });
    expect(line(element)).toContain(`· ${words} → ≈ 1 tokens ·`);
    expect(element.renderRoot.querySelector(".estimator")?.textContent).toContain("o200k");
  });

  test("says nothing of what is not there, or is no amount", async () => {
    for (const given of [{}, { sent: 0, seen: 0 }, { sent: NaN, seen: 1 }, { sent: -1, seen: 1 }, { sent: 5 }]) {
      expect(line(await shown(given))).toBe("No result yet.");
    }
  });

  test("the percentage never claims more than was kept out", async () => {
    const element = await shown({});
    await fc.assert(
      fc.asyncProperty(fc.maxSafeNat(), fc.maxSafeNat(), async (one, other) => {
        const [sent, seen] = [Math.max(one, other), Math.min(one, other)];
        fc.pre(sent > seen);
        Object.assign(element, { sent, seen });
        await element.updateComplete;
        const [, percent = "0"] = /· ([\d.]+) % kept out$/.exec(line(element) ?? "") ?? [];
        const hundredths = BigInt(Math.round(Number(percent) * 100));
        const kept = BigInt(sent - seen) * 10_000n;
        expect(hundredths * BigInt(sent) <= kept && kept < (hundredths + 1n) * BigInt(sent)).toBe(true);
        expect(percent === "100").toBe(seen === 0);
      }),
      { numRuns: 200 },
    );
  });

  test("tokens are bytes divided by four, rounded up", () => {
    expect([0, 1, 4, 5, 312].map(estimateTokens)).toEqual([0, 1, 1, 2, 78]);
  });

  test("takes its numbers from attributes too, and is one line where it is compact", async () => {
    document.body.innerHTML = '<sluice-meter sent="5592990" seen="312" decoded="4" compact></sluice-meter>';
    const element = document.querySelector("sluice-meter")!;
    await element.updateComplete;
    expect(line(element)).toBe("5.3 MB → 312 B · ≈ 1.4 M → ≈ 80 tokens · 99.99 % kept out");
    expect(element.renderRoot.querySelector(".bar")).toBeNull();
  });

  test.each([{ sent: 5_592_990, seen: 312, decoded: 5 }, { sent: 1, seen: 2 }, {}])(
    "axe finds nothing",
    async (given) => {
      expect(await violations(await shown(given))).toEqual([]);
    },
  );

  test("nothing in it needs inline styles", async () => {
    expect(await refusedBy(async () => void (await shown({ sent: 9, seen: 3 })))).toEqual([]);
    const fill = document.querySelector("sluice-meter")?.renderRoot.querySelectorAll<HTMLElement>(".fill")[1];
    expect(fill?.style.inlineSize).toBe("33.333%");
  });
});

/** Originals as files: where they are, what they are called, and what is read of them. */
describe("downloads", () => {
  const MB = 1024 ** 2;
  const REPORT = { id: "demo_6c0e06280000", filename: "report.pdf" };

  test.each([
    ["/artifacts/1", "/artifacts/1?download"],
    ["/artifacts/1?key=2#page=3", "/artifacts/1?key=2&download"],
  ])("%s is downloaded from %s", (href, expected) => {
    expect(downloadAddress(href)).toBe(expected);
  });

  test.each([
    ["photo\u202egpj.exe", "photo_gpj.exe"],
    ["a\u0000b\nc", "a_b_c"],
    ["../../etc/passwd", "_.._etc_passwd"],
    ["C:\\a<b>|c?*.txt", "C__a_b__c__.txt"],
    ["invoice.pdf          .exe", "invoice.pdf .exe"],
    [" .. ", "demo_6c0e06280000"],
    ["", "demo_6c0e06280000"],
    [null, "demo_6c0e06280000"],
    [`${"x".repeat(500)}.tar.gz`, `${"x".repeat(117)}.gz`],
    ["x".repeat(50_000), "x".repeat(120)],
  ])("the name %j is saved as %j", (filename, expected) => {
    expect(toFileName({ ...REPORT, filename })).toBe(expected);
  });

  test("what has no name at all has one as a file", () => {
    expect(toFileName({ id: "...", filename: "..." })).toBe("download");
  });

  test("many pieces are one file, while the page has its turns", async () => {
    let sent = 0;
    // Each piece is there at once: nothing else would let the page answer.
    const pull = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
      if (sent === 40) return controller.close();
      controller.enqueue(new Uint8Array(MB).fill(sent));
      sent += 1;
    };
    const saved = nextFile();
    const bytes: ArtifactBytes = { open: () => Promise.resolve(new ReadableStream({ pull })) };
    expect(await saveAsFile(REPORT, bytes, new AbortController().signal)).toBe(true);
    const { name, blob } = await saved;
    expect([name, blob.type, blob.size]).toEqual(["report.pdf", "application/octet-stream", 40 * MB]);
    const read = new Uint8Array(await blob.arrayBuffer());
    expect(Array.from({ length: 40 }, (_, at) => read[at * MB])).toEqual(Array.from({ length: 40 }, (_, at) => at));
  });

  test("bytes that are gone are no file", async () => {
    expect(await saveAsFile(REPORT, { open: () => Promise.resolve(null) }, new AbortController().signal)).toBe(false);
  });

  test("nobody who gave up gets a file, and the source is told", async () => {
    const click = vi.spyOn(HTMLAnchorElement.prototype, "click").mockImplementation(() => undefined);
    const cancel = vi.fn<(reason: unknown) => void>();
    const ending = new AbortController();
    const open = (): Promise<ReadableStream<Uint8Array>> => {
      ending.abort(new Error("enough"));
      return Promise.resolve(new ReadableStream({ cancel }));
    };
    await expect(saveAsFile(REPORT, { open }, ending.signal)).rejects.toThrow("enough");
    expect(cancel).toHaveBeenCalledOnce();
    expect(click).not.toHaveBeenCalled();
    click.mockRestore();
  });

  /** The next file that the page hands to the browser, which is not asked to keep it. */
  function nextFile(): Promise<{ name: string; blob: Blob }> {
    return new Promise((resolve, reject) => {
      const click = vi.spyOn(HTMLAnchorElement.prototype, "click").mockImplementation(function (
        this: HTMLAnchorElement,
      ) {
        click.mockRestore();
        const { href, download: name } = this;
        fetch(href)
          .then(async (response) => resolve({ name, blob: await response.blob() }))
          .catch(reject);
      });
    });
  }
});

/** Whether an artifact is stored, and untrusted text made safe to show. */
describe("what is shown", () => {
  const ID = "demo_6c0e06280000";

  test.each<readonly [string, ShownArtifact, boolean]>([
    ["an id alone", { id: ID }, true],
    ["a ref without a hash, which says so", { id: ID, sha256: null }, false],
    ["a ref that is still to be fetched", { id: ID, sha256: null, deferred: true }, true],
    ["a ref that says that its bytes were cut", { id: ID, source: { truncated: true } }, false],
    ["an id of what was not stored", { id: "truncated_0123456789ab" }, false],
  ])("of %s it is known whether its bytes were kept", (_, artifact, expected) => {
    expect(isStored(artifact)).toBe(expected);
  });

  // A control, a turn of direction, a joiner, a line separator, a private letter, half of a pair.
  test.each(["\u0007", "\u202e", "\u200b", "\u2028", "\ue000", "\ud800"])("%j does not hide", (character) => {
    const text = `a${character}b`;
    expect(isPlain(text)).toBe(false);
    expect(plainText(text)).toBe("a b");
    expect(toSafeName(text, "")).toBe("a\ufffdb");
  });

  test("a line has no other space than between words", () => {
    expect(plainText("  a \n\t b ")).toBe("a b");
    expect(plainText("👩‍🚀")).toBe("👩 🚀");
  });

  test("whole characters are cut, and only as much as needed is looked at", () => {
    expect(plainText("😀".repeat(300), 10)).toBe(`${"😀".repeat(9)}…`);
    expect(plainText(`${"\u200b".repeat(400)}late`, 100)).toBe("");
    expect(toSafeName("x".repeat(300), "")).toBe(`${"x".repeat(200)}…`);
  });

  test.each([
    ["photo\u202egpj.exe", "photo\ufffdgpj.exe"],
    ["a\u0000b\nc", "a\ufffdb\ufffdc"],
    ["../../etc/passwd", "../../etc/passwd"],
    [" ", "nothing"],
    [null, "nothing"],
    [12, "nothing"],
  ])("the name %j is shown as %j", (name, expected) => {
    expect(toSafeName(name, "nothing")).toBe(expected);
  });

  test("what is no text says nothing", () => {
    expect([plainText(undefined), plainText(12), plainText({})]).toEqual(["", "", ""]);
  });

  test("longer texts keep their lines and letters that are joined", () => {
    expect(plainLines("a\r\n\tb 👩‍🚀")).toBe("a\r\n\tb 👩‍🚀");
    expect(plainLines("a\u202eb\u0000c\u2066d")).toBe("a\ufffdb\ufffdc\ufffdd");
  });
});
