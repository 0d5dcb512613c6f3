import { mkdir, rm, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { ask } from '../../../support/requests/ask.ts'
import { deleteFile, postFiles, uploadOne } from '../../../support/requests/client.ts'
import { exchange, jsonOf } from '../../../support/requests/exchange.ts'
import { type SmallDisk, smallDisk } from '../../../support/servers/small-disk.ts'
import { type Service, startService } from '../../../support/service.ts'
import { filePath } from '../../../support/stored/files.ts'
import { temporaryFolder } from '../../../support/temporary-folder.ts'

describe('a bucket on a read-only file system', () => {
  let disk: SmallDisk | undefined
  let dataDir: string
  let service: Service | undefined
  before(async () => {
    disk = await smallDisk({ bytes: 16 * 1024 * 1024 })
    dataDir = join(await temporaryFolder(), 'data')
    await mkdir(dataDir)
    await symlink(disk.folder, join(dataDir, 'bucket'))
    service = await startService({ dataDir })
  })
  after(async () => {
    await service?.stop()
    await disk?.remove()
    if (dataDir) await rm(join(dataDir, '..'), { recursive: true })
  })

  it('delivers files, responds 503 to every write, and /readyz states why', async () => {
    const running = service as Service
    const { src, s3PathOriginal: key } = await uploadOne(running, { name: 'a.txt', bytes: 'text' })
    const tus = { 'Tus-Resumable': '1.0.0', Authorization: running.tokens.secretClientToken }
    const created = await exchange(running, '/v1/tus', {
      method: 'POST',
      headers: { ...tus, 'Upload-Length': '10', 'Upload-Metadata': `filename ${btoa('b.txt')}` },
    })
    expect(created.status).to.equal(201)
    const upload = new URL(String(created.headers.location), running.url).pathname
    await (disk as SmallDisk).makeReadOnly()

    const answers = {
      delivery: (await exchange(running, new URL(src).pathname)).status,
      upload: (await postFiles(running, [{ name: 'b.txt', bytes: 'b' }])).status,
      change: (await ask(running, filePath(key), { method: 'PATCH', json: { tags: ['x'] } })).status,
      removal: (await deleteFile(running, key)).status,
      tusPatch: (
        await exchange(running, upload, {
          method: 'PATCH',
          headers: { ...tus, 'Upload-Offset': '0', 'Content-Type': 'application/offset+octet-stream' },
          body: '0123456789',
        })
      ).status,
      tusHead: (await exchange(running, upload, { method: 'HEAD', headers: tus })).status,
    }
    expect(answers).to.deep.equal({
      delivery: 200,
      upload: 503,
      change: 503,
      removal: 503,
      tusPatch: 503,
      tusHead: 200,
    })
    const { status, body } = await exchange(running, '/readyz')
    expect(status).to.equal(200)
    expect(jsonOf({ body })).to.deep.include({ status: 'degraded' })
    expect(jsonOf({ body }).checks).to.include({ disk: 'read_only' })
  })
})
