import { spawnSync } from 'node:child_process'
import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect } from 'chai'
import { loadChain } from '../../../config/chain.ts'
import type { Engine, EngineName } from '../../../src/core/plugin-api/plugin.ts'
import { type ChainSettings, type LoadedPlugin, loadPlugins } from '../../../src/pipeline/load/load.ts'
import { ChainError, PluginError } from '../../../src/pipeline/load/plugin-error.ts'
import { inOrder, SHIPPED_ORDER } from '../../../src/pipeline/load/plugin-order.ts'
import { rejection } from '../../support/rejection.ts'
import { CHAIN, type DropIns, dropIn, dropIns, ENGINES, loadWith, SHIPPED } from './drop-ins.ts'

const names = ({ transforms }: { transforms: readonly LoadedPlugin[] }) =>
  transforms.map(({ plugin }) => plugin.name)

describe('loading plugins', () => {
  const made: DropIns[] = []
  const files = async (texts: Record<string, string>) => {
    const one = await dropIns(texts)
    made.push(one)
    return one
  }
  afterEach(() => Promise.all(made.splice(0).map((one) => one.remove())))

  const load = (drops: readonly DropIns[], chain: Partial<ChainSettings> = {}, engines = ENGINES) =>
    loadPlugins({ folders: drops.map(({ folder }) => folder), engines, chain: { ...CHAIN, ...chain } })

  /** The message of the PluginError that loading these files ends in. */
  async function refusal(texts: Record<string, string>, chain: Partial<ChainSettings> = {}) {
    const drops = await files(texts)
    const error = await rejection(load([drops], chain))
    expect(error).to.be.instanceOf(PluginError)
    return { message: (error as Error).message, path: drops.path, error: error as Error }
  }

  /** The message of the ChainError that loading these files ends in. */
  async function chainRefusal(texts: Record<string, string>, chain: Partial<ChainSettings>) {
    const error = await rejection(load([await files(texts)], chain))
    expect(error).to.be.instanceOf(ChainError)
    return (error as Error).message
  }

  describe('valid plugins', () => {
    it('include the shipped ones in the order of the shipped chain, without a fingerprint', async () => {
      const chain = await loadChain(join(import.meta.dirname, '..', '..', '..', 'config', 'chain.json'))
      const { transforms, events } = await loadPlugins({ folders: [SHIPPED], engines: ENGINES, chain })
      expect(names({ transforms })).to.deep.equal(SHIPPED_ORDER.filter((name) => chain.order.includes(name)))
      expect(names({ transforms })).to.have.length(chain.order.length)
      for (const { plugin, fingerprint, media, options } of transforms) {
        expect(fingerprint).to.equal(undefined)
        expect(media).to.deep.equal([plugin.name.slice(0, plugin.name.indexOf('-'))])
        expect(options).to.deep.equal({})
      }
      expect(events.map(({ plugin }) => plugin.name)).to.deep.equal(['cdn-purge', 'webhook'])
    })

    it('may state the version of the plugin API', async () => {
      expect(names(await load([await files({ 'p.js': dropIn('p', { api: '1' }) })]))).to.deep.equal(['p'])
    })

    it('may add values to their parameters according to their options', async () => {
      const drops = await files({
        'p.js': dropIn('p', {
          params: "{ x: { type: 'enum', help: 'X', values: ['a'] }, y: { type: 'flag', help: 'Y' } }",
          options: "{ more: ['b'] }",
          choices: '({ more }) => ({ x: more })',
        }),
      })
      const valuesOf = async (chain: Partial<ChainSettings>) => {
        const { transforms } = await load([drops], chain)
        const spec = transforms.find(({ plugin }) => plugin.name === 'p')?.plugin.params.x
        return spec?.type === 'enum' && spec.values
      }
      expect(await valuesOf({})).to.deep.equal(['a', 'b'])
      expect(await valuesOf({ options: { p: { more: ['c', 'a'] } } })).to.deep.equal(['a', 'c'])
    })

    it('may be drop-ins that import nothing, in a folder without a package', async () => {
      const sepia = await files({
        'image-sepia.js': `export default {
          name: 'image-sepia',
          engine: 'sharp',
          phase: 'effect',
          params: { sepia: { type: 'flag', help: 'Sepia tone' } },
          transform: (image) => image.recomb([[0.39, 0.77, 0.19], [0.35, 0.69, 0.17], [0.27, 0.53, 0.13]]),
        }`,
      })
      const { transforms } = await load([sepia])
      expect(names({ transforms })).to.deep.equal(['image-sepia'])
      expect(transforms[0]).to.deep.include({ media: ['image'], options: {} })
      expect(transforms[0]?.fingerprint).to.match(/^[0-9a-f]{64}$/)
    })

    it('do not need a loader: this Node loads such a file', async () => {
      const one = await files({ 'a.js': dropIn('a') })
      const { stdout, stderr } = spawnSync(
        process.execPath,
        [
          '-e',
          `import(${JSON.stringify(pathToFileURL(one.path('a.js')).href)}).then((m) => console.log(m.default.name))`,
        ],
        { encoding: 'utf8', env: {} },
      )
      expect(stdout, stderr).to.equal('a\n')
    })

    it('are searched for in subfolders, in files of the extension only', async () => {
      const one = await files({
        'b.js': dropIn('b'),
        'deep/er/a.js': dropIn('a'),
        'c.ts': 'not looked at',
        'c.d.ts': 'not looked at',
        'c.mjs': 'not looked at',
        'README.md': 'not looked at',
        js: 'not looked at',
        'node_modules/x/index.js': 'not looked at',
        'deep/node_modules/x.js': 'not looked at',
      })
      expect(names(await load([one]))).to.deep.equal(['a', 'b'])
    })

    it('do not include declaration files', async () => {
      const one = await files({ 'a.ts': dropIn('a'), 'a.d.ts': 'declare const a: object\n' })
      const folder = { ...one.folder, extension: '.ts' }
      const { transforms } = await loadPlugins({ folders: [folder], engines: ENGINES, chain: CHAIN })
      expect(names({ transforms })).to.deep.equal(['a'])
    })

    it('are loaded once when several links lead to a file, as in a mounted ConfigMap', async () => {
      const one = await files({ '..2026/b.js': dropIn('b'), 'a.js': dropIn('a') })
      await symlink('..2026', one.path('..data'))
      await symlink('..data/b.js', one.path('b.js'))
      await symlink('a.js', one.path('c.js'))
      expect(names(await load([one]))).to.deep.equal(['a', 'b'])
    })

    it('may be absent from an optional folder that does not exist', async () => {
      const missing = { path: '/nowhere/at/all', extension: '.js', shipped: false, optional: true }
      expect(await loadPlugins({ folders: [missing], engines: ENGINES, chain: CHAIN })).to.deep.equal({
        transforms: [],
        events: [],
      })
    })

    it('cannot come from a folder that is a file', async () => {
      const one = await files({ 'a.js': dropIn('a') })
      const folder = { path: one.path('a.js'), extension: '.js', shipped: false }
      expect(await rejection(loadPlugins({ folders: [folder], engines: ENGINES, chain: CHAIN })))
        .to.be.instanceOf(PluginError)
        .with.property('message')
        .that.includes('ENOTDIR')
    })

    it('cannot come from a missing folder that the operator has named', async () => {
      const folder = { path: '/nowhere/at/all', extension: '.js', shipped: false }
      expect(await rejection(loadPlugins({ folders: [folder], engines: ENGINES, chain: CHAIN })))
        .to.be.instanceOf(PluginError)
        .with.property('message')
        .that.includes('/nowhere/at/all')
    })

    it('come from all folders', async () => {
      expect(
        names(await load([await files({ 'b.js': dropIn('b') }), await files({ 'a.js': dropIn('a') })])),
      ).to.deep.equal(['a', 'b'])
    })

    it('may have every optional member', async () => {
      const one = await files({
        'full.js': dropIn('full', {
          media: "['image', 'video']",
          always: 'false',
          version: '3',
          options: "{ strength: 1, mode: 'soft' }",
          params: `{
            full: { type: 'flag', aliases: ['all', 'a1_b'], help: 'Flag' },
            full_n: { type: 'number', min: -1.5, max: 1.5, unit: 'rad', default: 0, help: 'Number' },
            full_i: { type: 'integer', min: 5, max: 5, help: 'Integer' },
            full_e: { type: 'enum', values: ['a', '16:9', '1.5', 'x-y'], synonyms: { b: 'a' }, help: 'Word' },
          }`,
          resolve: '(params) => params',
          opening: '() => ({ frames: "first" })',
        }),
      })
      const { transforms } = await load([one], { options: { full: { mode: 'hard' } } })
      expect(transforms[0]).to.deep.include({
        media: ['image', 'video'],
        options: { strength: 1, mode: 'hard' },
      })
    })

    it('may share a parameter name when their media differ', async () => {
      const params = "{ size: { type: 'flag', help: 'Size' } }"
      const one = await files({
        'a.js': dropIn('a', { params, media: "['image']" }),
        'b.js': dropIn('b', { params, media: "['video', 'audio']" }),
      })
      expect(names(await load([one]))).to.deep.equal(['a', 'b'])
    })

    it('may be event plugins, which are listed separately', async () => {
      const one = await files({
        'told.js':
          "export default { name: 'told', on: { 'original.stored': () => 'heard', 'archive.sent'() {} } }",
        'a.js': dropIn('a'),
      })
      const set = await load([one])
      expect(names(set)).to.deep.equal(['a'])
      expect(set.events.map(({ plugin }) => plugin.name)).to.deep.equal(['told'])
      expect(set.events[0]?.plugin.on['original.stored']?.({} as never, {} as never)).to.equal('heard')
    })

    it('are not loaded when they are disabled, even when they are broken', async () => {
      const one = await files({
        'a.js': dropIn('a'),
        'b.js': dropIn('b', { transform: undefined }),
        'told.js': "export default { name: 'told', on: { 'original.stored': 1 } }",
        'same.js': dropIn('same', { params: "{ a: { type: 'flag', help: 'As that of a' } }" }),
      })
      const set = await load([one], { disabled: ['b', 'told', 'same'] })
      expect(names(set)).to.deep.equal(['a'])
      expect(set.events).to.be.empty
    })
  })

  describe('broken plugins', () => {
    for (const [what, text, reason] of [
      ['has a syntax error', 'export default {', /cannot be loaded: /],
      ['throws during the import', "throw new Error('no licence')", /cannot be loaded: no licence/],
      ['throws a value that is not an error', "throw 'tired'", /cannot be loaded: tired/],
      [
        'imports a missing module',
        "import 'no-such-package'\nexport default {}",
        /cannot be loaded: .*no-such-package/,
      ],
      [
        'has no default export',
        "export const name = 'a'",
        /expected a plugin object as the default export but found undefined/,
      ],
      ['exports a function', 'export default () => {}', /default export but found function/],
      ['exports null', 'export default null', /default export but found object/],
      [
        'has no name',
        dropIn('x', { name: undefined }),
        /expected a name of a-z, 0-9 and "-" but received undefined/,
      ],
      ['has an empty name', dropIn('x', { name: "''" }), /expected a name .* received ""/],
      ['has a name in capitals', dropIn('x', { name: "'Image'" }), /expected a name .* received "Image"/],
      ['has a name with a space', dropIn('x', { name: "'a b'" }), /expected a name .* received "a b"/],
      [
        'has a name with a dash at its end',
        dropIn('x', { name: "'a-'" }),
        /expected a name .* received "a-"/,
      ],
      [
        'needs a later plugin API, whatever else it has',
        dropIn('x', { api: '2', later: 'true' }),
        /it needs version 2 of the plugin API, but this Sluice has version 1. Update Sluice/,
      ],
      ['has an invalid API version', dropIn('x', { api: "'1'" }), /expected 1 for api but received "1"/],
      ['has a number as its name', dropIn('x', { name: '5' }), /expected a name .* received 5/],
      [
        'has no engine',
        dropIn('x', { engine: undefined }),
        /expected one of sharp, ffmpeg, ffmpeg-audio, office for engine but received undefined/,
      ],
      [
        'has an unknown engine',
        dropIn('x', { engine: "'magick'" }),
        /expected one of sharp, ffmpeg, ffmpeg-audio, office for engine but received "magick"/,
      ],
      [
        'has no phase',
        dropIn('x', { phase: undefined }),
        /expected one of prepare, geometry, effect, compose, encode for phase/,
      ],
      ['has an unknown phase', dropIn('x', { phase: "'later'" }), /for phase but received "later"/],
      [
        'has no transform',
        dropIn('x', { transform: undefined }),
        /expected a function for transform but received undefined/,
      ],
      [
        'has a transform that is not a function',
        dropIn('x', { transform: "'blur'" }),
        /expected a function for transform/,
      ],
      [
        'has version 0',
        dropIn('x', { version: '0' }),
        /expected an integer from 1 for version but received 0/,
      ],
      [
        'has version 1.5',
        dropIn('x', { version: '1.5' }),
        /expected an integer from 1 for version but received 1\.5/,
      ],
      [
        'has a word as its version',
        dropIn('x', { version: "'2'" }),
        /expected an integer from 1 for version but received "2"/,
      ],
      [
        'has an always that is not a boolean',
        dropIn('x', { always: '1' }),
        /expected true or false for always but received 1/,
      ],
      [
        'has a checkOptions that is not a function',
        dropIn('x', { checkOptions: 'true' }),
        /expected a function for checkOptions but received true/,
      ],
      [
        'refuses its options',
        dropIn('x', {
          options: '{ size: 0 }',
          checkOptions: "({ size }) => { throw new Error('expected a size from 1, received ' + size) }",
        }),
        /: expected a size from 1, received 0/,
      ],
      [
        'has a noOriginalFallback that is not a boolean',
        dropIn('x', { noOriginalFallback: "'yes'" }),
        /expected true or false for noOriginalFallback but received "yes"/,
      ],
      [
        'makes a format that the service does not write',
        dropIn('x', { makes: "'bmp'" }),
        /expected one of .*jpeg.* for makes but received "bmp"/,
      ],
      [
        'has a holds that is not a function',
        dropIn('x', { holds: "'source'" }),
        /expected a function for holds but received "source"/,
      ],
      [
        'has a newPass that is not a boolean',
        dropIn('x', { newPass: "'yes'" }),
        /expected true or false for newPass but received "yes"/,
      ],
      [
        'has a resolve that is not a function',
        dropIn('x', { resolve: '{}' }),
        /expected a function for resolve/,
      ],
      [
        'has an opening that is not a function',
        dropIn('x', { opening: '{}' }),
        /expected a function for opening/,
      ],
      [
        'has options that are not an object',
        dropIn('x', { options: '[]' }),
        /expected an object for options but received \[\]/,
      ],
      [
        'has media that are not an array',
        dropIn('x', { media: "'image'" }),
        /expected an array of media groups for media/,
      ],
      [
        'is for unknown media',
        dropIn('x', { media: "['image', 'font']" }),
        /media groups for media but received \["image","font"\]/,
      ],
      ['has no params', dropIn('x', { params: undefined }), /expected an object of parameters for params/],
      [
        'has an array for params',
        dropIn('x', { params: '[]' }),
        /expected an object of parameters for params/,
      ],
      [
        'has both transform and on',
        dropIn('x', { on: '{}' }),
        /expected transform or on but it has both: split it into two plugins/,
      ],
      [
        'misspells a member',
        dropIn('x', { tranform: '(image) => image', transform: undefined }),
        /a plugin has no member tranform; did you mean "transform"\?$/,
      ],
      [
        'misspells "on"',
        "export default { name: 'x', onn: {} }",
        /a plugin has no member onn; did you mean "on"\?$/,
      ],
      [
        'has an unknown member without a suggestion',
        dropIn('x', { colour: "'red'" }),
        /a plugin has no member colour; there are name, api, engine, phase, .*, transform, on, detect$/,
      ],
      [
        'has a member that event plugins do not have',
        "export default { name: 'x', phase: 'effect', on: {} }",
        /a plugin with "on" has no member phase; there are name, api, durable, atOnce, options, targets, concerns, check, on$/,
      ],
      [
        'misspells a member of a parameter',
        dropIn('x', { params: "{ x: { type: 'integer', min: 1, max: 2, defualt: 1, help: 'X' } }" }),
        /the parameter x, of type integer, has no member defualt; did you mean "default"\?$/,
      ],
      [
        'has a default for a flag',
        dropIn('x', { params: "{ x: { type: 'flag', default: true, help: 'X' } }" }),
        /the parameter x, of type flag, has no member default; there are type, aliases, help, words$/,
      ],
      [
        'has an "on" that is null',
        "export default { name: 'x', on: null }",
        /expected on to be an object of handlers/,
      ],
      [
        'has an "on" that is a word',
        "export default { name: 'x', on: 'original.stored' }",
        /expected on to be an object of handlers/,
      ],
      [
        'listens to an unknown event',
        "export default { name: 'x', on: { 'original.stolen': () => {} } }",
        /expected on to name events of original\.stored, .* but it names "original\.stolen"/,
      ],
      [
        'has a handler that is not a function',
        "export default { name: 'x', on: { 'original.stored': 'http://hook' } }",
        /expected a function for on\["original\.stored"\]/,
      ],
    ] as const) {
      it(`are reported with file and reason when one ${what}`, async () => {
        const { message, path } = await refusal({ 'x.js': text })
        expect(message.startsWith(`plugin ${path('x.js')}: `), message).to.equal(true)
        expect(message).to.match(reason)
      })
    }

    for (const [what, name, spec, reason] of [
      ['a value that is not an object', 'x', 'null', 'an object for the parameter x'],
      [
        'a name with a dash',
        'x-y',
        "{ type: 'flag', help: 'X' }",
        'a name of a-z, 0-9 and "_" for the parameter x-y',
      ],
      [
        'a name in capitals',
        'X',
        "{ type: 'flag', help: 'X' }",
        'a name of a-z, 0-9 and "_" for the parameter X',
      ],
      [
        'a name that begins with a digit',
        '2x',
        "{ type: 'flag', help: 'X' }",
        'a name of a-z, 0-9 and "_" for the parameter 2x',
      ],
      ['no type', 'x', "{ help: 'X' }", 'a type of integer, number, enum, flag'],
      ['an unknown type', 'x', "{ type: 'colour', help: 'X' }", 'a type of integer, number, enum, flag'],
      ['no help', 'x', "{ type: 'flag' }", 'one line of help'],
      ['empty help', 'x', "{ type: 'flag', help: '' }", 'one line of help'],
      [
        'aliases that are not an array',
        'x',
        "{ type: 'flag', help: 'X', aliases: 'y' }",
        'aliases of a-z, 0-9 and "_"',
      ],
      [
        'an alias in capitals',
        'x',
        "{ type: 'flag', help: 'X', aliases: ['Y'] }",
        'aliases of a-z, 0-9 and "_"',
      ],
      [
        'an alias that is not a word',
        'x',
        "{ type: 'flag', help: 'X', aliases: [null] }",
        'aliases of a-z, 0-9 and "_"',
      ],
      ['no bounds', 'x', "{ type: 'integer', help: 'X' }", 'min and max, in this order'],
      ['no upper bound', 'x', "{ type: 'integer', help: 'X', min: 1 }", 'min and max, in this order'],
      [
        'an infinite range',
        'x',
        "{ type: 'number', help: 'X', min: 0, max: Infinity }",
        'min and max, in this order',
      ],
      ['reversed bounds', 'x', "{ type: 'number', help: 'X', min: 2, max: 1 }", 'min and max, in this order'],
      [
        'bounds that are words',
        'x',
        "{ type: 'number', help: 'X', min: '1', max: '2' }",
        'min and max, in this order',
      ],
      [
        'a list of words',
        'x',
        "{ type: 'list', help: 'X', of: 'text', names: ['a', 'b'], separator: ',', min: [0, 0], max: [9, 9] }",
        'of to be integer or number',
      ],
      [
        'a list without names',
        'x',
        "{ type: 'list', help: 'X', of: 'integer', names: [], separator: ',', min: [], max: [] }",
        'names of a-z',
      ],
      [
        'a list with an unknown separator',
        'x',
        "{ type: 'list', help: 'X', of: 'integer', names: ['a', 'b'], separator: '&', min: [0, 0], max: [9, 9] }",
        'a separator of',
      ],
      [
        'a list with too few bounds',
        'x',
        "{ type: 'list', help: 'X', of: 'integer', names: ['a', 'b'], separator: ',', min: [0], max: [9, 9] }",
        'min and max, in this order, of each',
      ],
      [
        'a list with reversed bounds',
        'x',
        "{ type: 'list', help: 'X', of: 'integer', names: ['a', 'b'], separator: ',', min: [0, 10], max: [9, 9] }",
        'min and max, in this order, of each',
      ],
      [
        'a list with an atLeast of 0',
        'x',
        "{ type: 'list', help: 'X', of: 'integer', names: ['a', 'b'], separator: ',', min: [0, 0], max: [9, 9], atLeast: 0 }",
        'atLeast from 1 to 2',
      ],
      [
        'a list with an atLeast above its names',
        'x',
        "{ type: 'list', help: 'X', of: 'integer', names: ['a', 'b'], separator: ',', min: [0, 0], max: [9, 9], atLeast: 3 }",
        'atLeast from 1 to 2',
      ],
      [
        'a bare value outside its bounds',
        'x',
        "{ type: 'number', help: 'X', min: 0, max: 9, bare: 10 }",
        'a bare value that it accepts',
      ],
      ['no values', 'x', "{ type: 'enum', help: 'X' }", 'values of a-z, 0-9, ".", ":" and "-"'],
      ['an empty list of values', 'x', "{ type: 'enum', help: 'X', values: [] }", 'values of a-z'],
      ['a value with a space', 'x', "{ type: 'enum', help: 'X', values: ['a', 'b c'] }", 'values of a-z'],
      ['a value in capitals', 'x', "{ type: 'enum', help: 'X', values: ['A'] }", 'values of a-z'],
      ['a value that is a number', 'x', "{ type: 'enum', help: 'X', values: [1, 2] }", 'values of a-z'],
      [
        'a default outside its bounds',
        'x',
        "{ type: 'integer', help: 'X', min: 1, max: 2, default: 3 }",
        'a default that it accepts',
      ],
      [
        'a default of another type',
        'x',
        "{ type: 'number', help: 'X', min: 1, max: 2, default: '1' }",
        'a default that it accepts',
      ],
      [
        'a default that is not a value',
        'x',
        "{ type: 'enum', help: 'X', values: ['a'], default: 'b' }",
        'a default that it accepts',
      ],
      ['a text without a maximum length', 'x', "{ type: 'text', help: 'X' }", 'an integer maxLength from 1'],
      [
        'a text of maxLength 0',
        'x',
        "{ type: 'text', help: 'X', maxLength: 0 }",
        'an integer maxLength from 1',
      ],
      [
        'a default that is too long',
        'x',
        "{ type: 'text', help: 'X', maxLength: 1, default: 'ab' }",
        'a default that it accepts',
      ],
      ['a key without a group', 'x', "{ type: 'key', help: 'X' }", 'a media group as its group'],
      ['a key of an unknown group', 'x', "{ type: 'key', help: 'X', group: 'font' }", 'a media group'],
      ['a key with a list of groups', 'x', "{ type: 'key', help: 'X', group: ['image'] }", 'a media group'],
    ] as const) {
      it(`are reported with file and parameter when a parameter has ${what}`, async () => {
        const { message, path } = await refusal({ 'p.js': dropIn('p', { params: `{ '${name}': ${spec} }` }) })
        expect(message.startsWith(`plugin ${path('p.js')}: expected `), message).to.equal(true)
        expect(message).to.include(reason)
      })
    }

    it('are reported with the file when choices throws or returns invalid values', async () => {
      const params = "{ x: { type: 'enum', help: 'X', values: ['a'] }, y: { type: 'flag', help: 'Y' } }"
      for (const [choices, reason] of [
        ["() => { throw new Error('no such folder') }", 'no such folder'],
        ["() => ({ x: ['B c'] })", 'expected values of a-z'],
        ["() => ({ y: ['b'] })", 'expected choices for an enum but y is not an enum'],
        ["() => ({ z: ['b'] })", 'expected choices for an enum but z is not an enum'],
        ["'x'", 'expected a function for choices'],
      ] as const) {
        const { message, path } = await refusal({ 'p.js': dropIn('p', { params, choices }) })
        expect(message).to.include(`plugin ${path('p.js')}: ${reason}`)
      }
    })

    it('are reported with the cause of a failed import', async () => {
      const { error } = await refusal({ 'x.js': "throw new TypeError('deep')" })
      expect(error.cause).to.be.instanceOf(TypeError)
      expect(error.name).to.equal('PluginError')
    })

    it('are reported with both files when two have the same name', async () => {
      const { message, path } = await refusal({ '1.js': dropIn('same'), '2.js': dropIn('same') })
      expect(message).to.equal(`plugin ${path('2.js')}: the name same is taken by ${path('1.js')}`)
    })

    it('are reported with both files when a transform and an event plugin have the same name', async () => {
      const { message, path } = await refusal({
        '1.js': dropIn('same'),
        '2.js': "export default { name: 'same', on: {} }",
      })
      expect(message).to.equal(`plugin ${path('2.js')}: the name same is taken by ${path('1.js')}`)
    })

    it('include a second plugin with the name of a disabled one', async () => {
      const { message } = await refusal(
        { '1.js': dropIn('same'), '2.js': dropIn('same') },
        { disabled: ['same'] },
      )
      expect(message).to.include('the name same is taken')
    })

    it('include a drop-in with the name of a shipped plugin', async () => {
      const error = (await rejection(loadWith({ 'mine.js': dropIn('image-resize') }))) as Error
      expect(error).to.be.instanceOf(PluginError)
      expect(error.message).to.match(/mine\.js: the name image-resize is taken by .*resize\.ts$/)
    })

    for (const [what, first, second, word] of [
      [
        'name against name',
        "{ glow: { type: 'flag', help: 'X' } }",
        "{ glow: { type: 'flag', help: 'Y' } }",
        'glow',
      ],
      [
        'alias against name',
        "{ glow: { type: 'flag', help: 'X' } }",
        "{ shine: { type: 'flag', aliases: ['glow'], help: 'Y' } }",
        'glow',
      ],
      [
        'name against alias',
        "{ glow: { type: 'flag', aliases: ['shine'], help: 'X' } }",
        "{ shine: { type: 'flag', help: 'Y' } }",
        'shine',
      ],
      [
        'alias against alias',
        "{ glow: { type: 'flag', aliases: ['s', 't'], help: 'X' } }",
        "{ shine: { type: 'flag', aliases: ['u', 't'], help: 'Y' } }",
        't',
      ],
    ] as const) {
      it(`include a plugin with the parameter of another one: ${what}`, async () => {
        const { message, path } = await refusal({
          '1.js': dropIn('first', { params: first }),
          '2.js': dropIn('second', { params: second, media: "['text', 'image']" }),
        })
        expect(message).to.equal(
          `plugin ${path('2.js')}: the parameter ${word} is taken by first for image files`,
        )
      })
    }

    for (const word of ['v', 'utm_source', 'fbclid', 'download', 'preset']) {
      it(`include a plugin with a parameter that is ignored or reserved: ${word}`, async () => {
        const params = `{ x: { type: 'flag', help: 'X', aliases: ['${word}'] } }`
        const { message, path } = await refusal({ '1.js': dropIn('one', { params }) })
        expect(message).to.include(path('1.js')).and.include(`the parameter ${word} is reserved`)
      })
    }

    it('include a plugin that has a parameter name twice', async () => {
      const { message } = await refusal({
        '1.js': dropIn('one', {
          params: "{ a: { type: 'flag', aliases: ['b'], help: 'A' }, b: { type: 'flag', help: 'B' } }",
        }),
      })
      expect(message).to.include('the parameter b is taken by one')
    })

    it('include a drop-in with the parameter of a shipped plugin', async () => {
      const error = (await rejection(
        loadWith({ 'mine.js': dropIn('mine', { params: "{ width: { type: 'flag', help: 'X' } }" }) }),
      )) as Error
      expect(error.message).to.match(
        /mine\.js: the parameter width is taken by image-resize for image files$/,
      )
    })
  })

  describe('the names in chain.json', () => {
    for (const [key, chain] of Object.entries({
      order: { order: ['ghost'] },
      disabled: { disabled: ['ghost'] },
      options: { options: { ghost: {} } },
    })) {
      it(`must exist, under ${key}`, async () => {
        expect(await chainRefusal({ 'a.js': dropIn('a') }, chain)).to.equal(
          `config/chain.json: ${key}: there is no plugin called ghost`,
        )
        expect(await chainRefusal({ 'a.js': dropIn('ghosts') }, chain)).to.equal(
          `config/chain.json: ${key}: there is no plugin called ghost; did you mean "ghosts"?`,
        )
      })
    }

    it('must be unique in the order', async () => {
      const texts = { 'a.js': dropIn('a'), 'b.js': dropIn('b') }
      expect(await chainRefusal(texts, { order: ['b', 'b', 'a'] })).to.equal(
        'config/chain.json: order: it names b twice',
      )
    })

    it('must not include a parameter of a plugin in ignoredParams', async () => {
      const params = "{ x: { type: 'flag', help: 'X', aliases: ['ref'] } }"
      expect(await chainRefusal({ '1.js': dropIn('one', { params }) }, { ignoredParams: ['ref'] })).to.equal(
        'config/chain.json: ignoredParams: ref is a parameter of one',
      )
    })

    it('must not include preset in ignoredParams', async () => {
      expect(await chainRefusal({ 'a.js': dropIn('a') }, { ignoredParams: ['preset'] })).to.equal(
        'config/chain.json: ignoredParams: preset cannot be ignored: it selects a preset of config/presets.json',
      )
    })

    it('may be those of event plugins and disabled plugins', async () => {
      const one = await files({
        'a.js': dropIn('a'),
        'told.js': "export default { name: 'told', on: {} }",
      })
      const set = await load([one], { order: ['told', 'a'], disabled: ['a'], options: { told: {} } })
      expect(names(set)).to.be.empty
      expect(set.events).to.have.length(1)
    })
  })

  describe('the order of plugins', () => {
    const one = (name: string, phase: string) =>
      ({
        plugin: { name, phase },
        media: ['image'],
        options: {},
        fingerprint: undefined,
      }) as unknown as LoadedPlugin
    const all = [
      one('z-prepare', 'prepare'),
      one('b-geometry', 'geometry'),
      one('a-geometry', 'geometry'),
      one('c-effect', 'effect'),
      one('a-encode', 'encode'),
    ]
    const NATURAL = ['z-prepare', 'a-geometry', 'b-geometry', 'c-effect', 'a-encode']

    for (const [order, expected] of [
      [[], NATURAL],
      [
        ['b-geometry', 'a-geometry'],
        ['z-prepare', 'b-geometry', 'a-geometry', 'c-effect', 'a-encode'],
      ],
      [['c-effect'], NATURAL],
      [
        ['c-effect', 'a-geometry'],
        ['z-prepare', 'c-effect', 'b-geometry', 'a-geometry', 'a-encode'],
      ],
      [
        ['a-encode', 'c-effect', 'b-geometry', 'a-geometry', 'z-prepare'],
        ['a-encode', 'c-effect', 'b-geometry', 'a-geometry', 'z-prepare'],
      ],
    ] as const) {
      it(`is by phase, then by name, then as listed: ${JSON.stringify(order)}`, () => {
        for (const given of [all, [...all].reverse()]) {
          expect(names({ transforms: inOrder(given, order) })).to.deep.equal(expected)
        }
      })
    }

    it('depends on the chain, not on the files', async () => {
      const texts = { '1.js': dropIn('z'), '2.js': dropIn('a'), '3.js': dropIn('m', { phase: "'prepare'" }) }
      expect(names(await load([await files(texts)]))).to.deep.equal(['m', 'a', 'z'])
      expect(names(await load([await files(texts)], { order: ['z', 'a'] }))).to.deep.equal(['m', 'z', 'a'])
    })
  })

  it('uses the media of the engine for a plugin without its own', async () => {
    const engines = new Map([
      ['sharp', { name: 'sharp', media: ['video', 'text'] }],
    ]) as unknown as ReadonlyMap<EngineName, Engine>
    const one = await files({ 'a.js': dropIn('a'), 'b.js': dropIn('b', { media: "['audio']" }) })
    const { transforms } = await load([one], {}, engines)
    expect(transforms.map(({ media }) => media)).to.deep.equal([['video', 'text'], ['audio']])
  })
})
