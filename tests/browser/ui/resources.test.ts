/** `<sluice-resources>`: lists, reading on click, subscriptions, what changed, templates with fields that offer values, and the keyboard. */
import type { ResourceReading } from "mcp-sluice/tools";
import { describe, expect, test, vi } from "vitest";
import { userEvent, page } from "vitest/browser";
import {
  type ResourceReader,
  resourceUpdated,
  type ShownReading,
  type SluiceResources,
} from "../../../web/ui/resources.js";
import { answering, button, demo, names, part, shown, type Answers } from "./resources-reader.js";
import { eventually, refusedBy, violations } from "./support.js";

const NOTE = { uri: "note://a", name: "a", title: "Note A", mime_type: "text/plain", size_bytes: 2048 };
const OTHER = { uri: "note://b", name: "b" };

function text(body: string, uri = NOTE.uri): ShownReading {
  return { contents: [{ kind: "text", uri, mime_type: "text/plain", text: body }] };
}

function told(message: string): Error {
  return Object.assign(new Error(message), { code: "E_TOOL_SERVER" });
}

describe("a list", () => {
  test("says name, URI, type and size, and reads nothing", async () => {
    const read = vi.fn<ResourceReader["read"]>();
    const element = await shown({ resources: [NOTE, OTHER], reader: answering({ read }) });
    expect(part(element, ".words").textContent.replace(/\s+/g, " ").trim()).toBe("Note A note://a text/plain · 2.0 KB");
    expect(names(element)).toEqual(["Note A", "b"]);
    expect(read).not.toHaveBeenCalled();
  });

  test("is searched by all that is said of a resource", async () => {
    const element = await shown({ resources: [NOTE, { ...OTHER, description: "Minutes of a meeting" }] });
    element.focus();
    await userEvent.keyboard("MEETING b");
    await eventually(() => expect(names(element)).toEqual(["b"]));
    await userEvent.keyboard("xyz");
    await userEvent.click(button(element, "Clear the search"));
    await eventually(() => expect(names(element)).toEqual(["Note A", "b"]));
    expect(element.shadowRoot?.activeElement?.getAttribute("type")).toBe("search");
  });

  test("opens what is selected once it is listed, wherever in it, and tells what a person opens", async () => {
    const resources = Array.from({ length: 250 }, (_, at) => ({ uri: `x:${at}`, name: `n${at}` }));
    const read = vi.fn<ResourceReader["read"]>(async (uri) => text("read", uri));
    const element = await shown({ resources: [], reader: answering({ read }) });
    const chosen: (string | null)[] = [];
    element.addEventListener("sluice-select", ({ detail }) => chosen.push(detail));
    element.selected = "x:240";
    await element.updateComplete;
    expect(read).not.toHaveBeenCalled();
    element.resources = resources;
    await eventually(() => expect(read.mock.calls.map(([uri]) => uri)).toEqual(["x:240"]));
    expect(button(element, "n240").getAttribute("aria-expanded")).toBe("true");
    expect(chosen).toEqual([]);
    await userEvent.click(button(element, "n240"));
    await userEvent.click(button(element, "n1"));
    expect(chosen).toEqual([null, "x:1"]);
    element.selected = undefined;
    await element.updateComplete;
    expect(button(element, "n1").getAttribute("aria-expanded")).toBe("false");
  });

  test("of 5,000 shows 100 at a time, and the focus goes on", async () => {
    const resources = Array.from({ length: 5_000 }, (_, at) => ({ uri: `x:${at}`, name: `n${at}` }));
    const element = await shown({ resources, reader: answering({}) });
    expect(names(element)).toHaveLength(100);
    await userEvent.click(button(element, "Show 100 more"));
    await eventually(() => expect(element.shadowRoot?.activeElement?.textContent).toContain("n100"));
    expect(names(element)).toHaveLength(200);
    element.focus();
    await userEvent.keyboard("n4999");
    await eventually(() => expect(names(element)).toEqual(["n4999"]));
  });

  test("shows a server's words as text, and each URI once", async () => {
    const name = "a\u202e<img src=x onerror=alert(1)>\u0007";
    const element = await shown({
      resources: [
        { uri: "x:1", name },
        { uri: "x:1", name: "again" },
      ],
    });
    expect(names(element)).toEqual(["a <img src=x onerror=alert(1)>"]);
    expect(element.renderRoot.querySelector("img")).toBeNull();
  });

  test("that is empty says so, and leads on", async () => {
    const element = await shown({ templates: [{ uri_template: "x:{a}", name: "all" }] });
    expect(part(element, ".empty").textContent).toContain("The server lists no resources.");
    await userEvent.click(button(element, "Show the templates"));
    await eventually(() => expect(names(element)).toEqual(["all"]));
  });
});

