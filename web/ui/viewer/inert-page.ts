/**
 * A page of HTML as elements that run nothing, ask for nothing and lead nowhere.
 * @module
 */
import createPurifier from "dompurify";
import { Parser } from "htmlparser2";

const HTML = "http://www.w3.org/1999/xhtml";
const SVG = "http://www.w3.org/2000/svg";
const MATH = "http://www.w3.org/1998/Math/MathML";

const words = (text: string): ReadonlySet<string> => new Set(text.split(" "));

/** Elements that are left out with all that they have. */
const UNSEEN = words(
  "script template iframe frame frameset embed noembed noframes plaintext title base link meta param portal fencedframe " +
    "animate set discard",
);
/** Elements of which only the content stays. */
const UNWRAPPED = words("head noscript object applet");
/** Elements that are seen without a text in them. */
const SEEN = words("img svg video audio input select textarea button hr meter progress math canvas");
/** Elements whose content is HTML again, within SVG and MathML. */
const HTML_WITHIN = words("foreignObject desc annotation-xml");
/** Attributes that fetch, send, lead somewhere, or begin something by themselves. */
const FORBIDDEN = words(
  "action autofocus autoplay background cite command commandfor data download formaction is method nonce part ping popover " +
    "popovertarget slot srcset target usemap xmlns",
);
/** Attributes that may hold what they show. */
const HOLDING = words("src poster");
const HELD = /^\s*data:(?:image|audio|video)\//i;
/** What CSS asks for from elsewhere: addresses that are neither held within nor in the page. */
const FOREIGN = /(?:url|src)\(\s*["']?(?!["']?(?:data:|#))|(?:image-set|image)\(/i;
/** Strings of CSS, in which a backslash is no part of a name. */
const STRINGS = /"(?:[^"\\]|\\[^])*"|'(?:[^'\\]|\\[^])*'/g;
const IMPORT = /@import\s*(?:url\([^)]{0,500}\)|"[^"]{0,500}"|'[^']{0,500}')[^;]{0,500};?/gi;

/** Elements within elements, as deep as browsers go. */
const MAX_DEPTH = 512;
/** Rules within rules. Browsers write them as text by recursion, without a limit. */
const MAX_RULE_DEPTH = 100;
/** Style sheets, and characters of all of them. Each takes one step. */
const MAX_SHEETS = 500;
const MAX_STYLES = 2_000_000;
/** Characters of text that are as much to lay out as an element. */
const TEXT_PER_ELEMENT = 200;
/** Characters of a piece of text, since adding to one takes time in proportion to it. */
const MAX_TEXT = 65_536;

/** An element that is open, and where its content goes. */
interface Open {
  readonly tag: string;
  readonly node: Element;
  readonly namespace: string;
  /** Nothing of it is seen. */
  readonly isUnseen?: boolean;
  /** It was not in the text, but browsers put it there. */
  readonly isImplied?: boolean;
}

/** Reads HTML piece by piece, and adds what it shows to an empty document, which needs no permission to run scripts. */
export class InertPage {
  /** What there is to lay out so far, in elements. Text counts too. */
  size = 0;
  /** Whether nothing of it is seen. */
  isBlank = true;
  /** Whether style sheets were left out, since they are too many, too long or too deep. */
  lacksStyles = false;
  readonly #document: Document;
  readonly #body: HTMLElement;
  readonly #open: Open[];
  readonly #parser: Parser;
  readonly #purifier = createPurifier(window);
  #styles = 0;
  /** The style sheet that is open. */
  #sheet: { readonly media: string; text: string } | undefined;

