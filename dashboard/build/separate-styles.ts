import type { Plugin } from 'vite'

const MODULE = /\/sonner\/dist\/index\.mjs$/
const CALL = /^__insertCSS\(".*"\);?$/m

/**
 * Sonner inserts a `<style>` element when it is loaded, which the policy of the page refuses. `ui/toast.tsx` imports the
 * same styles as a file instead.
 *
 * @throws Error when a new version of sonner inserts them in another way
 */
export function separateStyles(): Plugin {
  return {
    name: 'separate-styles',
    apply: 'build',
    transform(code, id) {
      if (!MODULE.test(id)) return undefined
      if (!CALL.test(code))
        throw new Error('sonner inserts its styles in another way: change separate-styles.ts')
      return { code: code.replace(CALL, ''), map: null }
    },
  }
}
