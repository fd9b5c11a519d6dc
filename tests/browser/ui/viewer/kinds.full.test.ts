/** `<sluice-viewer>`: each kind of file is shown, or the viewer says why not. */
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { userEvent } from "vitest/browser";
import { configurePdf, type SluiceViewer } from "../../../../web/ui/viewer.js";
import { Indented } from "../../../../web/ui/viewer/code.js";
import { Elements } from "../../../../web/ui/viewer/json.js";
import { Lines } from "../../../../web/ui/viewer/text-view.js";
import { buttonOf, given, notice, part, pdf, png, saying, settled, texts, viewing, wav } from "./fixtures.js";

describe("kinds", () => {
  describe("an image", () => {
    test("is never larger than it is, and carries its name", async () => {
      const viewer = await viewing(given(await png(40, 30), "image/png", "chart.png"));
      const image = await part<HTMLImageElement>(viewer, "img");
      expect(image.alt).toBe("chart.png");
      expect(image.getBoundingClientRect()).toMatchObject({ width: 40, height: 30 });
      expect(texts(viewer, ".bar .soft")).toEqual(["40 × 30 pixels"]);
    });

    test("that is larger than the panel fits into it until its own size is asked for", async () => {
      const viewer = await viewing(given(await png(3000, 100), "image/png", "wide.png"));
      const image = await part<HTMLImageElement>(viewer, "img");
      expect(image.getBoundingClientRect().width).toBeLessThanOrEqual(viewer.clientWidth);
      buttonOf(viewer, "100 %").click();
      expect(image.getBoundingClientRect().width).toBe(3000);
      expect(buttonOf(viewer, "100 %").ariaPressed).toBe("true");
    });

    test("gives its address back when it is gone", async () => {
      const viewer = await viewing(given(await png(4, 4), "image/png", "dot.png"));
      const { src } = await part<HTMLImageElement>(viewer, "img");
      expect(src).toMatch(/^blob:/);
      viewer.remove();
      await expect(fetch(src)).rejects.toThrow(TypeError);
    });

    test("in SVG has no address of this origin", async () => {
      const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="10"><script>top.hit = 1</script></svg>';
      const viewer = await viewing(given(svg, "image/svg+xml", "drawing.svg"));
      const image = await part<HTMLImageElement>(viewer, "img");
      expect(image.src).toMatch(/^data:image\/svg\+xml;base64,/);
      expect(image.naturalWidth).toBe(20);
      expect(window).not.toHaveProperty("hit");
    });

    test("that is none says so and offers its source", async () => {
      const viewer = await viewing(given("no picture", "image/png", "chart.png"));
      await saying(viewer, /cannot show it as image\/png/);
      buttonOf(viewer, "Show source").click();
      await part(viewer, ".hex .row");
      expect(texts(viewer, ".characters")[0]).toBe("no picture");
      expect(viewer.tab).toBe("source");
    });
  });

  describe("sound and film", () => {
    test("play with the browser's controls", async () => {
      const viewer = await viewing(given(wav(), "audio/wav", "tone.wav"));
      await settled(viewer);
      const player = await part<HTMLAudioElement>(viewer, "audio");
      expect(player.duration).toBe(0.5);
      expect(player.controls).toBe(true);
      viewer.remove();
      expect(player.getAttribute("src")).toBeNull();
    });

    test("that the browser cannot play say so", async () => {
      const viewer = await viewing(given("no film", "video/mp4", "film.mp4"));
      await saying(viewer, /cannot play it/);
      expect(notice(viewer)).toBe("This browser cannot play it as video/mp4. Show source");
    });
  });

  describe("text", () => {
    test("is shown with the numbers of its lines, and colours come by classes", async () => {
      const code = 'const answer: number = 42;\n// why\nexport const text = "yes";\n';
      const viewer = await viewing(given(code, "text/x-typescript", "answer.ts"));
      await settled(viewer);
      await vi.waitFor(() => expect(texts(viewer, ".token-keyword")).toContain("const"));
      expect(texts(viewer, ".line .number")).toEqual(["1", "2", "3"]);
      expect(texts(viewer, ".written")).toEqual(code.trimEnd().split("\n"));
      expect(viewer.renderRoot.querySelectorAll(".written [style]")).toHaveLength(0);
      await vi.waitFor(() => expect(texts(viewer, ".token-comment").join("")).toBe("// why"));
    });

    test.each([
      ["application/json", "a.json", '{\n  "a": 1\n}'],
      ["application/xml", "a.xml", "<a b='1'/>"],
      ["application/yaml", "a.yaml", "a: 1"],
      ["text/css", "a.css", "a { color: red }"],
      ["text/x-python", "a.py", "def a(): pass"],
      ["text/plain", "a.sql", "select 1"],
    ])("of type %s has colours", async (type, name, text) => {
      const viewer = await viewing(given(text, type, name));
      await part(viewer, ".written [class^=token]");
      expect(texts(viewer, ".written").join("\n")).toBe(text.trimEnd());
    });

    test("in JSON without lines is laid out, its source as it is", async () => {
      const text = '{"a":{"b":[1,{}],"c":"x, {\\"y"},"d":[]}';
      const viewer = await viewing(given(text, "application/json", "a.json"));
      await settled(viewer);
      const laid = JSON.stringify(JSON.parse(text), null, 2);
      await vi.waitFor(() => expect(texts(viewer, ".written").join("\n")).toBe(laid));
      viewer.tab = "source";
      await viewer.updateComplete;
      await settled(viewer);
      await vi.waitFor(() => expect(texts(viewer, ".written")).toEqual([text]));
    });

    test("is decoded as its type says", async () => {
      const viewer = await viewing(given(new Uint8Array([0xe4, 0x62]), "text/plain; charset=latin1", "a.txt"));
      await settled(viewer);
      await vi.waitFor(() => expect(texts(viewer, ".written")).toEqual(["äb"]));
    });
  });

  describe("bytes", () => {
    test("of unknown type are shown as offset, digits and characters, read as they come into view", async () => {
      const noise = new Uint8Array(10 * 1024 ** 2).map((_, i) => i % 251);
      const file = given(noise, "application/octet-stream", "noise.bin");
      const viewer = await viewing(file);
      await part(viewer, ".hex .row");
      expect(texts(viewer, ".offset").slice(0, 2)).toEqual(["00000000", "00000010"]);
      expect(texts(viewer, ".pairs")[0]).toMatch(/^00 01 02 .*0e 0f/);
      expect(file.opened).toEqual([{ start: 0, end: 65_536 }]);
      const scroller = await part(viewer, ".hex");
      scroller.scrollTop = 300_000;
      await vi.waitFor(() => expect(file.opened).toHaveLength(2));
      await vi.waitFor(() => expect(texts(viewer, ".offset")).toContain((15_000 * 16).toString(16).padStart(8, "0")), {
        timeout: 20_000,
      });
      expect(viewer.renderRoot.querySelectorAll("*").length).toBeLessThan(1000);
    });

    test("of many rows are shown part by part", async () => {
      const viewer = await viewing(given(new Blob([new Uint8Array(8 * 1024 ** 2)]), null, "large"));
      await part(viewer, ".hex .row");
      expect(texts(viewer, ".bar [role=status]")).toEqual(["Rows 1 to 200,000 of 524,288"]);
      buttonOf(viewer, "Later").click();
      await vi.waitFor(() => expect(texts(viewer, ".offset")).toContain((200_000 * 16).toString(16).padStart(8, "0")), {
        timeout: 20_000,
      });
      expect(texts(viewer, ".bar [role=status]")).toEqual(["Rows 200,001 to 400,000 of 524,288"]);
    });

    test("that are none say so", async () => {
      const viewer = await viewing(given("", null, "empty"));
      await settled(viewer);
      expect(texts(viewer, ".empty")).toEqual(["It is empty."]);
    });
  });

  test("a file without a type goes by its name", async () => {
    const viewer = await viewing(given(pdf(1), "application/octet-stream", "report.pdf"));
    await part(viewer, "canvas");
    expect(notice(viewer)).toBe("");
  });

  test.each([
    ["main.mts", "const answer: number = 42;"],
    ["server.conf", "; the port"],
    ["build.zsh", "echo done"],
  ])("a text without a type has the colours of its name: %s", async (name, text) => {
    const viewer = await viewing(given(text, null, name));
    await part(viewer, ".written [class^=token]");
    expect(texts(viewer, ".written")).toEqual([text]);
  });

  describe("a hint", () => {
    test("chooses among the ways in which a text can be shown", async () => {
      const viewer = await viewing(given("<h1>Page</h1>", "text/html", "page.html", { viewer: "code" }));
      await expect.poll(() => viewer.shadowRoot?.textContent).toContain("<h1>Page</h1>");
      expect(viewer.shadowRoot?.querySelector("iframe")).toBeNull();
    });

    test("counts for nothing where the bytes say what they are", async () => {
      const viewer = await viewing(given("no picture", "image/png", "chart.png", { viewer: "html" }));
      await saying(viewer, /cannot show it as image\/png/);
      expect(viewer.shadowRoot?.querySelector("iframe")).toBeNull();
    });
  });
});

