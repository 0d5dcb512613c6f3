import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'

const ASSETS = join('dist', 'dashboard', 'assets')
const FIRST_LOAD_MAX_BYTES = 210_000
const PAGE_MAX_BYTES = 80_000
// The player of streams is loaded only when a stream is played.
const PLAYER = /^hls\./
const PLAYER_MAX_BYTES = 120_000

/** A static import, or the export of another file. Dynamic imports have a parenthesis. */
const IMPORTED = /(?:\bfrom|\bimport)\s*"\.\/([^"]+\.js)"/g

/** The size of a file as browsers receive it over plain HTTP, where they do not accept Brotli. */
const compressed = (file: string) => statSync(join(ASSETS, `${file}.gz`)).size

/** A script with all that it imports at once. */
function withImports(file: string, found = new Set<string>()): ReadonlySet<string> {
  if (found.has(file)) return found
  found.add(file)
  const source = readFileSync(join(ASSETS, file), 'utf8')
  for (const [, imported = ''] of source.matchAll(IMPORTED)) withImports(imported, found)
  return found
}

const sum = (files: Iterable<string>) => [...files].reduce((bytes, file) => bytes + compressed(file), 0)

describe('the size of the console', () => {
  const document = readFileSync(join('dist', 'dashboard', 'index.html'), 'utf8')
  const [, entry = ''] = /src="\.\/assets\/([^"]+\.js)"/.exec(document) ?? []
  const styles = [...document.matchAll(/href="\.\/assets\/([^"]+\.css)"/g)].map(([, file = '']) => file)
  const first = withImports(entry)

  it(`is below ${FIRST_LOAD_MAX_BYTES} bytes for the first load`, () => {
    expect(styles).to.have.length.above(0)
    const bytes = sum([...first, ...styles])
    expect(bytes).to.be.above(20_000).and.below(FIRST_LOAD_MAX_BYTES)
  })

  it(`is below ${PAGE_MAX_BYTES} bytes for each further page`, () => {
    const scripts = readdirSync(ASSETS).filter((file) => file.endsWith('.js') && !first.has(file))
    expect(scripts.length).to.be.above(10)
    const sizes = scripts.map((file): [file: string, bytes: number] => [
      file,
      sum([...withImports(file)].filter((one) => !first.has(one))),
    ])
    const limitOf = (file: string) => (PLAYER.test(file) ? PLAYER_MAX_BYTES : PAGE_MAX_BYTES)
    expect(sizes.filter(([file, bytes]) => bytes >= limitOf(file))).to.deep.equal([])
  })
})