describe("reading", () => {
  test("happens on a click, once, and is kept with the reader", async () => {
    const read = vi.fn<ResourceReader["read"]>(() => Promise.resolve(text("the note")));
    const reader = answering({ read });
    const first = await shown({ resources: [NOTE], reader });
    await userEvent.click(part(first, ".opener"));
    await eventually(() => expect(part(first, "pre").textContent).toBe("the note"));
    await userEvent.click(part(first, ".opener"));
    await userEvent.click(part(first, ".opener"));
    expect(part(first, ".badges").textContent).toContain("Cached");
    const second = await shown({ resources: [NOTE], reader, tab: "cached" });
    expect(names(second)).toEqual(["Note A"]);
    await userEvent.click(part(second, ".opener"));
    await eventually(() => expect(part(second, "pre").textContent).toBe("the note"));
    expect(read).toHaveBeenCalledOnce();
  });

  test("that fails says one sentence, and is tried again", async () => {
    const read = vi
      .fn<ResourceReader["read"]>()
      .mockRejectedValueOnce(told("The server is\u202e busy."))
      .mockRejectedValueOnce(new Error("/home/ada/not said"))
      .mockResolvedValueOnce(text("at last"));
    const element = await shown({ resources: [NOTE], reader: answering({ read }) });
    await userEvent.click(part(element, ".opener"));
    await eventually(() => expect(part(element, ".problem").textContent).toContain("The server is busy."));
    await userEvent.click(button(element, "Try again"));
    await eventually(() => expect(part(element, ".problem").textContent).toContain("It could not be read."));
    await userEvent.click(button(element, "Try again"));
    await eventually(() => expect(part(element, "pre").textContent).toBe("at last"));
    expect(element.renderRoot.querySelector(".problem")).toBeNull();
  });

  test("is given up on request", async () => {
    let given: AbortSignal | undefined;
    const read: ResourceReader["read"] = (_, signal) => {
      given = signal;
      return new Promise(() => undefined);
    };
    const element = await shown({ resources: [NOTE], reader: answering({ read }) });
    await userEvent.click(part(element, ".opener"));
    await eventually(() => button(element, "Cancel"));
    await userEvent.click(button(element, "Cancel"));
    expect(given?.aborted).toBe(true);
    await eventually(() => expect(element.renderRoot.querySelector("progress")).toBeNull());
  });

  test("shows long texts in parts, and what would mislead as such", async () => {
    const body = `a\u202eb\n${"x".repeat(300_000)}`;
    const element = await shown({ resources: [NOTE], reader: answering({ read: () => Promise.resolve(text(body)) }) });
    await userEvent.click(part(element, ".opener"));
    await eventually(() => expect(part(element, "pre").textContent).toHaveLength(4_000));
    expect(part(element, "pre").textContent.slice(0, 5)).toBe("a\ufffdb\nx");
    await userEvent.click(button(element, "Show all 300,004 characters"));
    await eventually(() => expect(part(element, "pre").textContent).toHaveLength(200_000));
  });

  test("shows artifacts as cards, with what the reader knows of their bytes", async () => {
    const reading: ShownReading = {
      contents: [
        {
          kind: "artifact",
          uri: NOTE.uri,
          mime_type: "application/pdf",
          id: "a_0123456789ab",
          size_bytes: 1024,
          filename: "a.pdf",
          summary: "PDF",
        },
      ],
    };
    const bytes = { open: () => Promise.resolve(null), href: "/a" };
    const reader = answering({ read: () => Promise.resolve(reading), bytes: () => bytes });
    const element = await shown({ resources: [NOTE], reader });
    await userEvent.click(part(element, ".opener"));
    await eventually(() =>
      expect(element.renderRoot.querySelector("sluice-artifact")).toMatchObject({
        artifact: { filename: "a.pdf" },
        bytes,
      }),
    );
  });
});

