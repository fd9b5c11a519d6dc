/**
 * What goes over the wire, as far as reading back needs it (MCP, all revisions in use).
 * @module
 */

/** A tool as `tools/list` shows it. */
export interface ReadTool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>> & { readonly type: "object" };
  readonly annotations: {
    readonly readOnlyHint: boolean;
    readonly idempotentHint: boolean;
    readonly destructiveHint: boolean;
    readonly openWorldHint: boolean;
  };
}

/** A `CallToolResult` of text. Without `structuredContent`: hosts hide the text where there is one. */
export interface TextResult {
  readonly content: readonly [{ readonly type: "text"; readonly text: string }];
  readonly isError?: true;
}

/** A resource as `resources/list` shows it; `size` in bytes. */
export interface ListedResource {
  readonly uri: string;
  readonly name: string;
  readonly description: string;
  readonly mimeType?: string;
  readonly size: number;
}

/** A template as `resources/templates/list` shows it. */
export interface ListedTemplate {
  readonly uriTemplate: string;
  readonly name: string;
  readonly title: string;
  readonly description: string;
}

/** One of the contents that `resources/read` answers: a text, or bytes as base64. */
export type ReadContent =
  | { readonly uri: string; readonly mimeType: string; readonly text: string }
  | { readonly uri: string; readonly mimeType: string; readonly blob: string };

/** What `resources/read` answers. */
export interface ReadContents {
  readonly contents: readonly [ReadContent];
}
