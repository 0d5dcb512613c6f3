import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { loadPresets } from '../../config/presets.ts'
import { rejection } from '../support/rejection.ts'

describe('presets.json', () => {
  let folder = ''
  let file = ''
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-presets-'))
    file = join(folder, 'presets.json')
  })
  after(() => rm(folder, { recursive: true, force: true }))

  const load = async (text: string) => {
    await writeFile(file, text)
    return loadPresets(file)
  }

  it('has values by preset and parameter', async () => {
    const presets = { thumb: { w: 200, f: 'webp', dpr: 1.5, negate: true }, 'Big-1.x_y': {} }
    expect(await load(JSON.stringify(presets))).to.deep.equal(presets)
  })

  it('has no presets when the file is missing', async () => {
    expect(await loadPresets(join(folder, 'nowhere', 'presets.json'))).to.deep.equal({})
  })

  for (const [what, text, reason] of [
    ['is not JSON', '{ thumb: {} }', /JSON/],
    ['is no object', '[]', /record/],
    ['has a preset that is no object', '{"thumb": "w=200"}', /thumb: .*record/],
    ['has a value that is none', '{"thumb": {"w": null}}', /thumb\.w: /],
    ['has a list for a value', '{"thumb": {"w": [1]}}', /thumb\.w: /],
    ['has a name with a space', '{"my thumb": {"w": 1}}', /my thumb.*expected 1 to 64 letters/],
    ['has a name that begins with a dot', '{".x": {"w": 1}}', /expected 1 to 64 letters/],
    ['has a name of 65 letters', `{"${'x'.repeat(65)}": {"w": 1}}`, /expected 1 to 64 letters/],
    ['has an empty name', '{"": {"w": 1}}', /expected 1 to 64 letters/],
  ] as const) {
    it(`is refused with its name and the reason when it ${what}`, async () => {
      const { message } = (await rejection(load(text))) as Error
      expect(message.startsWith(`${file}: `), message).to.equal(true)
      expect(message).to.match(reason)
    })
  }

  it('reports every invalid key, one per line', async () => {
    const { message } = (await rejection(load('{"a": 1, "b": {"w": {}}}'))) as Error
    expect(message.split('\n')).to.have.length(2)
  })
})