describe("changes", () => {
  test("of what was read get a dot and Refresh, also while nobody looks", async () => {
    const read = vi
      .fn<ResourceReader["read"]>()
      .mockResolvedValueOnce(text("before"))
      .mockResolvedValueOnce(text("after"));
    const reader = answering({ read });
    const first = await shown({ resources: [NOTE, OTHER], reader });
    await userEvent.click(part(first, ".opener"));
    await eventually(() => expect(part(first, "pre").textContent).toBe("before"));
    first.remove();
    resourceUpdated(reader, NOTE.uri);
    resourceUpdated(reader, "note://unknown");
    const second = await shown({ resources: [NOTE, OTHER], reader });
    expect(part(second, ".updated").textContent).toBe("Updated");
    await userEvent.click(button(second, "Refresh Note A"));
    await eventually(() => expect(second.renderRoot.querySelector(".updated")).toBeNull());
    expect(read).toHaveBeenCalledTimes(2);
    second.resourceUpdated(NOTE.uri);
    await eventually(() => expect(part(second, ".dot")).toBeTruthy());
    await eventually(() => expect(part(second, "[role=status]").textContent).toContain("Note A was updated."));
  });

  test("that the page keeps count of get their dots once", async () => {
    const reader = answering({ read: () => Promise.resolve(text("new")) });
    const element = await shown({ resources: [NOTE], reader, updates: new Set([NOTE.uri]) });
    await userEvent.click(button(element, "Refresh Note A"));
    await eventually(() => expect(element.renderRoot.querySelector(".updated")).toBeNull());
    element.updates = new Set([NOTE.uri]);
    await element.updateComplete;
    expect(element.renderRoot.querySelector(".updated")).toBeNull();
    element.updates = new Set();
    await element.updateComplete;
    element.updates = new Set([NOTE.uri]);
    await eventually(() => expect(part(element, ".updated").textContent).toBe("Updated"));
  });

  test("are asked for, and no longer", async () => {
    const [subscribe, unsubscribe] = [vi.fn<ResourceReader["subscribe"]>(), vi.fn<ResourceReader["unsubscribe"]>()];
    subscribe.mockRejectedValueOnce(told("There are too many subscriptions.")).mockResolvedValue();
    unsubscribe.mockResolvedValue();
    const reader = answering({ read: () => Promise.resolve(text("a")), subscribe, unsubscribe });
    const element = await shown({ resources: [NOTE], reader });
    await userEvent.click(part(element, ".opener"));
    await userEvent.click(button(element, "Subscribe to Note A"));
    await eventually(() =>
      expect(part(element, ".problem").textContent).toContain("There are too many subscriptions."),
    );
    await userEvent.click(button(element, "Try again"));
    await eventually(() => expect(button(element, "Subscribe to Note A").ariaPressed).toBe("true"));
    await userEvent.click(part(element, "#tab-subscribed"));
    await eventually(() => expect(part(element, ".badge").textContent.trim()).toBe("Subscribed"));
    await userEvent.click(button(element, "Subscribe to Note A"));
    await eventually(() => expect(part(element, ".empty").textContent).toContain("There are no subscriptions."));
    expect(unsubscribe).toHaveBeenCalledOnce();
  });

  test("are not offered where the server tells of none", async () => {
    const supports = { subscribe: false, complete: false };
    const element = await shown({
      resources: [NOTE],
      reader: answering({ supports, read: () => Promise.resolve(text("a")) }),
    });
    await userEvent.click(part(element, ".opener"));
    await eventually(() => part(element, "pre"));
    expect(() => button(element, "Subscribe to Note A")).toThrow("There is no button");
  });
});

