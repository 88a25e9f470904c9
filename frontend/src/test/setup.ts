import { loadPages } from "@/i18n";

// So that what is drawn in a test is there at once.
await loadPages("en");
