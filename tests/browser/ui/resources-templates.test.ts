/** `<sluice-resources>`: templates with fields that offer values. */
import { describe, expect, test, vi } from "vitest";
import { page, userEvent } from "vitest/browser";
import type { ResourceReader, SluiceResources } from "../../../web/ui/resources.js";
import { eventually, violations } from "./support.js";
import { answering, type Answers, names, part, shown } from "./resources-reader.js";

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
