import type { AnchorHTMLAttributes } from "react";
import { go, isPlainClick } from "./router";

/** A link within the page. */
export function Anchor({ href, onClick, ...rest }: AnchorHTMLAttributes<HTMLAnchorElement> & { href: string }) {
  return (
    <a
      {...rest}
      href={href}
      onClick={(event) => {
        onClick?.(event);
        if (event.defaultPrevented || !isPlainClick(event)) return;
        event.preventDefault();
        go(href);
      }}
    />
  );
}
