/**
 * The page of a host that shows apps, made of the bridge of the extension's own package. What the bridge asks of the server, the test
 * answers through the functions that it puts into the page.
 * @module
 */
import {
  AppBridge,
  PostMessageTransport,
  type McpUiHostCapabilities,
  type McpUiHostContext,
} from "@modelcontextprotocol/ext-apps/app-bridge";

/** A result or an error, as it passes between page and test. */
export interface Answered {
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly code: number; readonly message: string };
}

/** What the test gives to be shown. */
export interface Shown {
  /** The address of the app, on another origin. */
  readonly address: string;
  readonly capabilities: McpUiHostCapabilities;
  readonly context: McpUiHostContext;
  readonly arguments: Record<string, unknown>;
  readonly result: Parameters<AppBridge["sendToolResult"]>[0];
}

declare global {
  /** Answers of the test. */
  var hostRead: (params: object) => Promise<Answered>;
  var hostSave: (params: object) => Promise<Answered>;
  var showApp: (shown: Shown) => Promise<void>;
  var changeContext: (context: McpUiHostContext) => void;
}

type Read = Awaited<ReturnType<NonNullable<AppBridge["onreadresource"]>>>;

let bridge: AppBridge | undefined;

function outcome({ result, error }: Answered): Record<string, unknown> {
  if (error !== undefined) throw Object.assign(new Error(error.message), { code: error.code });
  return result ?? {};
}

globalThis.showApp = async ({ address, capabilities, context, arguments: given, result }) => {
  document.querySelector("iframe")?.remove();
  const frame = document.createElement("iframe");
  frame.title = "App";
  frame.setAttribute("sandbox", "allow-scripts");
  frame.style.cssText = "border: 0; inline-size: 100%; block-size: 120px";
  document.body.append(frame);
  const opened = new AppBridge(null, { name: "Host", version: "1.0.0" }, capabilities, { hostContext: context });
  bridge = opened;
  opened.onreadresource = async (params) => outcome(await hostRead(params)) as unknown as Read;
  opened.ondownloadfile = async (params) => outcome(await hostSave(params));
  opened.onsizechange = ({ height }) => {
    if (height !== undefined) frame.style.blockSize = `${height}px`;
  };
  const ready = new Promise<void>((resolve) => (opened.oninitialized = () => resolve()));
  const view = frame.contentWindow as Window;
  await opened.connect(new PostMessageTransport(view, view));
  frame.src = address;
  await ready;
  await opened.sendToolInput({ arguments: given });
  await opened.sendToolResult(result);
};

globalThis.changeContext = (context) => {
  document.documentElement.style.colorScheme = context.theme ?? "";
  bridge?.setHostContext(context);
};
