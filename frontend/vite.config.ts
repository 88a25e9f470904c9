import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";
import { patience } from "./e2e/patience.ts";
import { firstVisit } from "./scripts/first.ts";

// Where `npm run dev` finds a server with an API, and the browser tests a program.
const api = process.env.CARILLON_SERVER ?? "http://127.0.0.1:8822";
const alias = { "@": new URL("./src", import.meta.url).pathname };

const first = firstVisit("main.tsx", "pages/overview/OverviewPage.tsx");
const isShared = (id: string) =>
  /\/src\/i18n\/index\.ts|\/src\/lib\/(?!words|cron|interval|schema|policies)|\/src\/components\/(?!code|CodeEditor|Menu|Filter|Dialog|FormDialog|Refusal|PauseEndField|fields)/.test(
    id,
  );
const iconOf = (id: string) =>
  /lucide-react\/dist\/esm\/icons\/(.*)\.\w+$/.exec(id)?.[1]?.replaceAll("-", "");

// What many pages share comes in few pieces: else a page would come in thirty, and a browser asks
// an HTTP/1.1 server for six at a time. A first visit gets nothing that only other pages need.
const pieces = [
  {
    name: "icons",
    test: (id: string) => /lucide-react/.test(id) && first.icons.has(iconOf(id) ?? ""),
    minShareCount: 2,
    priority: 5,
  },
  { name: "glyphs", test: (id: string) => iconOf(id) !== undefined, minShareCount: 2, priority: 2 },
  {
    name: "frame",
    test: (id: string) =>
      /node_modules\/(react|react-dom|scheduler|@tanstack)\//.test(id) ||
      /\/src\/i18n\/..\/words\.ts$/.test(id) || // a few lines, which all texts of a language use
      (/\/src\/api\/|\/Toasts\.tsx$/.test(id) && first.modules.has(id)),
    priority: 4,
  },
  {
    name: "charts",
    test: (id: string) =>
      /\/components\/(Chart|ChartTable|HoverCard|Legend|LineChart|Spark|StackChart|Zoomed)\.tsx$/.test(id) &&
      first.modules.has(id),
    priority: 4,
  },
  {
    name: "shared",
    test: (id: string) => isShared(id) && first.modules.has(id),
    priority: 3,
  },
  {
    name: "others",
    test: (id: string) => (isShared(id) || /\/src\/api\//.test(id)) && !first.modules.has(id),
    minShareCount: 5,
    priority: 0,
  },
  {
    name: "layers",
    test: /node_modules\/(@radix-ui\/(?!react-(dialog|dropdown-menu|menu|popper|roving-focus|collection|arrow|direction)\/)|react-remove-scroll|react-style-singleton|aria-hidden|use-callback-ref|use-sidecar)/,
    priority: 3,
  },
  {
    name: "dialogs",
    test: /\/(Dialog|FormDialog|Refusal|fields|AskDialog|RemoveDialog|useSave)\.tsx?$/,
    priority: 2,
  },
  {
    name: "below", // what the overview shows once its first half is there
    test: /\/(overview\/Proof|reports\/Reports|shell\/WhyForm|lib\/tally)\.tsx?$/,
    priority: 1,
  },
  { name: "params", test: /\/(RunParams|useParamFields|lib\/params)\.tsx?$/, priority: 1 },
  { name: "menus", test: /\/(Menu|FilterChip|GroupFilter)\.tsx$/, priority: 1 },
];

export default defineConfig({
  // Relative, so that one build serves under any base path (see <base> in index.html).
  base: "./",
  plugins: [react()],
  resolve: { alias },
  worker: { format: "es" },
  build: {
    target: "es2022",
    assetsInlineLimit: 0, // fonts and pictures come from the origin, as the CSP says
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: { output: { codeSplitting: { groups: pieces } } },
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
          isolate: false, // else most of the time goes into a new DOM for each file
          setupFiles: "src/test/setup.ts",
          testTimeout: patience,
          hookTimeout: patience,
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
          isolate: false,
          testTimeout: 20 * patience,
          hookTimeout: 20 * patience,
          expect: { poll: { timeout: patience } },
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
