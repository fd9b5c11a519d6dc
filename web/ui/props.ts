/**
 * What a framework's types are made of: the properties and the events of each element.
 * @module
 */
import type { LitElement } from "lit";
import type { ArtifactEvents } from "./shown.js";

/** The tags of the elements. */
export type ElementTag = "sluice-artifact" | "sluice-viewer" | "sluice-result" | "sluice-resources" | "sluice-meter";

/** The properties that an element of a tag adds to those of HTML, each optional. */
export type ElementProps<Tag extends ElementTag> = OwnProps<HTMLElementTagNameMap[Tag]>;

type OwnProps<Element> = {
  [Name in Exclude<keyof Element, keyof LitElement> as Element[Name] extends Method ? never : Name]?: Element[Name];
};

type Method = (...args: never[]) => unknown;

/** The events that an element of a tag, or one inside of it, dispatches. */
export type ElementEvents<Tag extends ElementTag> = Tag extends "sluice-viewer"
  ? Pick<ArtifactEvents, "sluice-fetch">
  : Tag extends "sluice-result"
    ? ArtifactEvents & Pick<HTMLElementEventMap, "sluice-view">
    : Tag extends "sluice-resources"
      ? ArtifactEvents & Pick<HTMLElementEventMap, "sluice-select">
      : Tag extends "sluice-meter"
        ? unknown
        : ArtifactEvents;
