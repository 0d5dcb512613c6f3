import { readFile } from 'node:fs/promises'

const CALL = /^__insertCSS\(".*"\);?$/m

/**
 * Sonner inserts a `<style>` element when it is loaded, which the policy of the page refuses. `styles.css` imports the same
 * styles as a file instead.
 *
 * @returns {import('esbuild').Plugin}
 * @throws Error when a new version of sonner inserts them in another way
 */
export function separateStyles() {
  return {
    name: 'separate-styles',
    setup(build) {
      build.onLoad({ filter: /\/sonner\/dist\/index\.mjs$/ }, async ({ path }) => {
        const code = await readFile(path, 'utf8')
        if (!CALL.test(code))
          throw new Error('sonner inserts its styles in another way: change separate-styles.js')
        return { contents: code.replace(CALL, ''), loader: 'js' }
      })
    },
  }
}
