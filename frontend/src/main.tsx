import "./styles/index.css";
import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode, useEffect, useState } from "react";
import { createRoot } from "react-dom/client";
import { loadMessages, loadPages, MessagesContext, tags } from "./i18n";
import type { Messages } from "./i18n/en";
import { useLang } from "./lib/format";
import { landingOf } from "./lib/landing";
import { applyLook, getPrefs } from "./lib/prefs";
import { problemOf } from "./lib/problem";
import { markUnloaded } from "./lib/unloaded";
import { makeRouter } from "./router";
import { hearNews } from "./shell/news";

/** What may pass by itself is asked for again; what is wrong stays wrong. */
const passes = new Set(["unreachable", "unavailable", "internal"]);

const client = new QueryClient({
  queryCache: new QueryCache(),
  mutationCache: new MutationCache(),
  defaultOptions: {
    queries: {
      staleTime: 1000,
      retry: (failures, error) => failures < 2 && passes.has(problemOf(error).code),
      retryDelay: (failures) => Math.min(500 * 2 ** failures, 4000),
    },
  },
});
// The router begins at the address that it finds.
const [arrival] = performance.getEntriesByType("navigation");
const landing = landingOf(
  location.href,
  document.baseURI,
  getPrefs().landing,
  arrival instanceof PerformanceNavigationTiming ? arrival.type : undefined,
);
if (landing !== undefined) history.replaceState(null, "", landing);
hearNews(client);
markUnloaded();
const router = makeRouter(client);

function App() {
  const lang = useLang();
  const [messages, setMessages] = useState<Messages>();
  const begun = messages !== undefined;
  useEffect(() => {
    let current = true;
    // Who changes the language goes on reading the one before until the other is there.
    void Promise.all([loadMessages(lang), begun && loadPages(lang)]).then(([m]) => {
      if (!current) return;
      document.documentElement.lang = tags[lang];
      setMessages(m);
    });
    return () => {
      current = false;
    };
  }, [lang, begun]);
  // What the other pages say comes behind what the first one says.
  useEffect(() => {
    if (messages) void loadPages(messages.lang);
  }, [messages]);
  useEffect(applyLook, []);
  if (!messages) return null;
  return (
    <MessagesContext value={messages}>
      <QueryClientProvider client={client}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MessagesContext>
  );
}

const root = document.getElementById("app");
if (root) {
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  );
}
