import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import sharp from 'sharp'
import { completedPng } from '../../../../src/engines/image/completed-png.ts'
import { rejection } from '../../../support/rejection.ts'
import { PROJECT } from '../../../support/service.ts'

const { signal } = new AbortController()
const fileOf = (name: string) => readFile(join(PROJECT, 'test/corpus/files', name))
const pixelsOf = (bytes: Buffer) =>
  sharp(bytes, { failOn: 'warning' }).toColourspace('rgb16').raw().toBuffer()

describe('a truncated PNG after its completion', () => {
  for (const name of ['PNG8', 'PNG24', 'PNG32', 'PNG48', 'PNG64', 'gray', 'bilevel', 'transparent'])
    it(`is complete, with the rows of the truncated file (${name})`, async () => {
      const bytes = await fileOf(`png-${name}.png`)
      const end = bytes.indexOf('IDAT') + 4
      const idat = bytes.readUInt32BE(end - 8)
      const completed = await completedPng(bytes.subarray(0, end + Math.ceil(idat * 0.9)), signal)
      const [all, found] = [await pixelsOf(bytes), await pixelsOf(completed)]
      expect(found.length).to.equal(all.length)
      const rowBytes = all.length / 36
      expect(found.subarray(0, rowBytes).equals(all.subarray(0, rowBytes))).to.equal(true)
      // All rows are there when only the end of the file is missing.
      const packed = await completedPng(bytes.subarray(0, end + idat), signal)
      expect((await pixelsOf(packed)).equals(all)).to.equal(true)
    })

  it('stops reading when it is no longer needed', async () => {
    const aborted = AbortSignal.abort(new Error('gone'))
    const bytes = await fileOf('png-PNG24.png')
    expect(await rejection(completedPng(bytes.subarray(0, -20), aborted))).to.be.instanceOf(Error)
  })
})
