import { join } from 'node:path'
import { expect } from 'chai'
import { ClassicLevel } from 'classic-level'
import { command } from '../../support/command.ts'
import { eventually } from '../../support/eventually.ts'
import { ask } from '../../support/requests/ask.ts'
import { uploadOne } from '../../support/requests/client.ts'
import { type Service, startService } from '../../support/service.ts'
import { listAll } from '../../support/stored/files.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

describe('the search of GET /v1/files', () => {
  let dataDir: string
  let service: Service
  let key: string
  beforeEach(async () => {
    dataDir = await temporaryFolder()
    service = await startService({ dataDir })
    key = (await uploadOne(service, { name: 'Größe.txt', bytes: '1' }, { path: 'a/b' })).s3PathOriginal
    await uploadOne(service, { name: 'other.txt', bytes: '2' })
  })
  afterEach(() => service.stop())

  const search = async () =>
    (await listAll(service, 'search=R%C3%96%C3%9F')).map(({ s3PathOriginal }) => s3PathOriginal)

  /** Changes the index while the service is stopped. */
  async function change(work: (level: ClassicLevel<string, unknown>) => Promise<void>): Promise<void> {
    await service.stop({ keepData: true })
    const level = new ClassicLevel<string, unknown>(join(dataDir, 'index'), { valueEncoding: 'json' })
    await work(level)
    await level.close()
    service = await startService({ dataDir })
  }

  it('is compared by sluice check, and completed by sluice reindex', async () => {
    expect(await search()).to.deep.equal([key])
    expect((await command(service, 'check')).findings).to.deep.equal([])
    await change((level) => level.del(`s\0first\0nöße.txt\nr\0${key}`))
    expect(await search()).to.deep.equal([])
    expect((await command(service, 'check')).findings).to.deep.equal([`search incomplete: first ${key}`])
    expect((await command(service, 'reindex')).findings).to.deep.equal([])
    expect(await search()).to.deep.equal([key])
    expect((await command(service, 'check')).findings).to.deep.equal([])
  })

  it('finds all files right after an upgrade from a version without it, and is complete soon', async () => {
    await change(async (level) => {
      await level.clear({ gte: 's\0', lt: 's\x01' })
      for (const mark of ['searchable', 'counted']) await level.del(mark)
    })
    expect(await search()).to.deep.equal([key])
    // Both marks are set at once.
    await eventually(async () => expect((await ask(service, '/v1/folders')).status).to.equal(200))
    expect(await search()).to.deep.equal([key])
    expect((await command(service, 'check')).findings).to.deep.equal([])
    await change(async (level) => {
      expect(await level.get('searchable')).to.equal(1)
      expect(await level.get(`s\0first\0nöße.txt\nr\0${key}`)).to.equal(0)
    })
  })
})