test("a server's resources are listed, filled in, completed, read, subscribed to and seen to change", async () => {
  const { node, ...given } = await demo();
  const element = await shown({ ...given, tab: "templates" });
  const byMonth = [...element.renderRoot.querySelectorAll<HTMLElement>(".opener")].at(-1);
  byMonth?.click();
  await eventually(() => part(element, "[role=combobox]"));
  part(element, "[role=combobox]").focus();
  await userEvent.keyboard("n");
  // A key before the values are there asks for them; one behind them moves to the first.
  await eventually(() => part(element, "[role=option]"));
  await userEvent.keyboard("{ArrowDown}{Enter}{Tab}2");
  await eventually(() => part(element, "[role=option]"));
  await userEvent.keyboard("{ArrowUp}{Enter}{Enter}");
  await eventually(() => expect(part(element, "pre").textContent).toContain("month,revenue"));

  element.tab = "resources";
  await element.updateComplete;
  const note = [...element.renderRoot.querySelectorAll<HTMLElement>(".opener")].find((row) =>
    row.textContent.includes("Today's note"),
  );
  note?.click();
  await eventually(() => part(element, "pre"));
  await userEvent.click(button(element, "Subscribe to Today's note"));
  await eventually(() => expect(button(element, "Subscribe to Today's note").ariaPressed).toBe("true"));
  await node.call("demo.write_note", { text: "It changed." });
  await eventually(() => part(element, ".updated"));
  await userEvent.click(button(element, "Refresh Today's note"));
  await eventually(() => expect(part(element, "pre").textContent).toBe("It changed."));
});

test("what a ToolNode reads is a reading", () => {
  const reading: ResourceReading = { contents: [], artifacts: [], failures: [] };
  const isShown: ShownReading = reading;
  expect(isShown).toBe(reading);
});

describe("accessibility", () => {
  test("axe finds nothing in lists, panels and what failed", async () => {
    const read = vi.fn<ResourceReader["read"]>().mockResolvedValueOnce(text("a")).mockRejectedValueOnce(told("No."));
    const element = await shown({ resources: [NOTE, OTHER], reader: answering({ read }) });
    for (const row of element.renderRoot.querySelectorAll<HTMLElement>(".opener")) row.click();
    await eventually(() => [part(element, "pre"), part(element, ".problem")]);
    element.resourceUpdated(NOTE.uri);
    await element.updateComplete;
    expect(await violations(element)).toEqual([]);
    expect(await violations(await shown({}))).toEqual([]);
  });

  test("nothing in it needs inline styles or scripts", async () => {
    const refused = await refusedBy(async () => {
      const element = await shown({ resources: [NOTE], reader: answering({ read: () => Promise.resolve(text("a")) }) });
      await userEvent.click(part(element, ".opener"));
    });
    expect(refused).toEqual([]);
  });
});

const TEMPLATE = { uri_template: "docs://{section}/{?page}", name: "docs" };

async function opened(answers: Answers): Promise<SluiceResources> {
  const element = await shown({ templates: [TEMPLATE], tab: "templates", reader: answering(answers) });
  await userEvent.click(part(element, ".opener"));
  await eventually(() => part(element, "form, .problem"));
  return element;
}

function options(element: SluiceResources): readonly string[] {
  return [...element.renderRoot.querySelectorAll("[role=option]")].map((option) => option.textContent.trim());
}

function field(element: SluiceResources): HTMLInputElement {
  return part(element, "input:not([type=search])") as HTMLInputElement;
}

