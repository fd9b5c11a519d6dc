import type { ConfigKey } from "../../web/src/cli/config.js";

export declare const MARKER: string;
export declare function configTable(keys: readonly ConfigKey[]): string;
