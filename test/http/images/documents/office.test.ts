import { expect } from 'chai'
import sharp from 'sharp'
import { onOneBackend } from '../../../support/backends.ts'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { uploadOne } from '../../../support/requests/client.ts'
import { exchange, jsonOf } from '../../../support/requests/exchange.ts'
import { PROJECT, type Service } from '../../../support/service.ts'

const fileOf = (name: string) => readFile(join(PROJECT, 'test/corpus/files', name))

onOneBackend('an Office document', (start) => {
  let service: Service
  before(async () => {
    service = await start()
  })

  it('has pages', async () => {
    for (const e of ['docx','doc','odt','rtf','xlsx','xls','ods','pptx','odp']) {
      const t = Date.now()
      const { src, format } = await uploadOne(service, { name: `a.${e}`, bytes: await fileOf(`libreoffice.${e}`) })
      const first = await exchange(service, `${src}?w=300&f=webp`)
      const second = await exchange(service, `${src}?w=300&f=webp&wait=30`)
      console.log(e, format, first.status, first.body.toString().slice(0,300), second.status, Date.now() - t, second.status === 200 ? await sharp(second.body).metadata().then(({width,height})=>`${width}x${height}`) : second.body.toString())
      const t2 = Date.now()
      const third = await exchange(service, `${src}?w=200&page=2`)
      console.log(third.status, Date.now()-t2, third.status === 200 ? '' : jsonOf(third))
      const p = await exchange(service, `${src}?pdf`)
      console.log(p.status, p.headers['content-type'], p.body.length)
    }
  }).timeout(100000)
})