test("fields are filled in, and what they make is read; what may be left out is", async () => {
  const read = vi.fn<ResourceReader["read"]>(() =>
    Promise.resolve({ contents: [{ kind: "text", uri: "", mime_type: null, text: "the page" }] }),
  );
  const element = await opened({ read, supports: { subscribe: false, complete: false } });
  expect([...element.renderRoot.querySelectorAll("label")].map((label) => label.textContent.trim())).toEqual([
    "section",
    "page (optional)",
  ]);
  await userEvent.type(field(element), "a b{Enter}");
  await eventually(() => expect(part(element, "pre").textContent).toBe("the page"));
  expect(read.mock.calls.map(([uri]) => uri)).toEqual(["docs://a%20b/"]);
  expect(part(element, ".panel .uri").textContent).toBe("docs://a%20b/");
});

test("a field that must be filled in is", async () => {
  const read = vi.fn<ResourceReader["read"]>();
  const element = await opened({ read });
  await userEvent.click(part(element, "button[type=submit]"));
  expect(read).not.toHaveBeenCalled();
  expect(field(element).validity.valueMissing).toBe(true);
});

test("what is no template, and values that make no URI, say so", async () => {
  const coded = Object.assign(new Error("A brace is missing."), { code: "E_TOOL_CLIENT" });
  const first = await opened({ variables: () => Promise.reject(coded) });
  expect(part(first, ".problem").textContent).toBe("A brace is missing.");
  const second = await opened({ expand: () => Promise.reject(new Error("/home/ada")) });
  await userEvent.type(field(second), "x{Enter}");
  await eventually(() => expect(part(second, ".problem").textContent).toBe("No URI can be made of these values."));
});

describe("a field", () => {
  test("offers values, which the keyboard walks and takes", async () => {
    const element = await opened({
      complete: (_, __, value) => Promise.resolve(["guides", "guests"].filter((each) => each.startsWith(value))),
    });
    const input = field(element);
    await userEvent.type(input, "gu");
    await eventually(() => expect(options(element)).toEqual(["guides", "guests"]));
    expect(input.getAttribute("aria-expanded")).toBe("true");
    const active = (): string | undefined =>
      element.renderRoot.querySelector(`#${input.getAttribute("aria-activedescendant") ?? "none"}`)?.textContent.trim();
    await userEvent.keyboard("{ArrowDown}{ArrowDown}");
    await eventually(() => expect(active()).toBe("guests"));
    await userEvent.keyboard("{ArrowDown}");
    await eventually(() => expect(active()).toBeUndefined());
    await userEvent.keyboard("{ArrowUp}{ArrowUp}");
    await eventually(() => expect(active()).toBe("guides"));
    expect(part(element, "[aria-selected=true][role=option]").textContent.trim()).toBe("guides");
    await userEvent.keyboard("{Enter}");
    await eventually(() => expect([input.value, options(element)]).toEqual(["guides", []]));
    expect(element.shadowRoot?.activeElement).toBe(input);
  });

  test("closes its list with Esc, which goes no further, and by leaving", async () => {
    const element = await opened({ complete: () => Promise.resolve(["guides"]) });
    const escaped = vi.fn<() => void>();
    element.addEventListener("keydown", (event) => event.key === "Escape" && escaped());
    for (const key of ["{Escape}", "{Tab}"]) {
      field(element).focus();
      await userEvent.keyboard("{ArrowDown}");
      await eventually(() => expect(options(element)).toEqual(["guides"]));
      await userEvent.keyboard(key);
      await eventually(() => expect(options(element)).toEqual([]));
    }
    expect(escaped).not.toHaveBeenCalled();
  });

  test("is filled by a click", async () => {
    const element = await opened({ complete: () => Promise.resolve(["guides"]) });
    await userEvent.type(field(element), "g");
    await eventually(() => part(element, "[role=option]"));
    await userEvent.click(part(element, "[role=option]"));
    await eventually(() => expect(field(element).value).toBe("guides"));
    expect(element.shadowRoot?.activeElement).toBe(field(element));
  });

  test("closes its list when all that is offered is written already", async () => {
    const complete = vi.fn<ResourceReader["complete"]>((_, __, value) =>
      Promise.resolve(["guides", "guests"].filter((each) => each.startsWith(value))),
    );
    const element = await opened({ complete });
    await userEvent.type(field(element), "guide");
    await eventually(() => expect(options(element)).toEqual(["guides"]));
    await userEvent.type(field(element), "s");
    await eventually(() => expect(complete.mock.lastCall?.[2]).toBe("guides"));
    await eventually(() => expect(options(element)).toEqual([]));
    expect(field(element).getAttribute("aria-expanded")).toBe("false");
    await eventually(() => expect(part(element, "[role=status]").textContent).toContain("No other values."));
  });

  test("shows nothing of an answer to what was written before", async () => {
    const answers = new Map<string, (values: readonly string[]) => void>();
    const complete = vi.fn<ResourceReader["complete"]>(
      (_, __, value) => new Promise((resolve) => void answers.set(value, resolve)),
    );
    const element = await opened({ complete });
    await userEvent.type(field(element), "a");
    await eventually(() => expect(answers.has("a")).toBe(true));
    await userEvent.type(field(element), "b");
    await eventually(() => expect(answers.has("ab")).toBe(true));
    answers.get("ab")?.(["abacus"]);
    answers.get("a")?.(["aardvark"]);
    await eventually(() => expect(options(element)).toEqual(["abacus"]));
    expect(complete.mock.calls[0]?.[3].aborted).toBe(true);
  });

  test("works without values: none, too many, hidden ones, and none to be had", async () => {
    const many = ["a\u202eb", "", ...Array.from({ length: 500 }, (_, at) => `v${at}`)];
    const complete = vi.fn<ResourceReader["complete"]>().mockRejectedValueOnce(new Error("no")).mockResolvedValue(many);
    const element = await opened({ complete });
    field(element).focus();
    await userEvent.keyboard("{ArrowDown}");
    await eventually(() => expect(part(element, "[role=status]").textContent).toContain("No values."));
    await userEvent.keyboard("{ArrowDown}");
    await eventually(() => expect(options(element)).toHaveLength(100));
    expect(options(element)[0]).toBe("v0");
  });
});

