/** The id of a message: the same for the same text as long as nobody knows whether it arrived. */
import { freshId, type Intent } from "../api/client";

interface Attempt {
  place: string;
  text: string;
  intent: Intent;
  id: string;
}

const open = new Map<string, Attempt>();

export function clientId(place: string, text: string, intent: Intent): string {
  const before = open.get(place);
  if (before && before.text === text && before.intent === intent) return before.id;
  const attempt = { place, text, intent, id: freshId("msg") };
  open.set(place, attempt);
  return attempt.id;
}

/** The server has spoken about it: the next message is a new one, also with the same words. */
export function settled(place: string): void {
  open.delete(place);
}
