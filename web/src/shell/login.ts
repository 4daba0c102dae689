/** The one-time code of the address: traded for a cookie, and gone from the address before anything else. */
import { api, Problem } from "../api/client";

export type Login = { ok: true } | { ok: false; why: string | null };

export function codeOf(hash: string): string | null {
  return new URLSearchParams(hash.replace(/^#/, "")).get("code");
}

export async function login(): Promise<Login> {
  const code = codeOf(location.hash);
  if (code !== null) {
    history.replaceState(null, "", location.pathname + location.search);
    try {
      await api.login(code);
      return { ok: true };
    } catch (error) {
      // A code that was used already is no trouble where the cookie still holds.
      const used = await holds();
      if (used) return { ok: true };
      return { ok: false, why: error instanceof Problem ? `${error.detail} ${error.fix}`.trim() : "The login did not work." };
    }
  }
  return (await holds()) ? { ok: true } : { ok: false, why: null };
}

async function holds(): Promise<boolean> {
  try {
    await api.info();
    return true;
  } catch (error) {
    return !(error instanceof Problem && error.status === 401);
  }
}
