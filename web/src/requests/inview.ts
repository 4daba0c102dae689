/** Which requests can be answered in the timeline right now, so that the dock need not repeat them. */
import { createStore } from "zustand/vanilla";

export const inView = createStore<{ readonly [request: string]: boolean }>(() => ({}));

/**
 * Watches the buttons of a card. It is in view once all of them are, and out of view once none is; between the two
 * nothing changes, so that a dock that comes or goes cannot make itself go or come.
 */
export function watchInView(request: string, card: Element): () => void {
  const set = (seen: boolean) => {
    if (inView.getState()[request] !== seen) inView.setState({ [request]: seen });
  };
  const watch = new IntersectionObserver(
    (entries) => {
      for (const entry of entries) {
        if (entry.intersectionRatio >= 0.95) set(true);
        else if (!entry.isIntersecting) set(false);
      }
    },
    { threshold: [0, 0.95, 1] },
  );
  const buttons = [...card.querySelectorAll(".request-options")].at(-1) ?? card;
  watch.observe(buttons);
  return () => {
    watch.disconnect();
    set(false);
  };
}
