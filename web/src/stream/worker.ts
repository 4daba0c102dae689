/** The shared worker: the one stream of this browser, and a port to each tab. */
import { Hub, type ToHub } from "./hub";

const hub = new Hub();
const scope = self as unknown as { onconnect: (event: MessageEvent) => void };

scope.onconnect = (event) => {
  const port = event.ports[0];
  if (port !== undefined) port.onmessage = (said: MessageEvent<ToHub>) => hub.take(port, said.data);
};
