import { defineConfig } from "vite";

/** Built into the package, so that using Corral needs no Node. The same input gives the same bytes. */
export default defineConfig({
  base: "/",
  build: {
    outDir: "../src/corral/web",
    emptyOutDir: true,
    target: ["chrome123", "firefox121", "safari17.5"],
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0, // the Content-Security-Policy lets nothing inline run
    reportCompressedSize: false,
    rolldownOptions: { checks: { pluginTimings: false } },
  },
});