  /**
   * @param document An empty document, in a frame that may not run scripts.
   * @param isXhtml Whether elements may close themselves.
   */
  constructor(document: Document, isXhtml: boolean) {
    this.#document = document;
    // Kept, since elements may take its name.
    this.#body = document.body;
    this.#open = [{ tag: "", node: this.#body, namespace: HTML }];
    // Names that elements take cannot lead a script astray where there is none.
    this.#purifier.setConfig({ SANITIZE_DOM: false });
    this.#parser = new Parser(
      {
        onopentag: (tag, attributes) => this.#begin(tag, attributes),
        onclosetag: () => this.#close(),
        ontext: (text) => this.#write(text),
      },
      { lowerCaseAttributeNames: false, recognizeSelfClosing: isXhtml, recognizeCDATA: isXhtml },
    );
  }

  /** Adds text, which may end anywhere. */
  write(text: string): void {
    this.#parser.write(text);
  }

  /** Says that there is no more. */
  end(): void {
    this.#parser.end();
  }

  get #at(): Open {
    return this.#open.at(-1) as Open;
  }

  #begin(tag: string, attributes: Readonly<Record<string, string>>): void {
    this.#implyTableBody(tag);
    const around = this.#at;
    if (around.isUnseen === true || UNSEEN.has(tag)) {
      this.#open.push({ ...around, tag, isUnseen: true, isImplied: false });
      return;
    }
    if (tag === "style") {
      if (/^(?:text\/css)?$/i.test(attributes["type"] ?? ""))
        this.#sheet = { media: attributes["media"] ?? "", text: "" };
      this.#open.push({ ...around, tag, isUnseen: true, isImplied: false });
      return;
    }
    this.#enter(tag, this.#findNamespace(tag, around), attributes);
  }

  /** Adds an element, and opens it. */
  #enter(tag: string, namespace: string, attributes: Readonly<Record<string, string>>, isImplied = false): void {
    const { node: around } = this.#at;
    const made = this.#createElement(tag, namespace, attributes);
    const isDeep = this.#open.length > MAX_DEPTH;
    this.#open.push({ tag, node: made === undefined || isDeep ? around : made, namespace, isImplied });
  }

  #findNamespace(tag: string, around: Open): string {
    if (tag === "svg") return SVG;
    if (tag === "math") return MATH;
    return HTML_WITHIN.has(around.tag) ? HTML : around.namespace;
  }

  /** The element, which is in the page; undefined if only its content is. */
  #createElement(tag: string, namespace: string, attributes: Readonly<Record<string, string>>): Element | undefined {
    const isHtml = namespace === HTML;
    if (isHtml && (tag === "html" || tag === "body")) {
      this.#dress(tag === "body" ? this.#body : this.#document.documentElement, tag, attributes);
      return undefined;
    }
    if (UNWRAPPED.has(tag)) return undefined;
    // A form that cannot be sent complains when it is.
    const name = tag === "form" ? "div" : tag;
    let made: Element;
    try {
      made = this.#document.createElementNS(namespace, name);
    } catch {
      // No name of an element.
      return undefined;
    }
    this.#dress(made, tag, attributes);
    this.#at.node.append(made);
    this.size += 1;
    if (SEEN.has(tag)) this.isBlank = false;
    return made;
  }

  /** Gives an element those of its attributes that do no harm. */
  #dress(node: Element, tag: string, attributes: Readonly<Record<string, string>>): void {
    const isHtml = node.namespaceURI === HTML;
    for (const [key, value] of Object.entries(attributes)) {
      const name = key.toLowerCase();
      if (name === "style") styleNode(node, value);
      else if (FORBIDDEN.has(name)) continue;
      else if (name === "href" || name === "xlink:href") this.#refer(node, tag, value);
      else if (HOLDING.has(name) ? HELD.test(value) : this.#isHarmless(tag, name, value)) {
        // What SVG is painted with is CSS; its names are written in both cases, those of HTML in one.
        if (isHtml || !isForeign(value)) node.setAttribute(isHtml ? name : key, value);
      }
    }
    if (tag === "audio" || tag === "video") node.toggleAttribute("controls", true);
  }

  #isHarmless(tag: string, name: string, value: string): boolean {
    return /^[\w:.-]+$/.test(name) && this.#purifier.isValidAttribute(tag, name, value);
  }

  // Within the page alone. An address of a frame without one begins with its own name, else it is one of the page around it.
  #refer(node: Element, tag: string, value: string): void {
    const address = value.trim();
    if (tag === "image" && HELD.test(address)) node.setAttribute("href", address);
    else if (!address.startsWith("#")) return;
    else node.setAttribute("href", tag === "a" || tag === "area" ? `about:srcdoc${address}` : address);
  }

  // Rows are in a body of their table, whether it is written or not: style sheets count on it.
  #implyTableBody(tag: string): void {
    if (/^(?:tbody|thead|tfoot|caption|colgroup)$/.test(tag) && this.#at.isImplied === true) this.#open.pop();
    if (tag !== "tr" || this.#at.tag !== "table" || this.#at.isUnseen === true) return;
    this.#enter("tbody", HTML, {}, true);
  }

  #close(): void {
    if (this.#at.isImplied === true) this.#open.pop();
    const ended = this.#open.pop();
    if (ended?.tag === "style") this.#applySheet();
  }

  #write(text: string): void {
    const { node, tag, isUnseen } = this.#at;
    if (isUnseen === true) {
      if (tag === "style" && this.#sheet !== undefined) this.#sheet.text += text;
      return;
    }
    this.size += text.length / TEXT_PER_ELEMENT;
    if (this.isBlank) this.isBlank = !/\S/.test(text);
    const last = node.lastChild;
    if (last?.nodeType === Node.TEXT_NODE && (last as Text).length < MAX_TEXT) (last as Text).appendData(text);
    // A line that begins with such an element is not part of it.
    else node.append(last === null && /^(?:pre|textarea)$/.test(tag) ? text.replace(/^\n/, "") : text);
  }

  #applySheet(): void {
    const view = this.#document.defaultView;
    if (view === null || this.#sheet === undefined) return;
    const { media, text } = this.#sheet;
    this.#sheet = undefined;
    this.#styles += text.length;
    const others = this.#document.adoptedStyleSheets;
    if (others.length >= MAX_SHEETS || this.#styles > MAX_STYLES || measureDepth(text) > MAX_RULE_DEPTH) {
      this.lacksStyles = true;
      return;
    }
    const sheet = new view.CSSStyleSheet({ media });
    // A sheet that is made here cannot import others, and says so.
    sheet.replaceSync(text.replaceAll(IMPORT, ""));
    disarm(sheet);
    this.#document.adoptedStyleSheets = [...others, sheet];
  }
}

