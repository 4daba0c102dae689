/**
 * Following the end: pure. Only an act of the user leaves or takes up following; content that grows or shrinks never
 * does, and neither does our own scrolling.
 */

/** How near the end is "at the end", in pixels. */
export const NEAR = 40;
/** A scroll so long after a wheel or touch is still its doing, in milliseconds. */
export const MOMENTUM = 1200;

export interface Follow {
  readonly following: boolean;
  /** Until when scrolling is the user's doing. */
  readonly userUntil: number;
  /** The user holds the scrollbar or a finger down. */
  readonly held: boolean;
  /** A button of the pointer is down in the log: what is under it stays there until it is up. */
  readonly pressed: boolean;
  /** Text is selected: nothing moves under it. */
  readonly frozen: boolean;
}

export const AT_END: Follow = { following: true, userUntil: 0, held: false, pressed: false, frozen: false };

export type Act =
  | { act: "wheel" | "key"; at: number }
  | { act: "hold" }
  | { act: "press"; down: boolean }
  | { act: "release"; at: number }
  | { act: "scrolled"; distance: number; at: number }
  | { act: "selection"; some: boolean }
  | { act: "jump" };

export function follow(state: Follow, act: Act): Follow {
  switch (act.act) {
    case "wheel":
    case "key":
      return { ...state, userUntil: act.at + MOMENTUM };
    case "hold":
      return { ...state, held: true };
    case "release":
      return { ...state, held: false, userUntil: act.at + MOMENTUM };
    case "press":
      return { ...state, pressed: act.down };
    case "selection":
      return { ...state, frozen: act.some };
    case "jump":
      return { ...state, following: true, frozen: false, userUntil: 0 };
    case "scrolled":
      return state.held || act.at <= state.userUntil ? { ...state, following: act.distance <= NEAR } : state;
  }
}

export function moves(state: Follow): boolean {
  return state.following && !state.frozen && !state.held && !state.pressed;
}