test("axe finds nothing in a form with its values", async () => {
  const element = await opened({ complete: () => Promise.resolve(["guides", "guests"]) });
  expect(await violations(element)).toEqual([]);
  field(element).focus();
  await userEvent.keyboard("{ArrowDown}");
  await eventually(() => expect(options(element)).toHaveLength(2));
  await userEvent.keyboard("{ArrowDown}");
  expect(await violations(element)).toEqual([]);
});

test("arrow keys choose a list", async () => {
  const element = await shown({
    resources: [{ uri: "note://a", name: "a" }],
    templates: [{ uri_template: "x:{a}", name: "all" }],
  });
  part(element, "#tab-resources").focus();
  await userEvent.keyboard("{ArrowRight}");
  await eventually(() => expect(element.shadowRoot?.activeElement?.id).toBe("tab-templates"));
  expect(names(element)).toEqual(["all"]);
  await userEvent.keyboard("{End}");
  await eventually(() => expect(element.tab).toBe("cached"));
  expect(part(element, "#tab-cached").tabIndex).toBe(0);
});

test.each([1200, 390, 320, 240])("tabs stand in one line at %i pixels", async (width) => {
  await page.viewport(width, 800);
  const resources = Array.from({ length: 5_000 }, (_, at) => ({ uri: `x:${at}`, name: `n${at}` }));
  const element = await shown({ resources });
  const places = [...element.renderRoot.querySelectorAll("[role=tab]")].map((tab) => tab.getBoundingClientRect());
  expect(new Set(places.map(({ top }) => top)).size).toBe(1);
  expect(document.documentElement.scrollWidth).toBeLessThanOrEqual(width);
  expect(part(element, "[role=tablist]").scrollWidth <= width, "whole").toBe(width >= 320);
  part(element, "#tab-resources").focus();
  await userEvent.keyboard("{End}");
  await eventually(() => expect(part(element, "#tab-cached").getBoundingClientRect().right).toBeLessThanOrEqual(width));
  expect(await violations(element)).toEqual([]);
});
