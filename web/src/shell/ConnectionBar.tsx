import { connection } from "../stream/connection";
import { usePage } from "../store/page";
import { timeOf, useNow } from "./time";

/** A short loss of the connection is not worth a word, in milliseconds. */
const QUIET_FOR = 1500;

/** Says when what is shown is not live, and since when; and when another server answers than before. */
export function ConnectionBar() {
  const link = usePage((s) => s.link);
  const heardAt = usePage((s) => (s.link === "live" ? 0 : s.heardAt));
  const rebooted = usePage((s) => s.rebooted);
  const now = useNow(500, link !== "live");
  const lost = link === "reconnecting" && now - heardAt > QUIET_FOR;
  return (
    <>
      {lost && (
        <div className="bar bar-lost" role="alert">
          <span>Not connected. Showing what was known at {timeOf(heardAt / 1000)}. Trying again…</span>
          <button type="button" className="quiet" onClick={connection.retryNow}>
            Try now
          </button>
        </div>
      )}
      {rebooted && !lost && (
        <div className="bar bar-boot" role="status">
          <span>Podium was started anew. If the page looks wrong, reload; your draft is kept.</span>
          <button type="button" className="quiet" onClick={() => location.reload()}>
            Reload
          </button>
        </div>
      )}
    </>
  );
}

/** Whether the page is live, for the header. */
export function LinkMark() {
  const link = usePage((s) => s.link);
  const words = { live: "live", connecting: "connecting…", reconnecting: "reconnecting…" };
  return (
    <span className={`link link-${link}`}>
      <span aria-hidden="true">{link === "live" ? "●" : "◌"}</span> {words[link]}
    </span>
  );
}
