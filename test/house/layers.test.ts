import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect } from 'chai'

/** Each layer, and the layers that it may import beside itself. The longest name that a path begins with is its layer. */
const LAYERS: Record<string, readonly string[]> = {
  'src/main.ts': ['src/app.ts', 'src/process', 'config', 'src/core'],
  'src/worker.ts': ['src/app.ts', 'src/process', 'config', 'src/core'],
  'src/cli.ts': ['src/command.ts', 'src/main.ts', 'src/worker.ts', 'src/process'],
  'src/command.ts': ['src/app.ts', 'src/process', 'config', 'src/core'],
  'src/transformer.ts': ['src/process', 'src/pipeline', 'src/engines', 'src/core'],
  'src/plugin.ts': ['src/engines', 'src/core'],
  'src/testing.ts': ['src/assembly'],
  'src/app.ts': [
    ...['src/assembly', 'src/process', 'src/http', 'src/service', 'src/pipeline', 'src/adapters'],
    ...['src/engines', 'src/core', 'config'],
  ],
  'src/assembly': [
    'src/transformer.ts',
    ...['src/process', 'src/http', 'src/service', 'src/pipeline', 'src/adapters', 'src/engines'],
    ...['src/core', 'config'],
  ],
  'src/process': ['src/core'],
  'src/http': ['src/service', 'src/core'],
  'src/service': ['src/pipeline', 'src/core'],
  'src/pipeline': ['src/core'],
  'src/adapters': ['src/core'],
  'src/engines': ['src/core'],
  'src/core': [],
  plugins: ['src/core'],
  config: ['src/core'],
  // Runs in browsers and edge runtimes.
  client: [],
  'client/react.ts': ['client', 'client/react'],
  'client/react': ['client'],
  'dashboard/src': [
    'dashboard/src/pages',
    'dashboard/src/layout',
    'dashboard/src/ui',
    'dashboard/src/api',
    'dashboard/src/texts',
  ],
  'dashboard/src/pages': [
    'dashboard/src/layout',
    'dashboard/src/ui',
    'dashboard/src/api',
    'dashboard/src/texts',
    'client',
  ],
  'dashboard/src/layout': ['dashboard/src/ui', 'dashboard/src/api', 'dashboard/src/texts', 'client'],
  'dashboard/src/api': ['dashboard/src/texts', 'client'],
  'dashboard/src/ui': ['dashboard/src/texts'],
  'dashboard/src/texts': [],
}

const IO = [
  ...['child_process', 'cluster', 'dgram', 'dns', 'fs', 'http', 'http2', 'https', 'net', 'tls'],
  'worker_threads',
].map((name) => `node:${name}`)

/** Packages that a layer never imports, with everything below them. `*`: any package. */
const REFUSED_PACKAGES: Record<string, readonly string[]> = {
  'src/core': [...IO, 'express'],
  'src/service': ['express'],
  client: ['*'],
}

/** The only packages that a layer may import. */
const ALLOWED_PACKAGES: Record<string, readonly string[]> = {
  'client/react': ['react'],
}

