import { readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { expect } from 'chai'

// Node takes about a millisecond for each. Before the modules were bundled, the start loaded 750 of ours. A module that plugins or commands share
// with the service has a file of its own.
const MOST_FILES = 72
/** What only some services need, and is imported then. */
const LATE = ['@aws-sdk/client-s3', 'bullmq', 'ioredis', 'libheif-js', '@hyzyla/pdfium', 'wasm-vips']

/** A file in dist that is loaded with the start, and all that it imports. */
function loaded(file: string, found: { files: Set<string>; packages: Set<string> }) {
  if (found.files.has(file)) return found
  found.files.add(file)
  for (const [, path = ''] of readFileSync(file, 'utf8').matchAll(
    /^(?:import|export)\b[^;]*?"([^"]+)";$/gm,
  )) {
    if (path.startsWith('.')) loaded(join(dirname(file), path), found)
    else found.packages.add(path)
  }
  return found
}

describe('the built service', () => {
  const { files, packages } = loaded('dist/src/main.js', { files: new Set(), packages: new Set() })

  it('loads few files when it starts', () => {
    expect(files.size).to.be.within(2, MOST_FILES)
  })

  it('loads packages that only some services need when they need them', () => {
    expect(packages).to.include('sharp')
    for (const name of LATE) expect([...packages]).not.to.include(name)
  })

  it('loads the packages of OpenTelemetry, which are in a file of their own, when they are configured', () => {
    const own = readdirSync('dist/src/chunks').filter((name) => /^otel-.*\.js$/.test(name))
    expect(own).to.have.length(1)
    expect([...files].map((file) => basename(file))).not.to.include(own[0])
    const holds = (file: string) => readFileSync(file, 'utf8').includes('BatchSpanProcessor')
    expect(holds(join('dist/src/chunks', own[0] ?? ''))).to.equal(true)
    expect([...files].filter(holds)).to.deep.equal([])
  })
})
