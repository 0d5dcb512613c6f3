import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'chai'
import type { Storage } from '../../../src/app.ts'
import { storedKey } from '../../../src/core/files/object-key.ts'
import type { FileIndex } from '../../../src/core/ports/file-index.ts'
import { picture } from '../../support/media/images.ts'
import { deleteFile, newClient, uploadOne } from '../../support/requests/client.ts'
import { type Service, startService } from '../../support/service.ts'

type Step = 'beginDerivative' | 'beginRemoval' | 'finishUpload'

describe('a concurrent change by another request', () => {
  let service: Service
  /** Done once, before the step of the index. */
  let hooks: Partial<Record<Step, () => Promise<unknown>>> = {}
  const first = async (step: Step) => {
    const work = hooks[step]
    hooks = {}
    await work?.()
  }
  before(async () => {
    service = await startService({
      wrapStorage: ({ buckets, index }: Storage) => {
        const changed: Partial<FileIndex> = {
          async beginDerivative(...args) {
            await first('beginDerivative')
            return index.beginDerivative(...args)
          },
          async beginRemoval(...args) {
            await first('beginRemoval')
            return index.beginRemoval(...args)
          },
          async finishUpload(...args) {
            await first('finishUpload')
            return index.finishUpload(...args)
          },
        }
        return { buckets, index: { ...index, ...changed } }
      },
    })
  })
  after(() => service.stop())

  it('an index that is emptied after the original was found: the derivative is rendered all the same', async () => {
    const { src, s3PathOriginal } = await uploadOne(service, { name: 'a.png', bytes: await picture() })
    const ref = { clientId: 'first', key: storedKey(s3PathOriginal) }
    hooks.beginDerivative = async () => {
      await service.storage.index.beginRemoval(ref, { cause: 'delete', leaseUntil: 0, now: 0 })
      await service.storage.index.finishRemoval(ref, Number.MAX_SAFE_INTEGER)
    }
    const response = await fetch(`${src}?w=10`)
    await response.arrayBuffer()
    expect(response.status).to.equal(200)
  })

  it('an equal file that is deleted during the upload: the new file is stored and returned', async () => {
    const client = await newClient(service)
    await service.app.clients.setRules(client.id, { dedupe: 'reuse' })
    const old = await uploadOne(client, { name: 'a.txt', bytes: 'equal' })
    hooks.finishUpload = () => deleteFile(client, old.s3PathOriginal)
    const answered = await uploadOne(client, { name: 'b.txt', bytes: 'equal' })
    expect(answered.s3PathOriginal).to.not.equal(old.s3PathOriginal)
    const response = await fetch(answered.src)
    expect([response.status, await response.text()]).to.deep.equal([200, 'equal'])
  })

  it('an equal file that is deleted while the new one is removed: the upload was answered before', async () => {
    const client = await newClient(service)
    await service.app.clients.setRules(client.id, { dedupe: 'reuse' })
    const old = await uploadOne(client, { name: 'a.txt', bytes: 'equal' })
    const order: string[] = []
    const deleted = new Promise<void>((resolve, reject) => {
      const beginRemoval = async () => {
        await pause(500)
        await deleteFile(client, old.s3PathOriginal).then(() => order.push('deleted'), reject)
        resolve()
      }
      hooks.finishUpload = async () => {
        hooks = { beginRemoval }
      }
    })
    const answered = await uploadOne(client, { name: 'b.txt', bytes: 'equal' })
    order.push('answered')
    await deleted
    expect(answered.s3PathOriginal).to.equal(old.s3PathOriginal)
    expect(order).to.deep.equal(['answered', 'deleted'])
  })
})
