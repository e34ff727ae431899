import { defineConfig } from "vite";

/** Built into the package, so users need no Node. Builds are reproducible. */
export default defineConfig({
  base: "/",
  build: {
    outDir: "../src/corral/web",
    emptyOutDir: true,
    target: ["chrome123", "firefox121", "safari17.5"],
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0, // the Content-Security-Policy forbids inline code
    reportCompressedSize: false,
    rolldownOptions: { checks: { pluginTimings: false } },
  },
});
