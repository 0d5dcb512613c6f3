import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Plugin } from 'vite'

const SOURCE = join(import.meta.dirname, 'early-theme.js')

/**
 * Adds a small script to the head that shows the stored theme at once. It is a file of its own, which blocks the first paint: the
 * console itself is a module, which runs later, and the policy of the page refuses inline scripts.
 */
export function earlyTheme(): Plugin {
  return {
    name: 'early-theme',
    apply: 'build',
    buildStart() {
      this.emitFile({ type: 'asset', name: 'early-theme.js', source: readFileSync(SOURCE, 'utf8') })
    },
    transformIndexHtml: {
      order: 'post',
      handler(_, { bundle }) {
        const file = Object.keys(bundle ?? {}).find((name) => name.includes('early-theme'))
        if (file === undefined) throw new Error('the bundle has no early-theme.js')
        return [{ tag: 'script', attrs: { src: `./${file}` }, injectTo: 'head' }]
      },
    },
  }
}
