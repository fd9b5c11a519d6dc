/**
 * How a server is: in words, and as a dot whose colour alone tells nothing that its shape does not.
 * @module
 */
import { css, type CSSResult } from "lit";

/** How a server is, in words. */
export const WORDS = { ready: "connected", connecting: "connecting", failed: "not connected" } as const;

/** Of elements with `dot` and the status as their classes. */
export const statusDot: CSSResult = css`
  .dot {
    border-radius: 50%;
    block-size: 9px;
    inline-size: 9px;
  }
  .ready {
    background: var(--good);
  }
  .connecting {
    border: 2px solid var(--warn);
  }
  .failed {
    background: var(--bad);
    border-radius: 0;
  }
`;
