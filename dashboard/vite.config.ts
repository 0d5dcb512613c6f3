import tailwind from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { earlyTheme } from './build/early-theme.ts'
import { separateStyles } from './build/separate-styles.ts'

/** The service to which the development server forwards requests of the API. */
const SERVICE = process.env.SLUICE_URL ?? 'http://127.0.0.1:3000'

export default defineConfig({
  root: import.meta.dirname,
  // Relative: the console works below any path of a proxy.
  base: './',
  plugins: [react(), tailwind(), separateStyles(), earlyTheme()],
  build: {
    target: 'es2022',
    // The policy of the page allows no data: URLs of scripts and fonts.
    assetsInlineLimit: 0,
    emptyOutDir: true,
    // The polyfill is an inline script.
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 700,
  },
  server: {
    host: '127.0.0.1',
    port: 5173,
    proxy: { '/v1': SERVICE, '/readyz': SERVICE, '/docs/api': SERVICE },
  },
})
