import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { compile } from 'tailwindcss'

/** A run of characters that may be a class: texts and code around it are no utilities, so Tailwind ignores them. */
const CANDIDATE = /[^\s"'`]+/g

/**
 * Compiles style sheets with the utilities that the sources use. The packages of Tailwind that watch and minify bring 25 MB of
 * programs; esbuild does both.
 *
 * @param {() => Promise<string[]>} sources the texts of all sources of the console
 * @returns {import('esbuild').Plugin}
 */
export function styles(sources) {
  return {
    name: 'styles',
    setup(build) {
      build.onLoad({ filter: /\/dashboard\/src\/.*\.css$/ }, async ({ path }) => {
        const base = dirname(path)
        const { build: css } = await compile(await readFile(path, 'utf8'), { base, loadStylesheet })
        const used = new Set((await sources()).flatMap((text) => text.match(CANDIDATE) ?? []))
        return { contents: css([...used]), loader: 'css', resolveDir: base }
      })
    },
  }
}

async function loadStylesheet(id, base) {
  const path = id.startsWith('.') ? join(base, id) : fileURLToPath(import.meta.resolve(styleSheetOf(id)))
  return { path, base: dirname(path), content: await readFile(path, 'utf8') }
}

/** `tailwindcss` names the package's sheet, as its field `style` does for bundlers. */
const styleSheetOf = (id) => (id.endsWith('.css') ? id : `${id}/index.css`)
