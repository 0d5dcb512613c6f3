import { readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { expect } from 'chai'
import { diskBuckets } from '../../../src/adapters/bucket/disk/disk.ts'
import { storedKey } from '../../../src/core/files/object-key.ts'
import { eventually } from '../../support/eventually.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

describe('disk: sweep', () => {
  let folder: string

  beforeEach(async () => {
    folder = await temporaryFolder()
  })
  afterEach(() => rm(folder, { recursive: true }))

  it('removes temporary files that were not written to for the given time, and no others', async () => {
    const buckets = await diskBuckets({ folder, urlOf: (key) => key })
    const bucket = buckets.of({ id: 'first', token: 'pub_1' })
    const key = storedKey('a/image/png/7uLqEUXG4WpoGGa38h2U9Z.png')
    const source = new Readable({ read() {} })
    const storing = bucket.put(key, source, { mediaType: 'image/png' })
    source.push('half')
    const temporary = join(folder, '.tmp')
    await eventually(async () => expect(await readdir(temporary)).to.have.length(1))
    await writeFile(join(temporary, 'old'), 'half of another')
    const anHourAgo = new Date(Date.now() - 3_600_000)
    await utimes(join(temporary, 'old'), anHourAgo, anHourAgo)

    expect(await buckets.sweep(3_700_000)).to.equal(0)
    expect(await buckets.sweep(3_500_000)).to.equal(1)
    expect(await readdir(temporary)).to.have.length(1)
    source.push(null)
    await storing
    expect((await bucket.find(key))?.size).to.equal('half'.length)
    expect(await buckets.sweep(0)).to.equal(0)
    expect((await bucket.find(key))?.size).to.equal('half'.length)
  })
})
