/** Times as people read them. */
import { useEffect, useState } from "react";

const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const day = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });

/** The time of day, with the date if it is another day. `at` in unix seconds. */
export function timeOf(at: number, now = Date.now()): string {
  const date = new Date(at * 1000);
  const today = new Date(now).toDateString() === date.toDateString();
  return today ? clock.format(date) : `${day.format(date)} ${clock.format(date)}`;
}

/** How long ago, in its largest unit. */
export function ago(at: number, now: number): string {
  const seconds = Math.max(0, now / 1000 - at);
  if (seconds < 60) return "now";
  if (seconds < 3600) return `${Math.floor(seconds / 60)} m`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}

/** The clock, every so many milliseconds; still while `on` is false. */
export function useNow(every: number, on = true): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    if (!on) return;
    const timer = setInterval(() => setNow(Date.now()), every);
    return () => clearInterval(timer);
  }, [every, on]);
  return now;
}
