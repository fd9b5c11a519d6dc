import { createElement } from "react";

// oxlint-disable-next-line import/no-default-export -- what Next.js renders
export default function Layout({ children }) {
  return createElement("html", { lang: "en" }, createElement("body", null, children));
}
