/** `<sluice-viewer>`: each kind of file is shown, or the viewer says why not. */
import { describe, expect, test, vi } from "vitest";
import { buttonOf, given, notice, part, pdf, png, saying, settled, texts, viewing, wav } from "./fixtures.js";

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
    await vi.waitFor(() => expect(texts(viewer, ".token-keyword")).toContain("const"), { timeout: 20_000 });
    expect(texts(viewer, ".line .number")).toEqual(["1", "2", "3"]);
    expect(texts(viewer, ".written")).toEqual(code.trimEnd().split("\n"));
    expect(viewer.renderRoot.querySelectorAll(".written [style]")).toHaveLength(0);
    await vi.waitFor(() => expect(texts(viewer, ".token-comment").join("")).toBe("// why"));
  });

  test.each([
    ["application/json", "a.json", '{\n  "a": 1\n}'],
    ["application/xml", "a.xml", "<a b='1'/>"],
    ["application/yaml", "a.yaml", "a: 1"],
    ["text/markdown", "a.md", "# A\n\nSome `code`."],
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
    await vi.waitFor(() => expect(file.opened).toHaveLength(2), { timeout: 20_000 });
    await vi.waitFor(() => expect(texts(viewer, ".offset")).toContain((15_000 * 16).toString(16).padStart(8, "0")));
    expect(viewer.renderRoot.querySelectorAll("*").length).toBeLessThan(1000);
  });

  test("of many rows are shown part by part", async () => {
    const viewer = await viewing(given(new Blob([new Uint8Array(8 * 1024 ** 2)]), null, "large"));
    await part(viewer, ".hex .row");
    expect(texts(viewer, ".bar [role=status]")).toEqual(["Rows 1 to 200,000 of 524,288"]);
    buttonOf(viewer, "Later").click();
    await vi.waitFor(() => expect(texts(viewer, ".offset")).toContain((200_000 * 16).toString(16).padStart(8, "0")));
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

describe("a hint", () => {
  test("chooses among the ways in which a text can be shown", async () => {
    const viewer = await viewing(given("<h1>Page</h1>", "text/html", "page.html", { viewer: "code" }));
    await settled(viewer);
    expect(viewer.shadowRoot?.querySelector("iframe")).toBeNull();
    expect(viewer.shadowRoot?.textContent).toContain("<h1>Page</h1>");
  });

  test("counts for nothing where the bytes say what they are", async () => {
    const viewer = await viewing(given("no picture", "image/png", "chart.png", { viewer: "html" }));
    await saying(viewer, /cannot show it as image\/png/);
    expect(viewer.shadowRoot?.querySelector("iframe")).toBeNull();
  });
});
