import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect } from 'chai'

const MAX_FILES = 16
const MAX_LINES = 250

describe('source files', () => {
  const filesOf = (folder: string) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .map((file) => join(folder, file))
      .filter((file) => /\.m?tsx?$/.test(file) && !file.includes('node_modules'))
  const files = ['src', 'plugins', 'config', 'client', 'dashboard']
    .flatMap(filesOf)
    .filter((file) => !/generated/.test(file))

  it(`are at most ${MAX_FILES} in a folder of src, plugins, test, client or dashboard`, () => {
    const counts = new Map<string, number>()
    for (const file of ['src', 'plugins', 'test', 'client', 'dashboard'].flatMap(filesOf))
      counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1)
    expect([...counts].filter(([, count]) => count > MAX_FILES)).to.deep.equal([])
    expect(counts.size).to.be.greaterThan(90)
  })

  it(`have at most ${MAX_LINES} lines each`, () => {
    const lines = (file: string) => readFileSync(file, 'utf8').split('\n').length - 1
    expect(files.filter((file) => lines(file) > MAX_LINES)).to.deep.equal([])
    expect(files.length).to.be.greaterThan(300)
  })
})