describe('import layers', () => {
  it('are respected by every file', () => {
    const files = ['src', 'plugins', 'config', 'client', 'dashboard/src']
      .flatMap((folder) =>
        readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)),
      )
      .filter((file) => /\.m?tsx?$/.test(file))
    expect(files.length).to.be.greaterThan(300)
    expect(files.flatMap((file) => violations(file, readFileSync(file, 'utf8')))).to.deep.equal([])
  })

  const violating: [file: string, source: string][] = [
    ['src/http/delivery/planted.ts', `import { disk } from '../../adapters/bucket/disk/disk.ts'`],
    ['src/http/planted.ts', `import type { Plan } from '../pipeline/plan/plan.ts'`],
    ['src/http/planted.ts', `export * from '../adapters/clock.ts'`],
    ['src/http/planted.ts', `const clock = await import('../adapters/clock.ts')`],
    ['src/http/planted.ts', `import '../adapters/clock.ts'`],
    ['src/http/planted.ts', `import {\n  type Plan,\n} from '../pipeline/plan/plan.ts'`],
    ['src/http/planted.ts', `import { a } from '../service/../adapters/clock.ts'`],
    ['src/service/delivery/planted.ts', `import { Router } from 'express'`],
    ['src/core/planted.ts', `import { readFile } from 'node:fs/promises'`],
    ['src/core/planted.ts', `import { deliver } from '../service/delivery/deliver.ts'`],
    ['src/assembly/planted.ts', `import { openApp } from '../app.ts'`],
    ['src/app.ts', `import './main.ts'`],
    ['src/main.ts', `import { disk } from './adapters/bucket/disk/disk.ts'`],
    ['src/newcomer/planted.ts', `import { Problem } from '../core/problem.ts'`],
    ['config/planted.ts', `import { disk } from '../src/adapters/bucket/disk/disk.ts'`],
    ['plugins/image/planted.ts', `import { createSharpEngine } from '../../src/engines/image/sharp.ts'`],
    ['plugins/image/planted.ts', `import { blur } from './effects/blur.ts'`],
    ['plugins/image/effects/planted.ts', `import { purged } from '../../events/purged.mts'`],
    ['client/files/planted.ts', `import { Problem } from '../../src/core/problem.ts'`],
    ['client/files/planted.ts', `import { open } from 'node:fs/promises'`],
    ['client/files/planted.ts', `import { z } from 'zod'`],
    ['client/files/planted.ts', `import { useState } from 'react'`],
    ['client/files/planted.ts', `import { useUpload } from '../react/use-upload.ts'`],
    ['client/react/planted.ts', `import { z } from 'zod'`],
    ['src/core/planted.ts', `import { sign } from '../support/secrets.ts'`],
  ]
  for (const [file, source] of violating)
    it(`refuse in ${file}: ${source.replaceAll('\n', ' ')}`, () => {
      expect(violations(file, source)).to.have.length(1)
    })

  const allowed: [file: string, source: string][] = [
    ['src/http/delivery/planted.ts', `import { deliver } from '../../service/delivery/deliver.ts'`],
    ['src/http/planted.ts', `import { Router } from 'express'`],
    ['src/core/ports/planted.ts', `import { z } from 'zod'\nimport { createHash } from 'node:crypto'`],
    ['client/react/planted.ts', `import { useState } from 'react'\nimport { a } from '../client.ts'`],
    ['plugins/image/planted.ts', `import sharp from 'sharp'\nimport { at } from './shared.mts'`],
    ['plugins/image/effects/planted.ts', `import { noDetector } from '../faces/no-detector.mts'`],
  ]
  for (const [file, source] of allowed)
    it(`allow in ${file}: ${source.replaceAll('\n', ' ')}`, () => {
      expect(violations(file, source)).to.deep.equal([])
    })
})

const IMPORTED = /(?:\bfrom|\bimport|\bimport\(|\bdeclare module)\s*'([^']+)'/g

/** The imports of a file that its layer refuses, each as a sentence. */
function violations(file: string, source: string): string[] {
  const layer = layerOf(file)
  if (layer === undefined) return [`${file} is in no layer: add its folder to LAYERS`]
  return [...source.matchAll(IMPORTED)].flatMap(([, specifier = '']) => {
    const refused = specifier.startsWith('.')
      ? !isAllowed(layer, file, join(dirname(file), specifier))
      : !(ALLOWED_PACKAGES[layer] ?? [specifier]).includes(specifier) ||
        (REFUSED_PACKAGES[layer] ?? []).some((name) => name === '*' || `${specifier}/`.startsWith(`${name}/`))
    return refused ? [`${file} imports ${specifier}`] : []
  })
}

function isAllowed(layer: string, file: string, target: string): boolean {
  // A plugin stands alone: what several of them share is in .mts files of their type of file, such as plugins/image.
  if (layer === 'plugins' && target.startsWith('plugins/'))
    return target.endsWith('.mts') && target.split('/')[1] === file.split('/')[1]
  const other = layerOf(target)
  return other !== undefined && (other === layer || (LAYERS[layer] ?? []).includes(other))
}

function layerOf(file: string): string | undefined {
  return Object.keys(LAYERS)
    .filter((name) => file === name || file.startsWith(`${name}/`))
    .sort((one, other) => other.length - one.length)[0]
}
