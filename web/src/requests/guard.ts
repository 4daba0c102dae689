/**
 * Keys that allow or deny do nothing on a key's repeat, and for a while after a request appeared or something was
 * sent: a second press that was meant for something else must not decide what nobody has read.
 */

/** In milliseconds. */
export const GUARD = 800;

const appeared = new Map<string, number>();
let sentAt = -Infinity;

/** The request is on the screen since now; asked again it stays as it was. */
export function showed(request: string, now = performance.now()): void {
  if (!appeared.has(request)) appeared.set(request, now);
}

export function sent(now = performance.now()): void {
  sentAt = now;
}

export function mayDecide(request: string, repeat: boolean, now = performance.now()): boolean {
  const since = appeared.get(request);
  return !repeat && since !== undefined && now - since >= GUARD && now - sentAt >= GUARD;
}

export function forget(): void {
  appeared.clear();
  sentAt = -Infinity;
}
