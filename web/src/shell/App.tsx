import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { useEffect } from "react";
import { Start } from "../start/Start";
import { usePage } from "../store/page";
import { ThreadList } from "../threads/ThreadList";
import { titleOf } from "../threads/order";
import { Announcer } from "./Announcer";
import { ConnectionBar } from "./ConnectionBar";
import { NoLogin } from "./NoLogin";
import { placeOf, useAddress } from "./router";
import { ThreadPage } from "./ThreadPage";

const queries = new QueryClient({ defaultOptions: { queries: { staleTime: 5_000, retry: 1, refetchOnWindowFocus: false } } });

export function App({ why }: { why: string | null }) {
  const loggedIn = usePage((s) => s.loggedIn);
  const address = useAddress();
  const place = placeOf(location.pathname, location.search);
  if (loggedIn === false) return <NoLogin failed={why} />;
  const current = place.at === "thread" ? place.thread : null;
  return (
    <QueryClientProvider client={queries}>
      <Title current={current} />
      <div className={`app app-${place.at}`} data-address={address}>
        <ConnectionBar />
        <ThreadList current={current} />
        {place.at === "thread" ? <ThreadPage thread={place.thread} panel={place.panel} run={place.run} /> : <Home start={place.at === "start"} />}
        <Announcer />
      </div>
    </QueryClientProvider>
  );
}

/** With threads, a wide page offers a new one beside the list; a narrow one shows the list. */
function Home({ start }: { start: boolean }) {
  const empty = usePage((s) => s.listed && Object.keys(s.rows).length === 0);
  const listed = usePage((s) => s.listed);
  if (!listed && !start) return <main className="center" aria-busy="true" />;
  return (
    <div className={`home${start || empty ? "" : " home-beside"}`}>
      <Start />
    </div>
  );
}

/** The title says what waits. */
function Title({ current }: { current: string | null }) {
  const waits = usePage((s) => Object.values(s.rows).reduce((sum, r) => sum + (r.thread.archived ? 0 : r.requests.length), 0));
  const name = usePage((s) => {
    const row = current === null ? undefined : s.rows[current];
    return row ? titleOf(row) : "";
  });
  useEffect(() => {
    document.title = `${waits > 0 ? `(${waits}) ` : ""}${name ? `${name} · ` : ""}Podium`;
  }, [waits, name]);
  return null;
}
