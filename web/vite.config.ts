import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

// The page is served under a strict policy: nothing inline, nothing from elsewhere.
export default defineConfig({
  plugins: [react()],
  build: {
    outDir: "../src/podium/server/static",
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: false,
    target: "es2022",
    chunkSizeWarningLimit: 600,
  },
  server: { proxy: { "/v1": "http://127.0.0.1:8000" } },
  test: { environment: "jsdom", include: ["tests/**/*.test.{ts,tsx}"] },
});
