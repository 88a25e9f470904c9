import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

// Where `npm run dev` finds a server with an API, and the browser tests a program.
const api = process.env.CARILLON_SERVER ?? "http://127.0.0.1:8822";
const alias = { "@": new URL("./src", import.meta.url).pathname };

export default defineConfig({
  // Relative, so that one build serves under any base path (see <base> in index.html).
  base: "./",
  plugins: [react()],
  resolve: { alias },
  build: {
    target: "es2022",
    assetsInlineLimit: 0, // fonts and pictures come from the origin, as the CSP says
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    manifest: true, // for scripts/budgets.mjs
  },
  server: {
    proxy: Object.fromEntries(
      ["/api", "/readyz"].map((path) => [
        path,
        { target: api, changeOrigin: true, headers: { origin: api } },
      ]),
    ),
  },
  test: {
    projects: [
      {
        plugins: [react()],
        resolve: { alias },
        test: {
          name: "unit",
          include: ["src/**/*.test.{ts,tsx}"],
          environment: "happy-dom",
          env: { TZ: "Asia/Shanghai" },
        },
      },
      {
        resolve: { alias },
        test: {
          name: "browser",
          include: ["e2e/**/*.test.ts"],
          globalSetup: "e2e/build.ts",
          environment: "node",
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: "speed",
          include: ["e2e/speed.measure.ts"],
          globalSetup: "e2e/build.ts",
          environment: "node",
        },
      },
      {
        test: {
          name: "pictures",
          include: ["e2e/pictures.take.ts"],
          globalSetup: "e2e/build.ts",
          environment: "node",
        },
      },
    ],
  },
});
