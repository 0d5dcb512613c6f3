import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { onOneBackend } from '../../support/backends.ts'
import { uploadOne } from '../../support/requests/client.ts'
import { exchange, jsonOf } from '../../support/requests/exchange.ts'
import { PROJECT, type Service } from '../../support/service.ts'
import { everyNth } from '../../support/sized.ts'

onOneBackend('an audio file of a less common format', (start) => {
  let service: Service
  before(async () => {
    service = await start({ env: { MEDIA_JOBS_RUN_IN: 'web' } })
  })

  for (const format of everyNth(4, ['au', 'caf', 'w64', 'tta', 'dts', 'adx', 'voc']))
    it(`is probed and transcoded: ${format}`, async () => {
      const bytes = await readFile(join(PROJECT, 'test/corpus/files', `sound.${format}`))
      const record = await uploadOne(service, { name: 'a', bytes })
      expect(record).to.include({ mimeType: 'audio', format })
      const known = jsonOf(await exchange(service, record.src.replace('/upload/', '/info/')))
      expect(known.duration).to.be.within(0.29, 0.33)
      const { status, headers } = await exchange(service, `${record.src}?f=mp3&wait=30`)
      expect([status, headers['content-type']]).to.deep.equal([200, 'audio/mpeg'])
    })
})