/** What previews make of text does not depend on the pieces in which it comes. */
describe("pieces", () => {
  function pieces(text: string, sizes: readonly number[]): string[] {
    const found: string[] = [];
    let at = 0;
    for (const size of sizes) {
      found.push(text.slice(at, at + size));
      at += size;
    }
    return [...found, text.slice(at)];
  }
  const sizes = fc.array(fc.integer({ min: 0, max: 9 }));

  test("elements of any array are found", () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), sizes, fc.constantFrom(0, 1), (values, cuts, indent) => {
        const elements = new Elements();
        const found = pieces(JSON.stringify(values, null, indent), cuts).flatMap((piece) => elements.push(piece));
        expect(found.map((source) => JSON.stringify(JSON.parse(source)))).toEqual(
          values.map((value) => JSON.stringify(value)),
        );
      }),
    );
  });

  test("JSON is laid out as JSON.stringify would", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), sizes, (value, cuts) => {
        const layout = new Indented();
        const laid = pieces(JSON.stringify(value), cuts).map((piece) => layout.push(piece));
        expect(laid.join("")).toBe(JSON.stringify(value, null, 2));
      }),
    );
  });

  test("any text at all passes, with nothing lost but space", () => {
    fc.assert(
      fc.property(fc.string(), sizes, (text, cuts) => {
        const layout = new Indented();
        const laid = pieces(text, cuts).map((piece) => layout.push(piece));
        expect(laid.join("").replace(/\s/g, "")).toBe(text.replace(/\s/g, ""));
      }),
    );
  });

  test("lines are what is between their ends", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom("a", "\n", "\r\n", "😀") }), sizes, (text, cuts) => {
        const lines = new Lines();
        for (const piece of pieces(text, cuts)) lines.push(piece);
        lines.end();
        const rows = Array.from({ length: lines.count }, (_, at) => lines.row(at));
        const expected = text === "" ? [""] : text.replace(/\r?\n$/, "").split(/\r?\n/);
        expect(rows.map((row) => row.text)).toEqual(expected);
        expect(rows.map((row) => row.line)).toEqual(expected.map((_, at) => at + 1));
      }),
    );
  });

  test("a long line becomes rows of whole words and characters", () => {
    const lines = new Lines();
    const text = `${"word ".repeat(500)}${"😀".repeat(2000)}`;
    for (const piece of [text.slice(0, 777), text.slice(777), "\nnext"]) lines.push(piece);
    lines.end();
    const rows = Array.from({ length: lines.count }, (_, at) => lines.row(at));
    expect(rows.map(({ line }) => line).filter((line) => line !== 0)).toEqual([1, 2]);
    expect(
      rows
        .slice(0, -1)
        .map((row) => row.text)
        .join(""),
    ).toBe(text);
    expect(rows.every((row) => row.text.length <= 1000 && !/\p{Cs}/u.test(row.text))).toBe(true);
    expect(rows[0]?.text.endsWith("word ")).toBe(true);
  });
});

