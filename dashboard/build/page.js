import { readFile, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'

/**
 * Writes index.html with the names of the bundled files. What the first paint needs comes first: the small script of the theme
 * blocks it, since the console itself is a module, which runs later, and the policy of the page refuses inline scripts.
 *
 * @param {string} folder of the build, which has the bundle in `assets`
 * @param {string} source the page, with the comment `<!-- assets -->`
 * @param {import('esbuild').Metafile} metafile
 */
export async function writePage(folder, source, { outputs }) {
  const names = Object.keys(outputs)
  const find = (pattern) => {
    const name = names.find((path) => pattern.test(basename(path)))
    if (name === undefined) throw new Error(`the bundle has no file ${pattern}`)
    return name
  }
  const main = find(/^main-\w+\.js$/)
  const first = outputs[main].imports
    .filter(({ kind }) => kind === 'import-statement')
    .map(({ path }) => path)
  const url = (name) => `./assets/${basename(name)}`
  const elements = [
    `<link rel="icon" type="image/svg+xml" href="${url(find(/^icon-\w+\.svg$/))}">`,
    `<script type="module" src="${url(main)}"></script>`,
    ...first.map((name) => `<link rel="modulepreload" href="${url(name)}">`),
    `<link rel="stylesheet" href="${url(find(/^main-\w+\.css$/))}">`,
    `<script src="${url(find(/^early-theme-\w+\.js$/))}"></script>`,
  ]
  const page = await readFile(source, 'utf8')
  await writeFile(join(folder, 'index.html'), page.replace('<!-- assets -->', elements.join('\n    ')))
}