/** The depth of rules, or more. */
function measureDepth(text: string): number {
  let [depth, most] = [0, 0];
  for (const [brace] of text.matchAll(/[{}]/g)) {
    depth = Math.max(0, depth + (brace === "{" ? 1 : -1));
    most = Math.max(most, depth);
  }
  return most;
}

/** Gives an element a style of its own, without what it would fetch. Set as text of an attribute it needs permission of the site. */
function styleNode(node: Element, text: string): void {
  if (!("style" in node)) return;
  const style = node.style as CSSStyleDeclaration;
  style.cssText = text;
  strip(style);
}

/**
 * Whether CSS may fetch something. Browsers write values in one way, but keep those as they are that have variables in them, and those of
 * variables: there a name may be escaped, `u\\72l(…)`.
 */
function isForeign(css: string): boolean {
  return FOREIGN.test(css) || (css.includes("\\") && css.replaceAll(STRINGS, "").includes("\\"));
}

/** Takes out what a style would fetch. */
function strip(style: CSSStyleDeclaration): void {
  if (!isForeign(style.cssText)) return;
  for (let at = style.length - 1; at >= 0; at -= 1) {
    const name = style.item(at);
    if (isForeign(style.getPropertyValue(name))) style.removeProperty(name);
  }
  // Of a shorthand with variables in it the parts are not known yet.
  if (isForeign(style.cssText)) style.cssText = "";
}

/** Takes out what the rules of a sheet would fetch, within groups and animations too. */
function disarm(rules: CSSStyleSheet | CSSGroupingRule): void {
  for (let at = rules.cssRules.length - 1; at >= 0; at -= 1) {
    const rule = rules.cssRules[at] as CSSRule & { readonly style?: CSSStyleDeclaration };
    if (rule.style !== undefined) strip(rule.style);
    if ("cssRules" in rule) disarm(rule as CSSGroupingRule);
    // The pictures of a counter, and what browsers do not know yet.
    else if (rule.style === undefined && isForeign(rule.cssText)) rules.deleteRule(at);
  }
}
