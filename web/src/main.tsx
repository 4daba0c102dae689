import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { whenLoggedOut } from "./api/client";
import { App } from "./shell/App";
import { codeOf, login } from "./shell/login";
import { page } from "./store/page";
import { connection } from "./stream/connection";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/shell.css";
import "./styles/timeline.css";
import "./styles/acting.css";

async function begin(): Promise<void> {
  const root = document.getElementById("root");
  if (root === null) return;
  // A fresh address that is opened in this tab changes nothing but the fragment.
  window.addEventListener("hashchange", () => {
    if (codeOf(location.hash) !== null) location.reload();
  });
  whenLoggedOut(() => connection.signedOut());
  const result = await login();
  page.setState({ loggedIn: result.ok });
  if (result.ok) connection.start();
  createRoot(root).render(
    <StrictMode>
      <App why={result.ok ? null : result.why} />
    </StrictMode>,
  );
}

void begin();