/** `<sluice-viewer>`: PDF, page by page. */
describe("PDF", () => {
  function labels(viewer: SluiceViewer): readonly (string | null)[] {
    return [...viewer.renderRoot.querySelectorAll("canvas")].map((canvas) => canvas.ariaLabel);
  }

  async function showing(pages: number): Promise<{ viewer: SluiceViewer; number: HTMLInputElement }> {
    const viewer = await viewing(given(pdf(pages), "application/pdf", "report.pdf"));
    await part(viewer, "canvas");
    return { viewer, number: await part<HTMLInputElement>(viewer, "input") };
  }

  test("a page is drawn, with its text for screen readers", async () => {
    const { viewer } = await showing(3);
    const canvas = await part<HTMLCanvasElement>(viewer, "canvas");
    expect(canvas.ariaLabel).toBe("Page 1 of 3");
    expect(canvas.width).toBeGreaterThan(500);
    const pixels = canvas.getContext("2d")?.getImageData(0, 0, canvas.width, canvas.height).data ?? [];
    expect(pixels.some((value, at) => at % 4 === 0 && value < 64)).toBe(true);
    expect((await part(viewer, ".sheet .unseen")).textContent).toBe("Page 1");
  });

  test("of 300 pages few have a canvas, and each can be gone to", async () => {
    const { viewer, number } = await showing(300);
    await userEvent.fill(number, "250");
    await userEvent.keyboard("{Enter}");
    await vi.waitFor(() => expect(labels(viewer)).toContain("Page 250 of 300"));
    expect(labels(viewer).length).toBeLessThanOrEqual(8);
    buttonOf(viewer, "Next").click();
    await vi.waitFor(() => expect(labels(viewer)).toContain("Page 251 of 300"));
    expect(viewer.renderRoot.querySelectorAll("*").length).toBeLessThan(200);
  });

  test("arrows turn pages", async () => {
    const { viewer, number } = await showing(5);
    (await part(viewer, ".pdf")).focus();
    await userEvent.keyboard("{ArrowRight}");
    await vi.waitFor(() => expect(number.value).toBe("2"));
    await userEvent.keyboard("{ArrowRight}");
    await vi.waitFor(() => expect(number.value).toBe("3"));
    await userEvent.keyboard("{ArrowLeft}");
    await vi.waitFor(() => expect(number.value).toBe("2"));
  });

  test("pages can be shown at their own size", async () => {
    const { viewer } = await showing(2);
    buttonOf(viewer, "100 %").click();
    await vi.waitFor(async () => {
      const sheet = await part(viewer, ".sheet");
      expect(sheet.clientWidth).toBe(Math.ceil((595 * 96) / 72));
    });
  });

  test("nothing in a document is a link or a form", async () => {
    const { viewer } = await showing(1);
    expect(viewer.renderRoot.querySelectorAll(".host a, .host form, .host iframe, .host script")).toHaveLength(0);
  });

  test("a password is not asked for", async () => {
    const viewer = await viewing(given(pdf(1, { locked: true }), "application/pdf", "locked.pdf"));
    await saying(viewer, /protected by a password/);
    expect(viewer.renderRoot.querySelector(".notice button")).toBeNull();
  });

  test("what is no PDF says so and offers its source", async () => {
    const viewer = await viewing(given("no document", "application/pdf", "report.pdf"));
    await saying(viewer, /This PDF cannot be read/);
    expect(notice(viewer)).toBe("This PDF cannot be read. Show source");
  });

  test("its worker ends with it", async () => {
    const { viewer } = await showing(1);
    const ended = vi.spyOn(Worker.prototype, "terminate");
    viewer.remove();
    await vi.waitFor(() => expect(ended).toHaveBeenCalled());
    ended.mockRestore();
  });

  test.each([
    ["PDF.js", { library: () => Promise.reject(new Error("Offline")), workerSrc: "/no/such/worker.mjs" }],
    ["its worker", { library: () => import("pdfjs-dist"), workerSrc: "/no/such/worker.mjs" }],
  ])("says so where %s is not to be had", async (_, settings) => {
    configurePdf(settings);
    const viewer = await viewing(given(pdf(1), "application/pdf", "report.pdf"));
    await saying(viewer, /The viewer for PDF could not be loaded/);
    expect(notice(viewer)).toMatch(/Show source$/);
  });
});
